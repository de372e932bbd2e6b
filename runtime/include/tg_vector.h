/* Vectors of the machine's full width, written with GCC's vector extensions: the same source serves AVX-512, AVX,
 * SSE and NEON. Kernels name their tile sizes in lanes, so nothing else in the generated C knows the width. */
#ifndef TG_VECTOR_H
#define TG_VECTOR_H

#include <string.h> /* the blocked products clear their sums with memset */

#include "tg_inline.h"

#if defined __AVX512F__
#define TG_VECTOR_BYTES 64
#define TG_VECTOR_REGISTERS 32
#elif defined __AVX__
#define TG_VECTOR_BYTES 32
#define TG_VECTOR_REGISTERS 16
#elif defined __aarch64__
#define TG_VECTOR_BYTES 16
#define TG_VECTOR_REGISTERS 32
#else
#define TG_VECTOR_BYTES 16
#define TG_VECTOR_REGISTERS 16
#endif

/* Aligned to one element and allowed to alias: such a pointer may read any row of an array. */
typedef float tg_float_vector __attribute__((vector_size(TG_VECTOR_BYTES), aligned(4), may_alias));
typedef double tg_double_vector __attribute__((vector_size(TG_VECTOR_BYTES), aligned(8), may_alias));

enum
{
    TG_FLOAT_LANES = TG_VECTOR_BYTES / 4,
    TG_DOUBLE_LANES = TG_VECTOR_BYTES / 8
};

/* The shape of a register tile: its width in vectors, and the rows that then fit into the register file beside one
 * row of B and one broadcast element of A. The rows are spread evenly, so that no thin tile is left at the end. */
#define TG_TILE_VECTORS(columns, lanes) \
    ((columns) <= (lanes) ? 1 : (columns) > 2 * (lanes) && (columns) <= 3 * (lanes) ? 3 : 2)
#define TG_TILE_MOST_ROWS(vectors) \
    ((vectors) == 1 ? 14 : (TG_VECTOR_REGISTERS - 1 - (vectors)) / (vectors))
#define TG_TILE_COUNT(rows, vectors) (((rows) + TG_TILE_MOST_ROWS(vectors) - 1) / TG_TILE_MOST_ROWS(vectors))
#define TG_TILE_ROWS(rows, vectors) (((rows) + TG_TILE_COUNT(rows, vectors) - 1) / TG_TILE_COUNT(rows, vectors))

/* Functions that share their parameters need not read all of them. */
#define TG_UNUSED __attribute__((unused))

/* Only the inner product may fuse a multiplication and an addition: each product is then exact. The file is compiled
 * with -ffp-contract=off, so that fused element-wise code rounds as the eager operations do. A function that is
 * compiled with other options is never inlined into its caller. */
#if defined __clang__
#define TG_FUSED __attribute__((noinline))
#define TG_FUSED_BODY _Pragma("clang fp contract(fast)")
#else
#define TG_FUSED __attribute__((noinline, optimize("O3", "fp-contract=fast")))
#define TG_FUSED_BODY
#endif

/* Lanes of x and y in turns: the lower halves (x0 y0 x1 y1 ...) and the upper halves. */
#define TG_LOWER_2(x, y) __builtin_shufflevector(x, y, 0, 2)
#define TG_UPPER_2(x, y) __builtin_shufflevector(x, y, 1, 3)
#define TG_LOWER_4(x, y) __builtin_shufflevector(x, y, 0, 4, 1, 5)
#define TG_UPPER_4(x, y) __builtin_shufflevector(x, y, 2, 6, 3, 7)
#define TG_LOWER_8(x, y) __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11)
#define TG_UPPER_8(x, y) __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15)
#define TG_LOWER_16(x, y) \
    __builtin_shufflevector(x, y, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define TG_UPPER_16(x, y) \
    __builtin_shufflevector(x, y, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)

#if TG_VECTOR_BYTES == 64
#define TG_FLOAT_LOWER TG_LOWER_16
#define TG_FLOAT_UPPER TG_UPPER_16
#define TG_DOUBLE_LOWER TG_LOWER_8
#define TG_DOUBLE_UPPER TG_UPPER_8
#elif TG_VECTOR_BYTES == 32
#define TG_FLOAT_LOWER TG_LOWER_8
#define TG_FLOAT_UPPER TG_UPPER_8
#define TG_DOUBLE_LOWER TG_LOWER_4
#define TG_DOUBLE_UPPER TG_UPPER_4
#else
#define TG_FLOAT_LOWER TG_LOWER_4
#define TG_FLOAT_UPPER TG_UPPER_4
#define TG_DOUBLE_LOWER TG_LOWER_2
#define TG_DOUBLE_UPPER TG_UPPER_2
#endif

/* to[c * to_stride + r] = from[r * from_stride + c] for a square of lanes x lanes elements; rows from `rows` on are
 * taken as zero and not read. Taking row i and row i + half in turns, once for each power of two, is a transposition.
 * The square stays in registers only if every loop unrolls, hence the pragmas. */
#define TG_DEFINE_TRANSPOSE(name, type, vector, lanes, lower, upper)                                    \
    TG_STATIC void name(const type *restrict from, long from_stride, long rows,                         \
                        type *restrict to, long to_stride)                                              \
    {                                                                                                   \
        vector square[lanes], mixed[lanes];                                                             \
        _Pragma("GCC unroll 16") for (long r = 0; r < lanes; ++r)                                       \
            square[r] = r < rows ? *(const vector *)(from + r * from_stride) : (vector){0};             \
        _Pragma("GCC unroll 4") for (long width = 1; width < lanes; width *= 2)                         \
        {                                                                                               \
            _Pragma("GCC unroll 8") for (long r = 0; r < lanes / 2; ++r)                                \
            {                                                                                           \
                mixed[2 * r] = lower(square[r], square[r + lanes / 2]);                                 \
                mixed[2 * r + 1] = upper(square[r], square[r + lanes / 2]);                             \
            }                                                                                           \
            _Pragma("GCC unroll 16") for (long r = 0; r < lanes; ++r)                                   \
                square[r] = mixed[r];                                                                   \
        }                                                                                               \
        _Pragma("GCC unroll 16") for (long r = 0; r < lanes; ++r)                                       \
            *(vector *)(to + r * to_stride) = square[r];                                                \
    }

TG_DEFINE_TRANSPOSE(tg_float_transpose, float, tg_float_vector, TG_FLOAT_LANES, TG_FLOAT_LOWER, TG_FLOAT_UPPER)
TG_DEFINE_TRANSPOSE(tg_double_transpose, double, tg_double_vector, TG_DOUBLE_LANES, TG_DOUBLE_LOWER, TG_DOUBLE_UPPER)

#endif
