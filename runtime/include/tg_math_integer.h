/* Python's // and % for integers. Division by 0 gives 0 (and a remainder of 0), the smallest number // -1 wraps around:
 * no input is undefined behaviour. */
#ifndef TG_MATH_INTEGER_H
#define TG_MATH_INTEGER_H

#include <stdint.h>

#define TG_DEFINE_INTEGER_DIVISION(type, unsigned_type)                                                     \
    static inline type tg_floordiv_##type(type a, type b)                                                   \
    {                                                                                                       \
        const type divisor = (b == 0) | (b == -1) ? 1 : b;                                                  \
        const type quotient = a / divisor - ((a % divisor != 0) & ((a < 0) != (divisor < 0)));              \
        const type special = b == 0 ? 0 : (type)(0 - (unsigned_type)a);                                     \
        return (b == 0) | (b == -1) ? special : quotient;                                                   \
    }                                                                                                       \
    static inline type tg_mod_##type(type a, type b)                                                        \
    {                                                                                                       \
        const type divisor = (b == 0) | (b == -1) ? 1 : b;                                                  \
        const type rest = a % divisor;                                                                      \
        return (rest != 0) & ((rest < 0) != (divisor < 0)) ? rest + divisor : rest;                         \
    }

TG_DEFINE_INTEGER_DIVISION(int32_t, uint32_t) /* tg_floordiv_int32_t, tg_mod_int32_t */
TG_DEFINE_INTEGER_DIVISION(int64_t, uint64_t) /* tg_floordiv_int64_t, tg_mod_int64_t */

#endif
