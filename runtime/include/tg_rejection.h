/* Random numbers by rejection: Poisson, binomial and gamma numbers. See ops/sampling/rejection.py, which does the same. */
#ifndef TG_REJECTION_H
#define TG_REJECTION_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tg_random.h"

#define TG_REJECTION __attribute__((unused, noinline)) static

typedef struct
{
    int32_t state[TG_MT_STATE];
    double normal;
    int has_normal;
} tg_stream;

TG_REJECTION uint32_t tg_stream_word(tg_stream *stream)
{
    if (stream->state[TG_MT_WORDS] == TG_MT_WORDS)
    {
        tg_mt_refill((uint32_t *)stream->state);
        stream->state[TG_MT_WORDS] = 0;
    }
    return tg_mt_temper((uint32_t)stream->state[stream->state[TG_MT_WORDS]++]);
}

TG_REJECTION double tg_stream_uniform(tg_stream *stream)
{
    const uint32_t high = tg_stream_word(stream);
    return tg_uniform53((int32_t)high, (int32_t)tg_stream_word(stream));
}

TG_REJECTION double tg_stream_normal(tg_stream *stream)
{
    if (stream->has_normal)
    {
        stream->has_normal = 0;
        return stream->normal;
    }
    const double angle = 0x1.921fb54442d18p+2 * tg_stream_uniform(stream);
    const double radius = sqrt(-2.0 * log1p(-tg_stream_uniform(stream)));
    stream->normal = radius * sin(angle);
    stream->has_normal = 1;
    return radius * cos(angle);
}

/* ----------------------------------------------------------------------------------------------------- the recipes */

/* Hoermann's PTRS for rates of 10 and more; below, how many uniform numbers have a product above exp(-rate). */
TG_REJECTION double tg_draw_poisson(tg_stream *stream, double rate)
{
    if (!(rate >= 0.0 && rate < 0x1p63))
        return NAN;
    if (rate >= 10.0)
    {
        const double b = 0.931 + 2.53 * sqrt(rate);
        const double a = -0.059 + 0.02483 * b;
        const double log_inverse_alpha = log(1.1239 + 1.1328 / (b - 3.4));
        const double v_r = 0.9277 - 3.6224 / (b - 2.0);
        for (;;)
        {
            const double u = tg_stream_uniform(stream) - 0.5;
            const double v = tg_stream_uniform(stream);
            const double us = 0.5 - fabs(u);
            const double k = us == 0.0 ? -1.0 : floor((2.0 * a / us + b) * u + rate + 0.43);
            if (us >= 0.07 && v <= v_r)
                return k;
            if (k < 0.0 || (us < 0.013 && v > us))
                continue;
            if (log(v) + log_inverse_alpha - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1.0))
                return k;
        }
    }
    if (rate == 0.0)
        return 0.0;
    const double least = exp(-rate);
    double count = 0.0;
    for (double product = tg_stream_uniform(stream); product > least; product *= tg_stream_uniform(stream))
        count += 1.0;
    return count;
}

/* What Stirling's formula leaves of log(k!). */
TG_REJECTION double tg_stirling_tail(double k)
{
    static const double tails[10] = {
        0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
        0.0138761288230707, 0.0118967099458917, 0.010411265261972, 0.00925546218271273, 0.00833056343336287};
    const double square = (k + 1.0) * (k + 1.0);
    return k <= 9.0 ? tails[(int)k] : (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0);
}

/* Successes of `count` trials with p <= 0.5: Hoermann's BTRS where 10 or more are expected, else geometric numbers. */
TG_REJECTION double tg_draw_successes(tg_stream *stream, double count, double p)
{
    if (count * p < 10.0)
    {
        const double log_q = log1p(-p);
        double successes = 0.0;
        for (double trials = ceil(log(tg_stream_uniform(stream)) / log_q); trials <= count; successes += 1.0)
            trials += ceil(log(tg_stream_uniform(stream)) / log_q);
        return successes;
    }
    const double deviation = sqrt(count * p * (1.0 - p));
    const double b = 1.15 + 2.53 * deviation;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double c = count * p + 0.5;
    const double v_r = 0.92 - 4.2 / b;
    const double r = p / (1.0 - p);
    const double alpha = (2.83 + 5.1 / b) * deviation;
    const double m = floor((count + 1.0) * p);
    for (;;)
    {
        const double u = tg_stream_uniform(stream) - 0.5;
        const double v = tg_stream_uniform(stream);
        const double us = 0.5 - fabs(u);
        const double k = us == 0.0 ? -1.0 : floor((2.0 * a / us + b) * u + c);
        if (us >= 0.07 && v <= v_r)
            return k;
        if (k < 0.0 || k > count)
            continue;
        double bound = (m + 0.5) * log((m + 1.0) / (r * (count - m + 1.0)));
        bound += (count + 1.0) * log((count - m + 1.0) / (count - k + 1.0));
        bound += (k + 0.5) * log(r * (count - k + 1.0) / (k + 1.0));
        bound += tg_stirling_tail(m) + tg_stirling_tail(count - m) - tg_stirling_tail(k) - tg_stirling_tail(count - k);
        if (log(v * alpha / (a / (us * us) + b)) <= bound)
            return k;
    }
}

TG_REJECTION double tg_draw_binomial(tg_stream *stream, double count, double p)
{
    if (!(count > 0.0 && count < 0x1p63 && p > 0.0))
        return count <= 0.0 || p <= 0.0 ? 0.0 : NAN;
    if (p >= 1.0)
        return count;
    return p > 0.5 ? count - tg_draw_successes(stream, count, 1.0 - p) : tg_draw_successes(stream, count, p);
}

/* Marsaglia and Tsang: the gamma number for d + 1 / 3 times a power of a uniform number; 0 for d = 0. */
TG_REJECTION double tg_draw_gamma(tg_stream *stream, double d, double exponent)
{
    if (!(d > 0.0 && d < INFINITY))
        return d == 0.0 ? 0.0 : NAN;
    const double scale = exponent == 0.0 ? 1.0 : pow(1.0 - tg_stream_uniform(stream), exponent);
    const double c = 1.0 / sqrt(9.0 * d);
    for (;;)
    {
        double x, y;
        do
        {
            x = tg_stream_normal(stream);
            y = 1.0 + c * x;
        } while (y <= 0.0);
        const double v = y * y * y;
        const double u = 1.0 - tg_stream_uniform(stream);
        const double square = x * x;
        if (u < 1.0 - (double)0.0331f * square * square || log(u) < 0.5 * square + d * (1.0 - v + log(v)))
            return scale * d * v;
    }
}

/* ------------------------------------------------------- rows of numbers, behind the state and what is ready then */

TG_REJECTION tg_stream tg_stream_of(const int32_t *state, const double *cached)
{
    tg_stream stream;
    memcpy(stream.state, state, sizeof stream.state);
    stream.normal = cached[0];
    stream.has_normal = cached[1] != 0.0;
    return stream;
}

TG_REJECTION void tg_stream_end(const tg_stream *stream, double *out)
{
    for (int i = 0; i < TG_MT_STATE; ++i)
    {
        out[i] = (double)stream->state[i];
    }
    out[TG_MT_STATE] = stream->has_normal ? stream->normal : 0.0;
    out[TG_MT_STATE + 1] = (double)stream->has_normal;
}

TG_REJECTION void tg_rejection_poisson(
    double *restrict out, const int32_t *restrict state, const double *restrict cached, const double *restrict rates,
    long count)
{
    tg_stream stream = tg_stream_of(state, cached);
    for (long i = 0; i < count; ++i)
    {
        out[TG_MT_STATE + 2 + i] = tg_draw_poisson(&stream, rates[i]);
    }
    tg_stream_end(&stream, out);
}

#define TG_DEFINE_ROW(name)                                                                                     \
    TG_REJECTION void tg_rejection_##name(                                                                      \
        double *restrict out, const int32_t *restrict state, const double *restrict cached,                     \
        const double *restrict x, const double *restrict y, long count)                                         \
    {                                                                                                           \
        tg_stream stream = tg_stream_of(state, cached);                                                         \
        for (long i = 0; i < count; ++i)                                                                        \
        {                                                                                                       \
            out[TG_MT_STATE + 2 + i] = tg_draw_##name(&stream, x[i], y[i]);                                     \
        }                                                                                                       \
        tg_stream_end(&stream, out);                                                                            \
    }

TG_DEFINE_ROW(binomial)
TG_DEFINE_ROW(gamma)

#endif
