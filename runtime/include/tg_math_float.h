/* Scalar float mathematics for generated loops. Every function is branch-free, so that the compiler turns a loop of
 * calls under `#pragma omp simd` into vector code (exception: the fmod family, which calls libm).
 *
 * Needs IEEE arithmetic: never -ffast-math. Assumes -fno-math-errno -fno-trapping-math. "max N ulp" was measured
 * against float64 on a grid over all of float32 (every 97th one; powf on random ones), subnormal results included;
 * tests/runtime/test_math_header.py holds these bounds.
 * Polynomials are minimax fits made for this file; their coefficients are rounded to float32 one after another. */
#ifndef TG_MATH_FLOAT_H
#define TG_MATH_FLOAT_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tg_inline.h"

/* ---- Bits and steps ------------------------------------------------------------------------------------------- */

TG_INLINE uint32_t tg_bits(float x) { uint32_t u; memcpy(&u, &x, sizeof u); return u; }
TG_INLINE float tg_from_bits(uint32_t u) { float x; memcpy(&x, &u, sizeof x); return x; }
TG_INLINE uint64_t tg_bits_double(double x) { uint64_t u; memcpy(&u, &x, sizeof u); return u; }
TG_INLINE double tg_from_bits_double(uint64_t u) { double x; memcpy(&x, &u, sizeof x); return x; }

/* a * b + c, with one rounding where the machine does that in one instruction. */
TG_INLINE float tg_fmaf(float a, float b, float c)
{
#ifdef __FP_FAST_FMAF
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

TG_INLINE double tg_fma(double a, double b, double c)
{
#ifdef __FP_FAST_FMA
    return __builtin_fma(a, b, c);
#else
    return a * b + c;
#endif
}

/* 2^n for -126 <= n <= 127; other n give garbage but no undefined behaviour. */
TG_INLINE float tg_power_of_two(int32_t n) { return tg_from_bits((uint32_t)(n + 127) << 23); }

/* Adding this constant rounds to an integer (half to even) and leaves it in the low bits of the sum. */
#define TG_ROUNDER 0x1.8p23f
#define TG_ROUNDER_DOUBLE 0x1.8p52

/* ---- Exact functions ------------------------------------------------------------------------------------------ */

TG_INLINE float tg_sqrtf(float x) { return __builtin_sqrtf(x); }
TG_INLINE float tg_rsqrtf(float x) { return 1.0f / __builtin_sqrtf(x); } /* two roundings: max 1.5 ulp */
TG_INLINE float tg_absf(float x) { return __builtin_fabsf(x); }
TG_INLINE float tg_floorf(float x) { return __builtin_floorf(x); }
TG_INLINE float tg_ceilf(float x) { return __builtin_ceilf(x); }
TG_INLINE float tg_truncf(float x) { return __builtin_truncf(x); }
TG_INLINE float tg_roundf(float x) { return __builtin_rintf(x); } /* half to even, as Python and PyTorch round */
TG_INLINE float tg_copysignf(float x, float sign) { return __builtin_copysignf(x, sign); }

/* NaN when either is NaN, unlike fminf and fmaxf; of equal arguments (+0, -0) the second, as numpy and maxps have it. */
TG_INLINE float tg_maxf(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
TG_INLINE float tg_minf(float a, float b) { return ((a < b) | (a != a)) ? a : b; }

/* -1, 0 or 1; 0 for NaN, as torch.sign (numpy.sign gives NaN). */
TG_INLINE float tg_signf(float x) { return (float)((x > 0.0f) - (x < 0.0f)); }

/* ---- Exponentials --------------------------------------------------------------------------------------------- */

/* x = n ln 2 + r with |r| <= ln 2 / 2; gives r, and bits that end in n + bias. Beyond +-200 both are garbage, but nothing
 * undefined: whoever calls chooses the result there, which vector code does cheaper than to limit x before. */
TG_INLINE uint32_t tg_exp_parts(float x, float bias, float *r)
{
    const float rounder = TG_ROUNDER + bias;
    const float shifted = tg_fmaf(x, 0x1.715476p+0f, rounder);
    const float multiple = shifted - rounder;
    /* The upper part of ln 2 has nine zero bits at its end: its product with the multiple is exact without fma. */
    *r = tg_fmaf(multiple, -0x1.7f7d1cp-20f, tg_fmaf(multiple, -0x1.62e4p-1f, x));
    return tg_bits(shifted);
}

/* (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2; terms in pairs, which need not wait for each other */
TG_INLINE float tg_exp_rest(float r)
{
    const float p43 = tg_fmaf(0x1.6d6d4cp-10f, r, 0x1.123c3ap-7f);
    const float p21 = tg_fmaf(0x1.5554ccp-5f, r, 0x1.55548ep-3f);
    return tg_fmaf(tg_fmaf(p43, r * r, p21), r, 0.5f);
}

/* 2^n of bits that end in n + 127 */
TG_INLINE float tg_power_of_bits(uint32_t bits) { return tg_from_bits(bits << 23); }

/* exp(x) for x <= 0 or NaN, and up to 89 */
TG_INLINE float tg_exp_negativef(float x)
{
    float r;
    const uint32_t bits = tg_exp_parts(x, 254.0f, &r), half = bits >> 1;
    /* Two factors, since 2^n itself may be no float; only the last product rounds. */
    const float y = 1.0f + (r + tg_exp_rest(r) * (r * r)); /* with an fma 0.03 ulp worse */
    const float scaled = (y * tg_power_of_bits(half)) * tg_power_of_bits(bits - half);
    return x < -104.0f ? 0.0f : scaled;
}

/* max 1.0 ulp; overflows to inf above 88.72284, reaches 0 gradually below -87.3 and 0 itself below -103.97 */
TG_INLINE float tg_expf(float x)
{
    const float y = tg_exp_negativef(x);
    return x > 89.0f ? INFINITY : y;
}

/* exp(x) - 1 for x <= 0 or NaN, and up to 89 */
TG_INLINE float tg_expm1_negativef(float x)
{
    float r;
    const uint32_t bits = tg_exp_parts(x, 126.0f, &r);
    const float q = tg_exp_rest(r) * (r * r);
    /* 2^n (exp(r) - 1) + (2^n - 1), all halved: 2^128 is no float. */
    const float half = tg_power_of_bits(bits);
    const float y = 2.0f * (tg_fmaf(half, r, half * q) + (half - 0.5f));
    const float near = half == 0.5f ? r + q : y;
    return tg_copysignf(x < -18.0f ? -1.0f : near, x);
}

/* max 1.7 ulp */
TG_INLINE float tg_expm1f(float x)
{
    const float y = tg_expm1_negativef(x);
    return x > 89.0f ? INFINITY : y;
}

/* max 2.6 ulp */
TG_INLINE float tg_tanhf(float x)
{
    const float t = tg_expm1_negativef(-2.0f * tg_absf(x));
    return tg_copysignf(t / (2.0f + t), x);
}

/* 1 / (1 + exp(-x)), without overflow on either side; max 2.4 ulp */
TG_INLINE float tg_sigmoidf(float x)
{
    const float e = tg_exp_negativef(-tg_absf(x));
    return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/* ---- Logarithms ----------------------------------------------------------------------------------------------- */

/* x = m 2^e with sqrt(1/2) <= m < sqrt(2), for any positive finite x. */
TG_INLINE float tg_split(float x, int32_t *e)
{
    const int subnormal = x < 0x1p-126f;
    const uint32_t root_half = 0x3f3504f3u;
    const uint32_t u = tg_bits(subnormal ? x * 0x1p23f : x) - root_half;
    *e = ((int32_t)u >> 23) - (subnormal ? 23 : 0);
    return tg_from_bits((u & 0x7fffffu) + root_half);
}

/* log(1 + f) + e ln 2 for sqrt(1/2) <= 1 + f < sqrt(2) */
TG_INLINE float tg_log_parts(float f, float e)
{
    float p = -0x1.37c06ep-4f;
    p = tg_fmaf(p, f, 0x1.050924p-3f);
    p = tg_fmaf(p, f, -0x1.0d90f4p-3f);
    p = tg_fmaf(p, f, 0x1.22e830p-3f);
    p = tg_fmaf(p, f, -0x1.54723ap-3f);
    p = tg_fmaf(p, f, 0x1.999f42p-3f);
    p = tg_fmaf(p, f, -0x1.000226p-2f);
    p = tg_fmaf(p, f, 0x1.555556p-2f);
    const float square = f * f;
    const float tail = tg_fmaf(p, f * square, -0.5f * square);
    return tg_fmaf(e, 0x1.62e4p-1f, f + tg_fmaf(e, 0x1.7f7d1cp-20f, tail));
}

/* log outside the positive finite numbers */
TG_INLINE float tg_log_limits(float x, float y)
{
    const float zero = x == 0.0f ? -INFINITY : y;
    const float negative = x < 0.0f ? NAN : zero;
    return x < INFINITY ? negative : x; /* inf and NaN */
}

/* max 0.9 ulp */
TG_INLINE float tg_logf(float x)
{
    int32_t e;
    const float f = tg_split(x, &e) - 1.0f;
    return tg_log_limits(x, tg_log_parts(f, (float)e));
}

/* max 1.5 ulp */
TG_INLINE float tg_log1pf(float x)
{
    int32_t e;
    const float sum = 1.0f + x;
    const float m = tg_split(sum, &e);
    /* What the sum lost, exactly, scaled like m. For large x the scale is subnormal or 0 and nothing was lost. */
    const float back = sum - 1.0f;
    const float lost = (x - back) + (1.0f - (sum - back));
    const float f = (m - 1.0f) + lost * (e < 100 ? tg_power_of_two(-e) : 0.0f);
    const float y = tg_log_limits(sum, tg_log_parts(f, (float)e));
    return x == 0.0f ? x : y;
}

/* ---- Error function ------------------------------------------------------------------------------------------- */

/* 1 - exp(-y) with y = -log(1 - erf(|x|)), a polynomial P(a) of a = |x| up to 3.92, where erf rounds to 1. One form for all
 * arguments, for exp(-y) - 1 is right near 0, too. P(a) = a (d + lost_d + a q), its first coefficient in two parts.
 * Terms are added in pairs rather than by Horner's scheme: they need not wait for each other. max 1.4 ulp */
TG_INLINE float tg_erff(float x)
{
    const float d = 0x1.20dd76p+0f, lost_d = -0x1.d0e254p-25f;
    const float a = tg_absf(x), a2 = a * a;
    const float q76 = tg_fmaf(-0x1.36f06ep-17f, a, 0x1.edd196p-14f);
    const float q54 = tg_fmaf(-0x1.4bf75cp-11f, a, 0x1.b529e6p-10f);
    const float q32 = tg_fmaf(-0x1.51aa18p-13f, a, -0x1.39cc6ap-6f);
    const float q10 = tg_fmaf(0x1.a4fa48p-4f, a, 0x1.45f2fap-1f);
    const float q = tg_fmaf(tg_fmaf(q76, a2, q54), a2 * a2, tg_fmaf(q32, a2, q10));
    const float added = tg_fmaf(q, a2, lost_d * a);
    const float y = tg_fmaf(a, d, added);
    const float lost = tg_fmaf(a, d, -y) + added; /* y + lost is more exact than y */
    /* -y = n ln 2 + r. What n ln 2 is wrong by grows with n, but 2^n makes it small. */
    const float shifted = tg_fmaf(y, -0x1.715476p+0f, TG_ROUNDER + 127.0f);
    const float r = tg_fmaf(shifted - (TG_ROUNDER + 127.0f), -0x1.62e430p-1f, -y), r2 = r * r;
    /* exp(r) - 1 - r = r^2 e */
    const float e43 = tg_fmaf(0x1.9dffb2p-13f, r, 0x1.6d415cp-10f);
    const float e21 = tg_fmaf(0x1.11130cp-7f, r, 0x1.5554f2p-5f);
    const float e = tg_fmaf(tg_fmaf(e43, r2, e21), r2, tg_fmaf(0x1.555554p-3f, r, 0.5f));
    const float power = tg_power_of_bits(tg_bits(shifted));
    const float within = tg_fmaf(-power, r + tg_fmaf(e, r2, -lost), 1.0f - power);
    return tg_copysignf(a > 3.92f ? 1.0f : within, x);
}

/* ---- Sine and cosine ------------------------------------------------------------------------------------------ */

/* 32 bits of 2/pi each; word j begins at the bit of weight 2^(8 - 8 j). */
static const uint32_t tg_two_over_pi[22] = {
    0x00517cc1, 0x517cc1b7, 0x7cc1b727, 0xc1b72722, 0xb727220a, 0x27220a94, 0x220a94fe, 0x0a94fe13,
    0x94fe13ab, 0xfe13abe8, 0x13abe8fa, 0xabe8fa9a, 0xe8fa9a6e, 0xfa9a6ee0, 0x9a6ee06d, 0x6ee06db1,
    0xe06db14a, 0x6db14acc, 0xb14acc9e, 0x4acc9e21, 0xcc9e21c8, 0x9e21c820,
};

/* (double)x, in operations that processors without AVX-512 have on vectors, too; rounded once, by the sum. */
TG_INLINE double tg_double_of_int64(uint64_t x)
{
    const double upper = (double)(int32_t)(uint32_t)(x >> 32);
    const double lower = tg_from_bits_double(0x4330000000000000u | (x & 0xffffffffu)) - 0x1p52;
    return upper * 0x1p32 + lower;
}

/* |x| = q pi/2 + r with |r| <= pi/4, for |x| from 2^20 up to the largest float: the integer mantissa times the 96 bits
 * of 2/pi that count modulo 4 (Payne and Hanek). Fixed point; the top two bits of the product are q. */
TG_INLINE double tg_reduce_large(float x, uint32_t *q)
{
    const uint32_t u = tg_bits(x) & 0x7fffffffu;
    const uint32_t exponent = u >> 23 < 254 ? u >> 23 : 254; /* infinity must not read past the table */
    const uint32_t position = exponent > 143 ? exponent - 143 : 0;
    const uint64_t mantissa = (uint64_t)((u & 0x7fffffu) | 0x800000u) << (position & 7);
    const uint32_t word = position >> 3;
    const uint64_t product = ((mantissa * tg_two_over_pi[word]) << 32) + mantissa * tg_two_over_pi[word + 4]
                             + ((mantissa * tg_two_over_pi[word + 8]) >> 32);
    const uint64_t nearest = (product + (1ull << 61)) >> 62;
    *q = (uint32_t)nearest;
    return tg_double_of_int64(product - (nearest << 62)) * 0x1.921fb54442d18p-62;
}

/* x = q pi/2 + r for every finite x; r is right to about float64's relative precision, however close to 0. */
TG_INLINE float tg_reduce(float x, uint32_t *q)
{
    /* |x| < 2^20: the upper part of pi/2 has 33 bits, its product with the multiple is exact. */
    const double shifted = (double)x * 0x1.45f306dc9c883p-1 + TG_ROUNDER_DOUBLE;
    const double multiple = shifted - TG_ROUNDER_DOUBLE;
    const double small = ((double)x - multiple * 0x1.921fb544p+0) - multiple * 0x1.0b4611a626331p-34;
    uint32_t large_q;
    const double large = tg_reduce_large(x, &large_q);
    const int is_large = tg_absf(x) >= 0x1p20f;
    const int negative = x < 0.0f;
    *q = is_large ? (negative ? 0u - large_q : large_q) : (uint32_t)tg_bits_double(shifted);
    return (float)(is_large ? (negative ? -large : large) : small);
}

/* sin(r + q pi/2) for |r| <= pi/4 */
TG_INLINE float tg_sin_quadrant(float r, uint32_t q)
{
    const float z = r * r;
    float s = tg_fmaf(-0x1.9956acp-13f, z, 0x1.11077ep-7f);
    s = tg_fmaf(s, z, -0x1.555546p-3f);
    const float sine = tg_fmaf(s * z, r, r);
    float c = tg_fmaf(0x1.99e0e6p-16f, z, -0x1.6c0c1ap-10f);
    c = tg_fmaf(c, z, 0x1.55554ap-5f);
    const float cosine = tg_fmaf(c * z, z, tg_fmaf(z, -0.5f, 1.0f));
    const float y = q & 1 ? cosine : sine;
    return q & 2 ? -y : y;
}

/* max 1.6 ulp */
TG_INLINE float tg_sinf(float x)
{
    uint32_t q;
    const float r = tg_reduce(x, &q);
    const float y = x == 0.0f ? x : tg_sin_quadrant(r, q);
    return tg_absf(x) < INFINITY ? y : NAN;
}

/* max 1.6 ulp */
TG_INLINE float tg_cosf(float x)
{
    uint32_t q;
    const float r = tg_reduce(x, &q);
    return tg_absf(x) < INFINITY ? tg_sin_quadrant(r, q + 1) : NAN;
}

/* ---- Powers --------------------------------------------------------------------------------------------------- */

/* log2(x) in float64 to 2^-40, for positive finite x */
TG_INLINE double tg_log2_wide(float x)
{
    int32_t e;
    const double f = (double)tg_split(x, &e) - 1.0;
    double p = 0x1.09b771862ca42p-4;
    p = tg_fma(p, f, -0x1.ff927a639e58cp-4);
    p = tg_fma(p, f, 0x1.01d8b377e9250p-3);
    p = tg_fma(p, f, -0x1.e85e7f697a34ep-4);
    p = tg_fma(p, f, 0x1.08739454a447ep-3);
    p = tg_fma(p, f, -0x1.2742db3da7331p-3);
    p = tg_fma(p, f, 0x1.488f4ecbc6003p-3);
    p = tg_fma(p, f, -0x1.715a45ca6b186p-3);
    p = tg_fma(p, f, 0x1.a615232a6bb9bp-3);
    p = tg_fma(p, f, -0x1.ec706aedab01bp-3);
    p = tg_fma(p, f, 0x1.2776c9abeffebp-2);
    p = tg_fma(p, f, -0x1.715476a600440p-2);
    p = tg_fma(p, f, 0x1.ec709dbc44ffap-2);
    p = tg_fma(p, f, -0x1.7154765293f9fp-1);
    p = tg_fma(p, f, 0x1.71547652b8afcp+0);
    return tg_fma(p, f, (double)e);
}

/* 2^x in float64 to 2^-34, for |x| < 1000 */
TG_INLINE double tg_exp2_wide(double x)
{
    const double shifted = x + TG_ROUNDER_DOUBLE;
    const double r = x - (shifted - TG_ROUNDER_DOUBLE);
    double p = 0x1.00f2af2942c8fp-16;
    p = tg_fma(p, r, 0x1.446c6fb13f3ffp-13);
    p = tg_fma(p, r, 0x1.5d871e7572b06p-10);
    p = tg_fma(p, r, 0x1.3b29d8ca634a3p-7);
    p = tg_fma(p, r, 0x1.c6b08dfe30b84p-5);
    p = tg_fma(p, r, 0x1.ebfbe0a9eceaep-3);
    p = tg_fma(p, r, 0x1.62e42fef7133ap-1);
    p = tg_fma(p, r, 0x1.ffffffffa7279p-1);
    return p * tg_from_bits_double((tg_bits_double(shifted) + 1023u) << 52);
}

/* C's pow in every special case; max 0.51 ulp */
TG_INLINE float tg_powf(float x, float y)
{
    const float a = tg_absf(x);
    const double log2_limits = a == 0.0f ? -(double)INFINITY : (double)a; /* 0, inf and NaN */
    const double log2_a = ((a > 0.0f) & (a < INFINITY)) ? tg_log2_wide(a) : log2_limits;
    const double t = (double)y * log2_a;
    const double low = t < -200.0 ? -200.0 : t;
    const float magnitude = (float)tg_exp2_wide(low > 200.0 ? 200.0 : low);
    const float half = 0.5f * y;
    const int whole = tg_floorf(y) == y;
    const int odd = whole & (tg_floorf(half) != half);
    const int negative = (tg_bits(x) >> 31) != 0;
    const float signed_magnitude = (negative & odd) ? -magnitude : magnitude;
    const float real = ((x < 0.0f) & (x > -INFINITY) & !whole) ? NAN : signed_magnitude;
    return ((y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (tg_absf(y) == INFINITY))) ? 1.0f : real;
}

/* ---- Division with remainder ---------------------------------------------------------------------------------- */

/* The sign of the dividend (fmod) or of the divisor (remainder, as Python's %). Exact, by libm: not vectorised. */
TG_INLINE float tg_fmodf(float a, float b) { return fmodf(a, b); }

TG_INLINE float tg_remainderf(float a, float b)
{
    const float r = fmodf(a, b);
    return ((r != 0.0f) & ((b < 0.0f) != (r < 0.0f))) ? r + b : r;
}

/* Python's //, also where a / b rounds up to the next integer. */
TG_INLINE float tg_floordivf(float a, float b)
{
    const float r = fmodf(a, b);
    const float exact = (a - r) / b - (((r != 0.0f) & ((b < 0.0f) != (r < 0.0f))) ? 1.0f : 0.0f);
    const float near = __builtin_floorf(exact);
    const float nearest = exact - near > 0.5f ? near + 1.0f : near;
    const float y = exact == 0.0f ? tg_copysignf(0.0f, a / b) : nearest;
    return b == 0.0f ? a / b : y;
}

/* log(1 / (1 + exp(-x))), without overflow on either side */
TG_INLINE float tg_log_sigmoidf(float x)
{
    return (x < 0.0f ? x : 0.0f) - tg_log1pf(tg_exp_negativef(-tg_absf(x)));
}

/* log(exp(a) + exp(b)), without overflow; of two equal infinities the infinity */
TG_INLINE float tg_logaddexpf(float a, float b)
{
    const float sum = tg_maxf(a, b) + tg_log1pf(tg_exp_negativef(-tg_absf(a - b)));
    return a == b ? a + 0x1.62e430p-1f : sum;
}

/* A line of slope `scale`; to the left of 0, alpha * scale * (exp(inner * x) - 1) */
TG_INLINE float tg_eluf(float x, float alpha, float scale, float inner)
{
    const float bent = tg_expm1f(x <= 0 ? x * inner : 0);
    return x <= 0 ? bent * (alpha * scale) : x * scale;
}

#endif
