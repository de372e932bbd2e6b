/* float functions that are computed in double and rounded once: max 0.6 ulp each. Branch-free, so that loops of calls become
 * vector code; those of double are libm's. */
#ifndef TG_MATH_WIDE_H
#define TG_MATH_WIDE_H

#include "tg_math_double.h"
#include "tg_math_float.h"

/* The angle of the point (x, y), to ten digits; of infinities as if both were equally large. */
TG_INLINE double tg_atan2_wide(double y, double x)
{
    const double high = __builtin_fabs(y), wide = __builtin_fabs(x);
    const int is_steep = high > wide;
    const double large = is_steep ? high : wide, small = is_steep ? wide : high;
    const double quotient = small / large;
    const double both = small == INFINITY ? 1.0 : quotient;
    const double q = large == 0.0 ? 0.0 : both;
    const double z = q * q; /* atan(q) / q for z in [0, 1]: interpolated at Chebyshev's places, to 1e-10 */
    double p = -0x1.5bcf66eda3132p-11;
    p = tg_fma(p, z, 0x1.3625e3b56d1cfp-8);
    p = tg_fma(p, z, -0x1.0354c911e2fa1p-6);
    p = tg_fma(p, z, 0x1.151ab6f0a7e3fp-5);
    p = tg_fma(p, z, -0x1.ba035a8dd954ap-5);
    p = tg_fma(p, z, 0x1.2811fd75d253ep-4);
    p = tg_fma(p, z, -0x1.6f95034010ba2p-4);
    p = tg_fma(p, z, 0x1.c6533df2f2cc4p-4);
    p = tg_fma(p, z, -0x1.2488519efeb41p-3);
    p = tg_fma(p, z, 0x1.999914dc84485p-3);
    p = tg_fma(p, z, -0x1.555553f67186ap-2);
    p = tg_fma(p, z, 0x1.ffffffff64896p-1);
    const double flat = q * p;
    const double right = is_steep ? 0x1.921fb54442d18p+0 - flat : flat;
    const double angle = __builtin_copysign(1.0, x) < 0.0 ? 0x1.921fb54442d18p+1 - right : right;
    const double y_signed = __builtin_copysign(angle, y);
    return ((x != x) | (y != y)) ? NAN : y_signed;
}

TG_INLINE float tg_atan2f(float y, float x) { return (float)tg_atan2_wide(y, x); }
TG_INLINE float tg_atanf(float x) { return (float)tg_atan2_wide(x, 1.0); }

/* The cosine of the angle whose sine is x, and the reverse: the product is exact where it is small. */
TG_INLINE double tg_other_leg(double x) { return __builtin_sqrt((1.0 - x) * (1.0 + x)); }
TG_INLINE float tg_asinf(float x) { return (float)tg_atan2_wide(x, tg_other_leg(x)); }
TG_INLINE float tg_acosf(float x) { return (float)tg_atan2_wide(tg_other_leg(x), x); }

TG_INLINE float tg_log2f(float x) { return (float)(tg_log(x) * 0x1.71547652b82fep+0); }
TG_INLINE float tg_log10f(float x) { return (float)(tg_log(x) * 0x1.bcb7b1526e50ep-2); }
TG_INLINE float tg_exp2f(float x) { return (float)tg_exp((double)x * 0x1.62e42fefa39efp-1); }
TG_INLINE float tg_coshf(float x) { return (float)(0.5 * (tg_exp(x) + tg_exp(-(double)x))); }

/* Odd functions whose double cancels near 0, where they are x to more digits than a float has. */
TG_INLINE float tg_near_zerof(float x, double y) { return __builtin_fabsf(x) < 0x1p-13f ? x : (float)y; }

TG_INLINE float tg_sinhf(float x) { return tg_near_zerof(x, 0.5 * (tg_exp(x) - tg_exp(-(double)x))); }

TG_INLINE float tg_asinhf(float x)
{
    const double size = __builtin_fabsf(x);
    return tg_near_zerof(x, __builtin_copysign(tg_log(size + __builtin_sqrt(size * size + 1.0)), (double)x));
}

TG_INLINE float tg_acoshf(float x)
{
    const double wide = x, y = tg_log(wide + __builtin_sqrt(wide * wide - 1.0));
    return x < 1.0f ? NAN : (float)y;
}

TG_INLINE float tg_atanhf(float x)
{
    const double wide = x;
    return tg_near_zerof(x, 0.5 * tg_log((1.0 + wide) / (1.0 - wide)));
}

/* An infinity is the longer side, even of NaN. */
TG_INLINE float tg_hypotf(float x, float y)
{
    const double wide = x, high = y;
    const float length = (float)__builtin_sqrt(wide * wide + high * high);
    return ((__builtin_fabsf(x) == INFINITY) | (__builtin_fabsf(y) == INFINITY)) ? INFINITY : length;
}

TG_INLINE double tg_atan2(double y, double x) { return atan2(y, x); }
TG_INLINE double tg_atan(double x) { return atan(x); }
TG_INLINE double tg_asin(double x) { return asin(x); }
TG_INLINE double tg_acos(double x) { return acos(x); }
TG_INLINE double tg_log2(double x) { return log2(x); }
TG_INLINE double tg_log10(double x) { return log10(x); }
TG_INLINE double tg_exp2(double x) { return exp2(x); }
TG_INLINE double tg_sinh(double x) { return sinh(x); }
TG_INLINE double tg_cosh(double x) { return cosh(x); }
TG_INLINE double tg_asinh(double x) { return asinh(x); }
TG_INLINE double tg_acosh(double x) { return acosh(x); }
TG_INLINE double tg_atanh(double x) { return atanh(x); }
TG_INLINE double tg_hypot(double x, double y) { return hypot(x, y); }

#endif
