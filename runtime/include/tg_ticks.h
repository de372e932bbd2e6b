/* How long the calls of a step take, for `step.profile()`. */
#ifndef TG_TICKS_H
#define TG_TICKS_H

#include <stdint.h>
#include <time.h>

static inline int64_t tg_nanoseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The time since `*before`, which is now then. */
static inline int64_t tg_lap(int64_t *before)
{
    const int64_t now = tg_nanoseconds(), passed = now - *before;
    *before = now;
    return passed;
}

#endif
