/* single_elements: one call of tracegrad_step runs the whole program. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tg_math.h"
#include "tg_random.h"
#include "tg_sort.h"
#include "tg_vector.h"

/*
 */
static void full_0(float *restrict full_1)
{
    #pragma omp simd
    for (long i0 = 0; i0 < 12; ++i0)
    {
        full_1[i0] = 9.0f;
    }
}

/* Every index in index_ is at least 0 and below 5; else detail[0] is the first that is not. */
static bool check_0(const int64_t *restrict index_, int64_t *restrict detail)
{
    for (long place = 0; place < 6; ++place)
    {
        const int64_t value = index_[place];
        if (value < 0 || value >= 5)
        {
            detail[0] = value;
            return true;
        }
    }
    return false;
}

/* Every index in index2_ is at least 0 and below 5; else detail[0] is the first that is not. */
static bool check_1(const int64_t *restrict index2_, int64_t *restrict detail)
{
    for (long place = 0; place < 12; ++place)
    {
        const int64_t value = index2_[place];
        if (value < 0 || value >= 5)
        {
            detail[0] = value;
            return true;
        }
    }
    return false;
}

/*
 * v1 = input
 * v2 = gather
 * v3 = mul
 */
static void gather_mul_0(float *restrict a_, float *restrict mul_0, const int64_t *restrict index_, const float *restrict x_)
{
    #pragma omp simd
    for (long i0 = 0; i0 < 6; ++i0)
    {
        const int64_t v1 = index_[i0];
        const float v2 = x_[i0 * 5 + v1];
        const float v3 = x_[i0 * 5 + v1] * 2.0f;
        a_[i0] = v2;
        mul_0[i0] = v3;
    }
}

/*
 * v1 = input
 * v2 = scatter_add
 * v3 = scatter_add
 */
static void scatter_add_0(float *restrict c_, const int64_t *restrict index_, const float *restrict mul_0)
{
    for (long i0 = 0; i0 < 6; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 5; ++i1)
    {
        const int64_t v1 = index_[i0];
        const float v2 = 0.0f + mul_0[i0];
        const float v3 = (i1 - v1 == 0) ? v2 : 0.0f;
        c_[i0 * 5 + i1] = v3;
    }
}

/*
 * v1 = tanh
 * v2 = input
 * v3 = scatter
 */
static void tanh_scatter_0(float *restrict tanh_0, float *restrict e_, const float *restrict x_, const int64_t *restrict index_)
{
    for (long i0 = 0; i0 < 6; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 5; ++i1)
    {
        const float v1 = tg_tanhf(x_[i0 * 5 + i1]);
        const int64_t v2 = index_[i0];
        const float v3 = (i1 - v2 == 0) ? 9.0f : x_[i0 * 5 + i1];
        tanh_0[i0 * 5 + i1] = v1;
        e_[i0 * 5 + i1] = v3;
    }
}

/*
 * v1 = input
 * v2 = gather
 * v3 = gather
 */
static void gather_0(float *restrict b_, float *restrict gather_1, const int64_t *restrict index2_, const float *restrict tanh_0)
{
    for (long i0 = 0; i0 < 6; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 2; ++i1)
    {
        const int64_t v1 = index2_[i0 * 2 + i1];
        const float v2 = tanh_0[i0 * 5 + v1];
        const float v3 = tanh_0[i0 * 5 + v1];
        b_[i0 * 2 + i1] = v2;
        gather_1[i0 * 2 + i1] = v3;
    }
}

/* x with single elements written at places that are data: out[index] += src along one axis.
 * scatter_add */
static void scatter_add_1(float *restrict d_, const float *restrict x_, const int64_t *restrict index2_, const float *restrict gather_1)
{
    memcpy(d_, x_, sizeof(float) * 30);
    for (long i0 = 0; i0 < 6; ++i0)
    for (long i1 = 0; i1 < 2; ++i1)
    {
        const long element = i0 * 2 + i1;
        const long place = i0 * 5 + index2_[element] * 1;
        d_[place] += gather_1[element];
    }
}

/* x with single elements written at places that are data: out[index] = src along one axis.
 * scatter */
static void scatter_0(float *restrict f_, const float *restrict x_, const int64_t *restrict index2_, const float *restrict full_1)
{
    memcpy(f_, x_, sizeof(float) * 30);
    for (long i0 = 0; i0 < 6; ++i0)
    for (long i1 = 0; i1 < 2; ++i1)
    {
        const long element = i0 * 2 + i1;
        const long place = i0 * 5 + index2_[element] * 1;
        f_[place] = full_1[element];
    }
}

/* slots: the arena (64-byte aligned), four words for the details of an error, inputs, fresh results. */
__attribute__((visibility("default"))) int tracegrad_step(void *const *slots);

int tracegrad_step(void *const *slots)
{
    char *const arena = slots[0];
    int64_t *const detail = slots[1];
    const float *const x_ = slots[2];
    const int64_t *const index_ = slots[3];
    const int64_t *const index2_ = slots[4];
    float *const a_ = slots[5];
    float *const b_ = slots[6];
    float *const c_ = slots[7];
    float *const d_ = slots[8];
    float *const e_ = slots[9];
    float *const f_ = slots[10];
    float *const full_1 = (float *)(arena + 128);
    float *const mul_0 = (float *)(arena + 0);
    float *const tanh_0 = (float *)(arena + 0);
    float *const gather_1 = (float *)(arena + 192);
    full_0(full_1);
    if (check_0(index_, detail))
        return 1;
    if (check_1(index2_, detail))
        return 2;
    gather_mul_0(a_, mul_0, index_, x_);
    scatter_add_0(c_, index_, mul_0);
    tanh_scatter_0(tanh_0, e_, x_, index_);
    gather_0(b_, gather_1, index2_, tanh_0);
    scatter_add_1(d_, x_, index2_, gather_1);
    scatter_0(f_, x_, index2_, full_1);
    return 0;
}
