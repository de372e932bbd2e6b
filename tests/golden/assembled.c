/* assembled: one call of tracegrad_step runs the whole program. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tg_math.h"
#include "tg_random.h"
#include "tg_sort.h"
#include "tg_vector.h"

/*
 * v1 = add
 */
static void add_0(float *restrict a_, const float *restrict x_)
{
    for (long i0 = 0; i0 < 4; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 6; ++i1)
    {
        const float v1 = (i0 >= 1 && i1 < 4 ? x_[i0 * 4 + i1 - 4] : 7.0f) + 1.0f;
        a_[i0 * 6 + i1] = v1;
    }
}

/*
 * v2 = concatenate
 * v3 = mul
 * v1 = concatenate
 */
static void mul_0(float *restrict b_, const float *restrict x_, const float *restrict y_)
{
    #pragma omp simd
    for (long i0 = 0; i0 < 12; ++i0)
    {
        const float v2 = x_[i0];
        const float v3 = v2 * 2.0f;
        b_[i0] = v3;
    }
    #pragma omp simd
    for (long i0 = 0; i0 < 8; ++i0)
    {
        const float v1 = y_[i0];
        const float v2 = v1;
        const float v3 = v2 * 2.0f;
        b_[i0 + 12] = v3;
    }
    #pragma omp simd
    for (long i0 = 0; i0 < 12; ++i0)
    {
        const float v1 = x_[i0];
        const float v2 = v1;
        const float v3 = v2 * 2.0f;
        b_[i0 + 20] = v3;
    }
}

/*
 * v1 = update_slice
 * v2 = tanh
 * v3 = tanh
 */
static void update_slice_tanh_0(float *restrict c_, float *restrict tanh_0, float *restrict tanh_1, const float *restrict y_, const float *restrict x_)
{
    for (long i0 = 0; i0 < 3; ++i0)
    for (long i1 = 0; i1 < 2; ++i1)
    #pragma omp simd
    for (long i2 = 0; i2 < 2; ++i2)
    {
        const float v1 = ((i0) % 2 == 0 && i1 * 2 + i2 >= 1 && (i1 * 2 + i2 - 1) % 2 == 0) ? y_[((i0) / 2) * 4 + i1 + (i2 + 1) / 2 - 1] : x_[i0 * 4 + i1 * 2 + i2];
        const float v2 = tg_tanhf(x_[i0 * 4 + i1 * 2 + i2]);
        const float v3 = tg_tanhf(x_[i0 * 4 + i1 * 2 + i2]);
        c_[i0 * 4 + i1 * 2 + i2] = v1;
        tanh_0[i0 * 4 + i1 * 2 + i2] = v2;
        tanh_1[i0 * 4 + i1 * 2 + i2] = v3;
    }
}

/*
 * v1 = pad
 * v2 = pad
 */
static void pad_0(float *restrict d_, const float *restrict tanh_0)
{
    for (long i0 = 0; i0 < 6; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 8; ++i1)
    {
        const float v1 = (i0 >= 1 && i0 < 4 && i1 >= 3 && i1 < 7) ? (i0 < 5 && i1 >= 2 && i0 >= 1 && i0 < 4 && i1 >= 3 && i1 < 7 ? tanh_0[i0 * 4 + i1 - 7] : 0.0f) : 0.0f;
        const float v2 = (i0 < 5 && i1 >= 2) ? v1 : 5.0f;
        d_[i0 * 8 + i1] = v2;
    }
}

/*
 * v1 = exp
 */
static void exp_0(float *restrict exp_1, const float *restrict y_)
{
    #pragma omp simd
    for (long i0 = 0; i0 < 8; ++i0)
    {
        const float v1 = tg_expf(y_[i0]);
        exp_1[i0] = v1;
    }
}

/*
 * v1 = concatenate
 * v2 = add
 */
static void add_1(float *restrict e_, const float *restrict tanh_1, const float *restrict y_, const float *restrict exp_1)
{
    #pragma omp simd
    for (long i0 = 0; i0 < 8; ++i0)
    {
        const float v1 = tanh_1[i0];
        const float v2 = v1 + 0.0f;
        e_[i0] = v2;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 4; ++i1)
    {
        const float v1 = tanh_1[i1 + 8];
        const float v2 = v1 + y_[i1];
        e_[i1 + 8] = v2;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 4; ++i1)
    {
        const float v1 = exp_1[i1];
        const float v2 = v1 + y_[i1 + 4];
        e_[i1 + 12] = v2;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 4; ++i1)
    {
        const float v1 = exp_1[i1 + 4];
        const float v2 = v1 + 0.0f;
        e_[i1 + 16] = v2;
    }
}

/* slots: the arena (64-byte aligned), four words for the details of an error, inputs, fresh results. */
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);

int tracegrad_step(void *const *slots)
{
    char *const arena = slots[0];
    const float *const x_ = slots[2];
    const float *const y_ = slots[3];
    float *const a_ = slots[4];
    float *const b_ = slots[5];
    float *const c_ = slots[6];
    float *const d_ = slots[7];
    float *const e_ = slots[8];
    float *const tanh_0 = (float *)(arena + 0);
    float *const tanh_1 = (float *)(arena + 64);
    float *const exp_1 = (float *)(arena + 0);
    add_0(a_, x_);
    mul_0(b_, x_, y_);
    update_slice_tanh_0(c_, tanh_0, tanh_1, y_, x_);
    pad_0(d_, tanh_0);
    exp_0(exp_1, y_);
    add_1(e_, tanh_1, y_, exp_1);
    return 0;
}
