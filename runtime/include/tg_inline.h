/* How the functions of these headers are declared. */
#ifndef TG_INLINE_H
#define TG_INLINE_H

/* A loop of calls becomes vector code only where every call is inlined, and gcc's own judgement stops after a few. */
#define TG_INLINE __attribute__((always_inline, unused)) static inline

#endif
