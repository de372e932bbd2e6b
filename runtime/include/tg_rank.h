/* Largest and smallest numbers of vector loops. clang folds no floats in vectors, since one might be NaN, but integers:
 * for it a number's rank is an integer. NaN has no rank; whoever folds looks for it. -0 may rank below +0. */
#ifndef TG_RANK_H
#define TG_RANK_H

#include <stdint.h>

#include "tg_math_float.h"

#if defined __clang__
typedef int32_t tg_float_rank;
typedef int64_t tg_double_rank;

/* The bits of numbers from 0 on are in order; those of negative ones are, once all but the sign are turned round. */
TG_INLINE int32_t tg_in_order(int32_t bits) { return bits ^ ((bits >> 31) & INT32_MAX); }
TG_INLINE int64_t tg_in_order_double(int64_t bits) { return bits ^ ((bits >> 63) & INT64_MAX); }

TG_INLINE tg_float_rank tg_rank_float(float x) { return tg_in_order((int32_t)tg_bits(x)); }
TG_INLINE float tg_of_rank_float(tg_float_rank rank) { return tg_from_bits((uint32_t)tg_in_order(rank)); }
TG_INLINE tg_double_rank tg_rank_double(double x) { return tg_in_order_double((int64_t)tg_bits_double(x)); }
TG_INLINE double tg_of_rank_double(tg_double_rank rank)
{
    return tg_from_bits_double((uint64_t)tg_in_order_double(rank));
}
#else
typedef float tg_float_rank;
typedef double tg_double_rank;

TG_INLINE tg_float_rank tg_rank_float(float x) { return x; }
TG_INLINE float tg_of_rank_float(tg_float_rank rank) { return rank; }
TG_INLINE tg_double_rank tg_rank_double(double x) { return x; }
TG_INLINE double tg_of_rank_double(tg_double_rank rank) { return rank; }
#endif

#define TG_DEFINE_BEST(name, better, type, rank_type, rank_of)      \
    TG_INLINE rank_type name(rank_type best, type x)                \
    {                                                               \
        const rank_type rank = rank_of(x);                          \
        return rank better best ? rank : best;                      \
    }

TG_DEFINE_BEST(tg_max_rank_float, >, float, tg_float_rank, tg_rank_float)
TG_DEFINE_BEST(tg_min_rank_float, <, float, tg_float_rank, tg_rank_float)
TG_DEFINE_BEST(tg_max_rank_double, >, double, tg_double_rank, tg_rank_double)
TG_DEFINE_BEST(tg_min_rank_double, <, double, tg_double_rank, tg_rank_double)

#endif
