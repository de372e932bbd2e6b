/* column_normalised: one call of tracegrad_step runs the whole program. */
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
 * sum_acc1 = sum
 * v4 = div
 * v6 = sub
 * v7 = mul
 * sum_acc5 = sum
 * v8 = div
 * v10 = add
 * v11 = sqrt
 * v12 = sub
 * v13 = div
 */
static void sum_div_sqrt_0(float *restrict variance_, float *restrict y_, const float *restrict x_)
{
    float div_row3[16];
    float sqrt_row9[16];
    float sum_acc1[16];
    for (long element = 0; element < 16; ++element)
    {
        sum_acc1[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 8; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v2 = x_[i0 * 16 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v2;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v4 = sum_acc1[i1] / 8.0f;
        div_row3[i1] = v4;
    }
    float sum_acc5[16];
    for (long element = 0; element < 16; ++element)
    {
        sum_acc5[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 8; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v6 = x_[i0 * 16 + i1] - div_row3[i1];
        const float v7 = v6 * v6;
        sum_acc5[i1] = sum_acc5[i1] + v7;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v8 = sum_acc5[i1] / 8.0f;
        const float v10 = v8 + 0x1.4f8b58p-17f;
        const float v11 = tg_sqrtf(v10);
        variance_[i1] = v8;
        sqrt_row9[i1] = v11;
    }
    for (long i0 = 0; i0 < 8; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v12 = x_[i0 * 16 + i1] - div_row3[i1];
        const float v13 = v12 / sqrt_row9[i1];
        y_[i0 * 16 + i1] = v13;
    }
}

/* slots: the arena (64-byte aligned), four words for the details of an error, inputs, fresh results. */
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);

int tracegrad_step(void *const *slots)
{
    const float *const x_ = slots[2];
    float *const y_ = slots[3];
    float *const variance_ = slots[4];
    sum_div_sqrt_0(variance_, y_, x_);
    return 0;
}
