/* float64: libm, or one expression. The names are those of tg_math_float.h without the last f. */
#ifndef TG_MATH_DOUBLE_H
#define TG_MATH_DOUBLE_H

#include <math.h>

#include "tg_inline.h"

TG_INLINE double tg_exp(double x) { return exp(x); }
TG_INLINE double tg_expm1(double x) { return expm1(x); }
TG_INLINE double tg_log(double x) { return log(x); }
TG_INLINE double tg_log1p(double x) { return log1p(x); }
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
TG_INLINE double tg_max(double a, double b) { return ((b > a) | (b != b)) ? b : a; }
TG_INLINE double tg_min(double a, double b) { return ((b < a) | (b != b)) ? b : a; }
TG_INLINE double tg_sign(double x) { return (double)((x > 0.0) - (x < 0.0)); }
TG_INLINE double tg_fmod(double a, double b) { return fmod(a, b); }

TG_INLINE double tg_sigmoid(double x)
{
    const double e = exp(-__builtin_fabs(x));
    return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

TG_INLINE double tg_log_sigmoid(double x)
{
    return (x < 0.0 ? x : 0.0) - log1p(exp(-__builtin_fabs(x)));
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

#endif
