/* How a kernel shares its work among the threads of the process. The pool is a library of its own (runtime/pool.c), one
 * for all programs of a process; a program that nobody has given one to computes everything in the caller. */
#ifndef TG_POOL_H
#define TG_POOL_H

/* The part [begin, end) of a kernel's work. `scratch` is memory of the thread that computes it. */
typedef void tg_share(void *const *arguments, char *scratch, long begin, long end);

/* What is to be shared: [0, extent), in pieces that begin at multiples of `grain`. The caller computes with `scratch`,
 * other threads have `scratch_bytes` of their own. `worth` tells how long all of it takes, in units of 2.5 us: those
 * that a piece should have at least. */
typedef struct
{
    tg_share *share;
    void *const *arguments;
    char *scratch;
    long scratch_bytes, extent, grain, worth;
} tg_work;

/* Shares work among up to so many threads, the calling one included, and returns when all of it is done. */
typedef void tg_pool_run(const tg_work *work, long threads);

/* What a process says of its threads: how many may compute at a time, and who starts them. */
typedef struct
{
    long threads;
    tg_pool_run *run;
} tg_threads;

/* Whoever loads a program stores the address of the process's record here. Programs that are linked together have one
 * variable. */
extern const tg_threads *tracegrad_threads;
__attribute__((visibility("default"), weak)) const tg_threads *tracegrad_threads;

/* So many elements are packed in 2.5 us. */
enum
{
    TG_PACKED = 10000
};

/* `count` things in pieces of `size`: how many pieces. */
#define TG_PIECES(count, size) (((count) + (size) - 1) / (size))

__attribute__((always_inline, unused)) static inline void tg_parallel(tg_work work)
{
    const tg_threads *const of = tracegrad_threads;
    const long threads = of ? __atomic_load_n(&of->threads, __ATOMIC_ACQUIRE) : 1;
    if (threads > 1 && work.extent > work.grain && work.worth > 1)
        of->run(&work, threads);
    else
        work.share(work.arguments, work.scratch, 0, work.extent);
}

#endif
