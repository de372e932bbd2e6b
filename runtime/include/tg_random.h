/* Random bits: the Mersenne twister MT19937 of Matsumoto and Nishimura, and numbers made of its words.
 * A state is 625 ints: 624 words (as int32 bit patterns) and the position of the next one, 624 when all are used. */
#ifndef TG_RANDOM_H
#define TG_RANDOM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tg_inline.h"

enum
{
    TG_MT_WORDS = 624,
    TG_MT_LAG = 397,
    TG_MT_STATE = TG_MT_WORDS + 1
};

/* ------------------------------------------------------------------------------------------------------- words */

TG_INLINE uint32_t tg_mt_twist(uint32_t word, uint32_t next)
{
    const uint32_t mixed = (word & 0x80000000u) | (next & 0x7fffffffu);
    return (mixed >> 1) ^ (-(next & 1u) & 0x9908b0dfu);
}

TG_INLINE uint32_t tg_mt_temper(uint32_t word)
{
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680u;
    word ^= (word << 15) & 0xefc60000u;
    return word ^ (word >> 18);
}

/* The next 624 words, in place. Each depends on old words ahead of it, and in the second loop on words that were
 * made 227 places before: vectors of any width are safe. */
TG_STATIC void tg_mt_refill(uint32_t *key)
{
    const long turn = TG_MT_WORDS - TG_MT_LAG;
    #pragma omp simd safelen(64)
    for (long i = 0; i < turn; ++i)
    {
        key[i] = key[i + TG_MT_LAG] ^ tg_mt_twist(key[i], key[i + 1]);
    }
    #pragma omp simd safelen(64)
    for (long i = turn; i < TG_MT_WORDS - 1; ++i)
    {
        key[i] = key[i - turn] ^ tg_mt_twist(key[i], key[i + 1]);
    }
    key[TG_MT_WORDS - 1] = key[TG_MT_LAG - 1] ^ tg_mt_twist(key[TG_MT_WORDS - 1], key[0]);
}

/* out[0:625] = the state after `count` draws, out[625:] = the drawn words. */
TG_STATIC void tg_random_words(int32_t *restrict out, const int32_t *restrict state, long count)
{
    uint32_t *const key = (uint32_t *)out;
    uint32_t *words = (uint32_t *)out + TG_MT_STATE;
    long position = state[TG_MT_WORDS];
    memcpy(out, state, TG_MT_WORDS * sizeof *out);
    while (count > 0)
    {
        if (position == TG_MT_WORDS)
        {
            tg_mt_refill(key);
            position = 0;
        }
        const long left = TG_MT_WORDS - position;
        const long taken = count < left ? count : left;
        #pragma omp simd
        for (long i = 0; i < taken; ++i)
        {
            words[i] = tg_mt_temper(key[position + i]);
        }
        words += taken;
        position += taken;
        count -= taken;
    }
    out[TG_MT_WORDS] = (int32_t)position;
}

/* The state of a seed, of which the low 32 bits count. */
TG_STATIC void tg_random_seed(int32_t *restrict out, const int64_t *restrict seed)
{
    uint32_t word = (uint32_t)*seed;
    for (uint32_t i = 0; i < TG_MT_WORDS; ++i)
    {
        out[i] = (int32_t)word;
        word = 1812433253u * (word ^ (word >> 30)) + i + 1;
    }
    out[TG_MT_WORDS] = TG_MT_WORDS;
}

/* ----------------------------------------------------------------------------------------- numbers, one by one */

/* [0, 1) in steps of 2^-24. */
TG_INLINE float tg_uniform24(int32_t word)
{
    return (float)(word & 0xffffff) * 0x1p-24f;
}

/* [0, 1) in steps of 2^-53, from the low 53 of 64 bits. Both parts are exact doubles, and so is their sum. */
TG_INLINE double tg_uniform53(int32_t high, int32_t low)
{
    return ((double)(high & 0x1fffff) * 0x1p32 + (double)(uint32_t)low) * 0x1p-53;
}

TG_INLINE int64_t tg_join_words(int32_t high, int32_t low)
{
    return (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low);
}

TG_INLINE int32_t tg_unsigned_moduloi(int32_t x, int32_t range)
{
    return (int32_t)((uint32_t)x % (uint32_t)range);
}

TG_INLINE int64_t tg_unsigned_modulol(int64_t x, int64_t range)
{
    return (int64_t)((uint64_t)x % (uint64_t)range);
}

/* --------------------------------------------------------- the functions that make normal numbers of uniform ones */

/* The float32 functions of the Cephes library with PyTorch's roundings, see ops/cephes.py: log on (0, 1]. */
TG_INLINE float tg_cephes_log(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int32_t half_to_one = (bits & 0x007fffff) | 0x3f000000;
    float m;
    memcpy(&m, &half_to_one, sizeof m);
    const int32_t is_small = m < 0x1.6a09e6p-1f;
    const float e = (float)((bits >> 23) - 126 - is_small);
    m = is_small ? m - 1 + m : m - 1;
    const float square = m * m;
    float y = 7.0376836292e-2f;
    y = fmaf(y, m, -1.1514610310e-1f);
    y = fmaf(y, m, 1.1676998740e-1f);
    y = fmaf(y, m, -1.2420140846e-1f);
    y = fmaf(y, m, 1.4249322787e-1f);
    y = fmaf(y, m, -1.6668057665e-1f);
    y = fmaf(y, m, 2.0000714765e-1f);
    y = fmaf(y, m, -2.4999993993e-1f);
    y = fmaf(y, m, 3.3333331174e-1f);
    y = fmaf(y * m, square, e * -2.12194440e-4f);
    return fmaf(e, 0.693359375f, m + (y - square * 0.5f));
}

/* Sine and cosine on [0, 2 pi]: of the distance to the nearest multiple of pi / 2, then changed by that multiple. */
TG_INLINE void tg_cephes_sincos(float x, float *sine, float *cosine, int32_t *octant)
{
    *octant = ((int32_t)(x * 0x1.45f306p+0f) + 1) & ~1;
    const float n = (float)*octant;
    x = fmaf(n, -0.78515625f, x);
    x = fmaf(n, -2.4187564849853515625e-4f, x);
    x = fmaf(n, -3.77489497744594108e-8f, x);
    const float square = x * x;
    float s = -1.9515295891e-4f;
    s = fmaf(s, square, 8.3321608736e-3f);
    s = fmaf(s, square, -1.6666654611e-1f);
    *sine = fmaf(s * square, x, x);
    float c = 2.443315711809948e-5f;
    c = fmaf(c, square, -1.388731625493765e-3f);
    c = fmaf(c, square, 4.166664568298827e-2f);
    *cosine = fmaf(c * square, square, square * -0.5f) + 1;
}

TG_INLINE float tg_cephes_sin(float x)
{
    float sine, cosine;
    int32_t octant;
    tg_cephes_sincos(x, &sine, &cosine, &octant);
    const float value = octant & 2 ? cosine : sine;
    return octant & 4 ? -value : value;
}

TG_INLINE float tg_cephes_cos(float x)
{
    float sine, cosine;
    int32_t octant;
    tg_cephes_sincos(x, &sine, &cosine, &octant);
    const float value = octant & 2 ? sine : cosine;
    return (octant + 2) & 4 ? -value : value;
}

/* ------------------------------------------------------------------------------------------------ permutations */

/* 0 ... n-1 shuffled by n - 1 words: element i changes places with one of those behind it, or stays. */
TG_STATIC void tg_permutation(int64_t *restrict out, const int32_t *restrict words, long n)
{
    for (long i = 0; i < n; ++i)
    {
        out[i] = i;
    }
    for (long i = 0; i < n - 1; ++i)
    {
        const long other = i + (long)((uint32_t)words[i] % (uint32_t)(n - i));
        const int64_t kept = out[i];
        out[i] = out[other];
        out[other] = kept;
    }
}

#endif
