/* Scalar mathematics for generated code: tg_expf for float, tg_exp for double, tg_mod_int32_t for integers. */
#ifndef TG_MATH_H
#define TG_MATH_H

#include "tg_math_double.h"
#include "tg_math_float.h"
#include "tg_math_integer.h"
#include "tg_math_wide.h"
#include "tg_rank.h"
#include "tg_short.h"

#endif
