/* Python's // and % for integers. Division by 0 gives 0 (and a remainder of 0), the smallest number // -1 wraps around:
 * no input is undefined behaviour. */
#ifndef TG_MATH_INTEGER_H
#define TG_MATH_INTEGER_H

#include <stdint.h>

#include "tg_inline.h"

#define TG_DEFINE_INTEGER_DIVISION(type, unsigned_type)                                                     \
    TG_INLINE type tg_floordiv_##type(type a, type b)                                                       \
    {                                                                                                       \
        const type divisor = ((b == 0) | (b == -1)) ? 1 : b;                                                \
        const type quotient = a / divisor - ((a % divisor != 0) & ((a < 0) != (divisor < 0)));              \
        const type special = b == 0 ? 0 : (type)(0 - (unsigned_type)a);                                     \
        return ((b == 0) | (b == -1)) ? special : quotient;                                                 \
    }                                                                                                       \
    TG_INLINE type tg_mod_##type(type a, type b)                                                            \
    {                                                                                                       \
        const type divisor = ((b == 0) | (b == -1)) ? 1 : b;                                                \
        const type rest = a % divisor;                                                                      \
        return ((rest != 0) & ((rest < 0) != (divisor < 0))) ? rest + divisor : rest;                       \
    }

TG_DEFINE_INTEGER_DIVISION(int32_t, uint32_t) /* tg_floordiv_int32_t, tg_mod_int32_t */
TG_DEFINE_INTEGER_DIVISION(int64_t, uint64_t) /* tg_floordiv_int64_t, tg_mod_int64_t */

/* What the op table asks of integers: tg_absi is for int32_t, tg_absl for int64_t. */
#define TG_DEFINE_INTEGER_MATH(type, unsigned_type, suffix)                                                  \
    TG_INLINE type tg_abs##suffix(type x) { return x < 0 ? (type)(0 - (unsigned_type)x) : x; }               \
    TG_INLINE type tg_max##suffix(type a, type b) { return a > b ? a : b; }                                  \
    TG_INLINE type tg_min##suffix(type a, type b) { return a < b ? a : b; }                                  \
    TG_INLINE type tg_floordiv##suffix(type a, type b) { return tg_floordiv_##type(a, b); }                  \
    TG_INLINE type tg_remainder##suffix(type a, type b) { return tg_mod_##type(a, b); }                      \
    TG_INLINE type tg_fmod##suffix(type a, type b) { return ((b == 0) | (b == -1)) ? 0 : a % b; }            \
    /* Shifts by what is no place of the type leave nothing, or the sign. */                                 \
    TG_INLINE type tg_shift_left##suffix(type x, type y)                                                     \
    {                                                                                                        \
        const int inside = (y >= 0) & (y < (type)(8 * sizeof(type)));                                        \
        return inside ? (type)((unsigned_type)x << (inside ? y : 0)) : 0;                                    \
    }                                                                                                        \
    TG_INLINE type tg_shift_right##suffix(type x, type y)                                                    \
    {                                                                                                        \
        const int inside = (y >= 0) & (y < (type)(8 * sizeof(type)));                                        \
        return x >> (inside ? y : (type)(8 * sizeof(type) - 1));                                             \
    }                                                                                                        \
    /* By squaring; a negative exponent gives the reciprocal cut to an integer. */                           \
    TG_INLINE type tg_pow##suffix(type x, type y)                                                            \
    {                                                                                                        \
        if (y < 0)                                                                                           \
            return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;                                              \
        unsigned_type power = 1, square = (unsigned_type)x;                                                  \
        for (; y; y >>= 1, square *= square)                                                                 \
            power *= y & 1 ? square : 1;                                                                     \
        return (type)power;                                                                                  \
    }                                                                                                        \
    /* Euclid's algorithm on the absolute values; the multiple wraps around where it is too large. */        \
    TG_INLINE type tg_gcd##suffix(type x, type y)                                                            \
    {                                                                                                        \
        unsigned_type a = (unsigned_type)tg_abs##suffix(x), b = (unsigned_type)tg_abs##suffix(y);            \
        while (b != 0)                                                                                       \
        {                                                                                                    \
            const unsigned_type rest = a % b;                                                                \
            a = b;                                                                                           \
            b = rest;                                                                                        \
        }                                                                                                    \
        return (type)a;                                                                                      \
    }                                                                                                        \
    TG_INLINE type tg_lcm##suffix(type x, type y)                                                            \
    {                                                                                                        \
        const type divisor = tg_gcd##suffix(x, y);                                                           \
        const unsigned_type part = (unsigned_type)tg_floordiv_##type(x, divisor);                            \
        return tg_abs##suffix((type)(part * (unsigned_type)y));                                              \
    }

TG_DEFINE_INTEGER_MATH(int32_t, uint32_t, i)
TG_DEFINE_INTEGER_MATH(int64_t, uint64_t, l)

#endif
