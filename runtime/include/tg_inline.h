/* How the functions of these headers are declared. */
#ifndef TG_INLINE_H
#define TG_INLINE_H

/* A loop of calls becomes vector code only where every call is inlined, and gcc's own judgement stops after a few. */
#define TG_INLINE __attribute__((always_inline, unused)) static inline

/* A function that stays one. Where gcc does not optimise, it keeps static functions that nothing calls, unless they are
 * declared inline: they took a third of the time of a small program. */
#ifdef __OPTIMIZE__
#define TG_STATIC __attribute__((unused)) static
#else
#define TG_STATIC __attribute__((unused)) static inline
#endif

/* A number that the compiler does not know. */
TG_INLINE long tg_hidden(long number)
{
    __asm__("" : "+r"(number));
    return number;
}

#endif
