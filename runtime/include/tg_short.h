/* Floating-point numbers of 16 bits. Memory holds their bits, all arithmetic is done in float: these convert, rounding
 * to nearest, ties to even. A NaN keeps its sign only. */
#ifndef TG_SHORT_H
#define TG_SHORT_H

TG_INLINE uint16_t tg_to_half(float x)
{
    const uint32_t bits = tg_bits(x), sign = bits & 0x80000000u, size = bits ^ sign;
    const uint32_t too_large = size > 0x7f800000u ? 0x7e00u : 0x7c00u; /* from 65536 on: infinity, or NaN */
    /* Below 2^-14 a half has fixed steps, those of a float at 0.5; the addition rounds. */
    const uint32_t subnormal = tg_bits(tg_from_bits(size < 0x38800000u ? size : 0u) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (size - 0x38000000u + 0x0fffu + (size >> 13 & 1u)) >> 13;
    const uint32_t half = size >= 0x47800000u ? too_large : size < 0x38800000u ? subnormal : normal;
    return (uint16_t)(sign >> 16 | half);
}

TG_INLINE float tg_from_half(uint16_t half)
{
    const uint32_t size = (uint32_t)(half & 0x7fffu) << 13, exponent = size & 0x0f800000u;
    const uint32_t subnormal = tg_bits(tg_from_bits(size + 0x38800000u) - 0x1p-14f);
    const uint32_t more = exponent == 0x0f800000u ? 0x70000000u : 0x38000000u; /* infinity and NaN, or a number */
    return tg_from_bits((uint32_t)(half & 0x8000u) << 16 | (exponent ? size + more : subnormal));
}

TG_INLINE uint16_t tg_to_bfloat(float x)
{
    const uint32_t bits = tg_bits(x), is_nan = (bits & 0x7fffffffu) > 0x7f800000u;
    return (uint16_t)(is_nan ? (bits >> 16 & 0x8000u) | 0x7fc0u : (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

TG_INLINE float tg_from_bfloat(uint16_t bfloat)
{
    return tg_from_bits((uint32_t)bfloat << 16);
}

#endif
