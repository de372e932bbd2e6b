/* Sorting by keys: numbers as unsigned integers in the same order, each with its place, so that no two are equal and
 * every order is the stable one. NaN is the largest number, -0 equals 0. A descending order turns the keys over. */
#ifndef TG_SORT_H
#define TG_SORT_H

#include <stdint.h>
#include <string.h>

#include "tg_inline.h"
#include "tg_math_float.h"

/* ---- Keys ----------------------------------------------------------------------------------------------------- */

/* tg_key(x): larger for larger numbers, the largest for NaN. */
#define tg_key(x)               \
    _Generic((x),               \
        float: tg_key_float,    \
        double: tg_key_double,  \
        int32_t: tg_key_int,    \
        int64_t: tg_key_long,   \
        uint8_t: tg_key_byte)(x)

TG_INLINE uint32_t tg_key_float(float x)
{
    const uint32_t u = tg_bits(x + 0.0f); /* -0 becomes 0 */
    const uint32_t key = u >> 31 ? ~u : u | UINT32_C(0x80000000);
    return x != x ? UINT32_MAX : key;
}

TG_INLINE uint64_t tg_key_double(double x)
{
    const uint64_t u = tg_bits_double(x + 0.0);
    const uint64_t key = u >> 63 ? ~u : u | UINT64_C(0x8000000000000000);
    return x != x ? UINT64_MAX : key;
}

TG_INLINE uint32_t tg_key_int(int32_t x) { return (uint32_t)x ^ UINT32_C(0x80000000); }
TG_INLINE uint64_t tg_key_long(int64_t x) { return (uint64_t)x ^ UINT64_C(0x8000000000000000); }
TG_INLINE uint32_t tg_key_byte(uint8_t x) { return x; }

/* ---- Pairs of a key and a place ------------------------------------------------------------------------------- */

typedef struct
{
    uint32_t key, place;
} tg_pair_32; /* for arrays of less than 2^32 elements */

typedef struct
{
    uint64_t key, place;
} tg_pair_64;

/* ---- Sorting -------------------------------------------------------------------------------------------------- */

enum
{
    TG_SHORT_ROW = 32, /* sorted by insertion */
    TG_MOST_BUCKETS = 2048
};

/* tg_sorted(pairs, spare, count, wanted): the first `wanted` of `count` pairs in order, in one of the two arrays. The
 * pairs come in the order of their places. Few are picked by a heap, many are sorted by digits of the key, the last
 * digit first; a digit that all keys share costs one look at them. */
#define TG_DEFINE_SORT(pair, key_bits)                                                                       \
    TG_INLINE int pair##_below(pair a, pair b)                                                               \
    {                                                                                                        \
        return a.key < b.key || (a.key == b.key && a.place < b.place);                                       \
    }                                                                                                        \
    TG_INLINE void pair##_sink(pair *heap, long size, long at, pair new)                                     \
    {                                                                                                        \
        for (long child = 2 * at + 1; child < size; child = 2 * at + 1)                                      \
        {                                                                                                    \
            child += child + 1 < size && pair##_below(heap[child], heap[child + 1]);                         \
            if (!pair##_below(new, heap[child]))                                                             \
                break;                                                                                       \
            heap[at] = heap[child];                                                                          \
            at = child;                                                                                      \
        }                                                                                                    \
        heap[at] = new;                                                                                      \
    }                                                                                                        \
    TG_STATIC pair *pair##_picked(pair *pairs, long count, long wanted)                                      \
    {                                                                                                        \
        for (long at = wanted / 2; at-- > 0;)                                                                \
            pair##_sink(pairs, wanted, at, pairs[at]);                                                       \
        for (long k = wanted; k < count; ++k)                                                                \
            if (pairs[k].key < pairs[0].key) /* an equal one stands further on */                            \
                pair##_sink(pairs, wanted, 0, pairs[k]);                                                     \
        for (long size = wanted; size-- > 1;)                                                                \
        {                                                                                                    \
            const pair last = pairs[size];                                                                   \
            pairs[size] = pairs[0];                                                                          \
            pair##_sink(pairs, size, 0, last);                                                               \
        }                                                                                                    \
        return pairs;                                                                                        \
    }                                                                                                        \
    TG_STATIC pair *pair##_inserted(pair *pairs, long count)                                                 \
    {                                                                                                        \
        for (long k = 1; k < count; ++k)                                                                     \
        {                                                                                                    \
            const pair new = pairs[k];                                                                       \
            long at = k;                                                                                     \
            for (; at > 0 && new.key < pairs[at - 1].key; --at)                                              \
                pairs[at] = pairs[at - 1];                                                                   \
            pairs[at] = new;                                                                                 \
        }                                                                                                    \
        return pairs;                                                                                        \
    }                                                                                                        \
    TG_STATIC pair *pair##_by_digits(pair *from, pair *to, long count)                                       \
    {                                                                                                        \
        long starts[TG_MOST_BUCKETS];                                                                        \
        const int bits = count < 4096 ? 8 : 11;                                                              \
        const long buckets = 1L << bits;                                                                     \
        for (int shift = 0; shift < key_bits; shift += bits)                                                 \
        {                                                                                                    \
            memset(starts, 0, sizeof(long) * buckets);                                                       \
            for (long k = 0; k < count; ++k)                                                                 \
                ++starts[(from[k].key >> shift) & (buckets - 1)];                                            \
            if (starts[(from[0].key >> shift) & (buckets - 1)] == count)                                     \
                continue;                                                                                    \
            long start = 0;                                                                                  \
            for (long bucket = 0; bucket < buckets; ++bucket)                                                \
            {                                                                                                \
                const long size = starts[bucket];                                                            \
                starts[bucket] = start;                                                                      \
                start += size;                                                                               \
            }                                                                                                \
            for (long k = 0; k < count; ++k)                                                                 \
                to[starts[(from[k].key >> shift) & (buckets - 1)]++] = from[k];                              \
            pair *const sorted = to;                                                                         \
            to = from;                                                                                       \
            from = sorted;                                                                                   \
        }                                                                                                    \
        return from;                                                                                         \
    }                                                                                                        \
    TG_STATIC pair *pair##_sorted(pair *pairs, pair *spare, long count, long wanted)                         \
    {                                                                                                        \
        if (count <= TG_SHORT_ROW)                                                                           \
            return pair##_inserted(pairs, count);                                                            \
        return wanted < count / 16 ? pair##_picked(pairs, count, wanted) : pair##_by_digits(pairs, spare, count); \
    }

TG_DEFINE_SORT(tg_pair_32, 32)
TG_DEFINE_SORT(tg_pair_64, 64)

#endif
