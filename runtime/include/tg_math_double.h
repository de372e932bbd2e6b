/* float64: libm, or one expression; exp and logarithms, which rows of softmax are full of, are series. The names are those of
 * tg_math_float.h without the last f. */
#ifndef TG_MATH_DOUBLE_H
#define TG_MATH_DOUBLE_H

#include <math.h>
#include <stdint.h>

#include "tg_inline.h"
#include "tg_math_float.h"

/* max 1.0 ulp; overflows to inf above 709.78, reaches 0 gradually below -708.4 and 0 itself below -745.2. A series is
 * long enough here: |r| <= ln 2 / 2, and r^14 / 14! is a hundredth of an ulp. */
TG_INLINE double tg_exp(double x)
{
    const double low = x < -746.0 ? -746.0 : x;
    const double within = low > 710.0 ? 710.0 : low;
    const double shifted = within * 0x1.71547652b82fep+0 + TG_ROUNDER_DOUBLE;
    const double multiple = shifted - TG_ROUNDER_DOUBLE;
    const int64_t n = (int64_t)(tg_bits_double(shifted) - tg_bits_double(TG_ROUNDER_DOUBLE));
    /* The upper part of ln 2 has 17 zero bits at its end: its product with the multiple is exact without fma. */
    const double r = tg_fma(multiple, -0x1.cf79abc9e3b39p-40, tg_fma(multiple, -0x1.62e42fefa0000p-1, within));
    double p = 0x1.6124613a86d09p-33;
    p = tg_fma(p, r, 0x1.1eed8eff8d898p-29);
    p = tg_fma(p, r, 0x1.ae64567f544e4p-26);
    p = tg_fma(p, r, 0x1.27e4fb7789f5cp-22);
    p = tg_fma(p, r, 0x1.71de3a556c734p-19);
    p = tg_fma(p, r, 0x1.a01a01a01a01ap-16);
    p = tg_fma(p, r, 0x1.a01a01a01a01ap-13);
    p = tg_fma(p, r, 0x1.6c16c16c16c17p-10);
    p = tg_fma(p, r, 0x1.1111111111111p-7);
    p = tg_fma(p, r, 0x1.5555555555555p-5);
    p = tg_fma(p, r, 0x1.5555555555555p-3);
    p = tg_fma(p, r, 0.5);
    const double y = 1.0 + tg_fma(p, r * r, r);
    /* Two factors, since 2^n itself may be no number; only the last product rounds. */
    const int64_t half = n >> 1;
    return (y * tg_from_bits_double((uint64_t)(half + 1023) << 52)) * tg_from_bits_double((uint64_t)(n - half + 1023) << 52);
}

/* log(u + low) for u > 0 and a `low` that is smaller than its last place. u = 2^k (1 + f) with 1 + f around 1, and log(1 + f)
 * is twice the series of atanh at s = f / (2 + f): 2 s = f - s f. */
TG_INLINE double tg_log_sum(double u, double low)
{
    const int is_tiny = u < 0x1p-1022;
    const uint64_t half_root = 0x3fe6a09e667f3bcd; /* sqrt(1 / 2): what lies above it counts to the next power */
    const uint64_t bits = tg_bits_double(is_tiny ? u * 0x1p54 : u) + (0x3ff0000000000000 - half_root);
    const double whole = tg_from_bits_double(0x4330000000000000 | (bits >> 52)); /* 2^52 + 1023 + k, for machines */
    const double k = whole - (is_tiny ? 0x1p52 + 1077.0 : 0x1p52 + 1023.0); /* that do not convert int64 in vectors */
    const double f = tg_from_bits_double((bits & 0xfffffffffffff) + half_root) - 1.0;
    const double s = f / (2.0 + f), z = s * s;
    double p = 0x1.642c8590b2164p-4;
    p = tg_fma(p, z, 0x1.8618618618618p-4);
    p = tg_fma(p, z, 0x1.af286bca1af28p-4);
    p = tg_fma(p, z, 0x1.e1e1e1e1e1e1ep-4);
    p = tg_fma(p, z, 0x1.1111111111111p-3);
    p = tg_fma(p, z, 0x1.3b13b13b13b14p-3);
    p = tg_fma(p, z, 0x1.745d1745d1746p-3);
    p = tg_fma(p, z, 0x1.c71c71c71c71cp-3);
    p = tg_fma(p, z, 0x1.2492492492492p-2);
    p = tg_fma(p, z, 0x1.999999999999ap-2);
    p = tg_fma(p, z, 0x1.5555555555555p-1);
    const double lowest = low / u + k * 0x1.cf79abc9e3b39p-40;
    return k * 0x1.62e42fefa0000p-1 + (f - (s * (f - z * p) - lowest));
}

/* The logarithm where it is no finite number: of 0, of what is below, of infinity and NaN. */
TG_INLINE double tg_log_ends(double x, double y)
{
    const double above = x < INFINITY ? y : x;
    return x > 0.0 ? above : (x == 0.0 ? -INFINITY : NAN);
}

/* max 1.0 ulp */
TG_INLINE double tg_log(double x) { return tg_log_ends(x, tg_log_sum(x, 0.0)); }

/* max 1.0 ulp; 1 + x is `u` and what its rounding left */
TG_INLINE double tg_log1p(double x)
{
    const double u = 1.0 + x, most = u - 1.0;
    const double y = tg_log_ends(u, tg_log_sum(u, (1.0 - (u - most)) + (x - most)));
    return x == 0.0 ? x : y;
}

TG_INLINE double tg_expm1(double x) { return expm1(x); }
TG_INLINE double tg_tanh(double x) { return tanh(x); }
TG_INLINE double tg_erf(double x) { return erf(x); }
TG_INLINE double tg_sin(double x) { return sin(x); }
TG_INLINE double tg_cos(double x) { return cos(x); }
TG_INLINE double tg_pow(double x, double y) { return pow(x, y); }
TG_INLINE double tg_sqrt(double x) { return __builtin_sqrt(x); }
TG_INLINE double tg_rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }
TG_INLINE double tg_abs(double x) { return __builtin_fabs(x); }
TG_INLINE double tg_floor(double x) { return __builtin_floor(x); }
TG_INLINE double tg_ceil(double x) { return __builtin_ceil(x); }
TG_INLINE double tg_trunc(double x) { return __builtin_trunc(x); }
TG_INLINE double tg_round(double x) { return __builtin_rint(x); }
TG_INLINE double tg_copysign(double x, double sign) { return __builtin_copysign(x, sign); }
TG_INLINE double tg_max(double a, double b) { return ((a > b) | (a != a)) ? a : b; }
TG_INLINE double tg_min(double a, double b) { return ((a < b) | (a != a)) ? a : b; }
TG_INLINE double tg_sign(double x) { return (double)((x > 0.0) - (x < 0.0)); }
TG_INLINE double tg_fmod(double a, double b) { return fmod(a, b); }

TG_INLINE double tg_sigmoid(double x)
{
    const double e = tg_exp(-__builtin_fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

TG_INLINE double tg_log_sigmoid(double x)
{
    return (x < 0.0 ? x : 0.0) - tg_log1p(tg_exp(-__builtin_fabs(x)));
}

TG_INLINE double tg_remainder(double a, double b)
{
    const double r = fmod(a, b);
    return ((r != 0.0) & ((b < 0.0) != (r < 0.0))) ? r + b : r;
}

TG_INLINE double tg_floordiv(double a, double b)
{
    const double r = fmod(a, b);
    const double exact = (a - r) / b - (((r != 0.0) & ((b < 0.0) != (r < 0.0))) ? 1.0 : 0.0);
    const double near = __builtin_floor(exact);
    const double nearest = exact - near > 0.5 ? near + 1.0 : near;
    const double y = exact == 0.0 ? __builtin_copysign(0.0, a / b) : nearest;
    return b == 0.0 ? a / b : y;
}

/* log(exp(a) + exp(b)), without overflow; of two equal infinities the infinity */
TG_INLINE double tg_logaddexp(double a, double b)
{
    const double sum = tg_max(a, b) + tg_log1p(tg_exp(-tg_abs(a - b)));
    return a == b ? a + 0x1.62e42fefa39efp-1 : sum;
}

/* x = mantissa * 2^exponent with a mantissa in [0.5, 1); 0, infinities and NaN have exponent 0. */
TG_INLINE double tg_mantissa(double x)
{
    int exponent;
    return frexp(x, &exponent);
}

TG_INLINE int32_t tg_exponent(double x)
{
    int exponent;
    const double mantissa = frexp(x, &exponent);
    return mantissa - mantissa == 0.0 ? exponent : 0;
}

/* A line of slope `scale`; to the left of 0, alpha * scale * (exp(inner * x) - 1) */
TG_INLINE double tg_elu(double x, double alpha, double scale, double inner)
{
    const double bent = tg_expm1(x <= 0 ? x * inner : 0);
    return x <= 0 ? bent * (alpha * scale) : x * scale;
}

#endif
