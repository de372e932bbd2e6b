/* How long the calls of a step take, for `step.profile()`.
 *
 * Of two clocks the one that counts less tells. The wall clock is read in a few nanoseconds, but it goes on while other
 * programs have the processor, which a busy machine does in the middle of each kernel of some milliseconds. The clock
 * of what this thread computes stands still then, but reading it takes up to two microseconds, more than small kernels
 * do: it is read outside the interval of the wall clock. */
#ifndef TG_TICKS_H
#define TG_TICKS_H

#include <stdint.h>
#include <time.h>

#ifdef CLOCK_THREAD_CPUTIME_ID
#define TG_COMPUTED CLOCK_THREAD_CPUTIME_ID
#else
#define TG_COMPUTED CLOCK_MONOTONIC
#endif

typedef struct
{
    int64_t wall, computed;
} tg_moment;

static inline int64_t tg_nanoseconds(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Where a lap begins. */
static inline tg_moment tg_begin(void)
{
    const int64_t computed = tg_nanoseconds(TG_COMPUTED);
    return (tg_moment){.wall = tg_nanoseconds(CLOCK_MONOTONIC), .computed = computed};
}

/* The time that this thread took since `*before`, which is now then. */
static inline int64_t tg_lap(tg_moment *before)
{
    const int64_t wall = tg_nanoseconds(CLOCK_MONOTONIC) - before->wall;
    const int64_t computed = tg_nanoseconds(TG_COMPUTED) - before->computed;
    *before = tg_begin();
    return wall < computed ? wall : computed;
}

#endif
