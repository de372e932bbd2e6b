/* softmax: one call of tracegrad_step runs the whole program. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tg_math.h"
#include "tg_random.h"
#include "tg_sort.h"
#include "tg_vector.h"

/*
 * v2 = input
 * amax_acc1 = amax
 * v3 = sub
 * v4 = exp
 * sum_acc5 = sum
 * v7 = div
 * v9 = log
 * v10 = mul
 * sum_acc8 = sum
 */
static void amax_exp_sum_div_0(float *restrict p_, float *restrict entropy_, const float *restrict x_)
{
    for (long i0 = 0; i0 < 6; ++i0)
    {
        float exp_row6[10];
        tg_float_rank amax_acc1_rank = tg_rank_float(-INFINITY);
        int amax_acc1_nan = 0;
        #pragma omp simd reduction(max : amax_acc1_rank) reduction(| : amax_acc1_nan)
        for (long i1 = 0; i1 < 10; ++i1)
        {
            const float v2 = x_[i0 * 10 + i1];
            amax_acc1_rank = tg_max_rank_float(amax_acc1_rank, v2);
            amax_acc1_nan |= v2 != v2;
        }
        const float amax_acc1 = amax_acc1_nan ? NAN : tg_of_rank_float(amax_acc1_rank);
        float sum_acc5 = 0.0f;
        #pragma omp simd reduction(+ : sum_acc5)
        for (long i1 = 0; i1 < 10; ++i1)
        {
            const float v3 = x_[i0 * 10 + i1] - amax_acc1;
            const float v4 = tg_expf(v3);
            sum_acc5 = sum_acc5 + v4;
            exp_row6[i1] = v4;
        }
        float sum_acc8 = 0.0f;
        #pragma omp simd reduction(+ : sum_acc8)
        for (long i1 = 0; i1 < 10; ++i1)
        {
            const float v7 = exp_row6[i1] / sum_acc5;
            const float v9 = tg_logf(v7);
            const float v10 = v7 * v9;
            sum_acc8 = sum_acc8 + v10;
            p_[i0 * 10 + i1] = v7;
        }
        entropy_[i0] = sum_acc8;
    }
}

/*
 * v2 = div
 * sum_acc1 = sum
 */
static void sum_0(float *restrict total_, const float *restrict p_)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 60; ++i0)
    {
        const float v2 = p_[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    total_[0] = sum_acc1;
}

/* slots: the arena (64-byte aligned), four words for the details of an error, inputs, fresh results. */
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);

int tracegrad_step(void *const *slots)
{
    const float *const x_ = slots[2];
    float *const p_ = slots[3];
    float *const entropy_ = slots[4];
    float *const total_ = slots[5];
    amax_exp_sum_div_0(p_, entropy_, x_);
    sum_0(total_, p_);
    return 0;
}
