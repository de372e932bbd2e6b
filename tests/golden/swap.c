/* swap: one call of tracegrad_step runs the whole program. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tg_math.h"
#include "tg_random.h"
#include "tg_sort.h"
#include "tg_vector.h"

/*
 * v1 = copy
 */
static void copy_0(float *restrict out0, const float *restrict in0, long n)
{
    #pragma omp simd
    for (long i0 = 0; i0 < n; ++i0)
    {
        const float v1 = in0[i0];
        out0[i0] = v1;
    }
}

/* slots: the arena (64-byte aligned), four words for the details of an error, inputs, fresh results. */
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);

int tracegrad_step(void *const *slots)
{
    char *const arena = slots[0];
    float *const a_ = slots[2];
    float *const b_ = slots[3];
    float *const a_new_ = (float *)(arena + 0);
    copy_0(a_new_, b_, 5);
    copy_0(b_, a_, 5);
    copy_0(a_, a_new_, 5);
    return 0;
}
