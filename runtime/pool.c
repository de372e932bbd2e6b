/* The worker pool of a process: kernels share their work among the calling thread and workers.
 *
 * A region is one call of `tracegrad_pool_run`. Its work is split statically: each thread has a range of its own, the
 * same in each region of the same size, so that it finds in its cache what it wrote before. Who is done takes pieces
 * of the others' ranges that nobody has begun: the caller never waits for a thread that is asleep or has no CPU.
 * Which thread computes a piece cannot be seen in the result.
 *
 * Workers start with the first region that wants them. They look out for regions for some time, then park. Waking them
 * takes longer than many kernels do: it is done when the kernels that ran without them have lost as much time.
 *
 * One region at a time: a second caller computes alone. A child process has no workers after fork, and starts its own.
 */
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tg_pool.h"

#if !defined __x86_64__
#include <fenv.h>
#endif

#define EXPORTED __attribute__((visibility("default")))

enum
{
    MOST_THREADS = 512,
    PIECES = 4,                  /* of the range of a thread: what is left to others when one is late */
    STACK_BYTES = 8 << 20,       /* kernels keep rows on the stack */
    WORTH_NS = 2500,             /* the unit of `worth` */
    SPIN_NS = 100000,            /* longer than Python takes from one step to the next */
    YIELD_NS = 20000,            /* from then on a worker that looks out lets others run */
    WORTH_WAKING_NS = 40000,     /* what waking a parked worker takes */
    LINE = 128                   /* two cache lines: processors fetch them in pairs */
};

/* What one thread has of a region, and where it is. */
typedef struct
{
    _Alignas(LINE) atomic_long next; /* the first grain of its range that nobody has begun */
    long end;
    _Alignas(LINE) atomic_int inside; /* it looks at the region, which must stay */
    atomic_int parked;
} member;

static member members[MOST_THREADS];

static struct
{
    /* The region. Written while it is closed and nobody is inside. */
    tg_work work;
    long threads, piece;
    uint64_t rounding;
    _Alignas(LINE) atomic_ulong epoch; /* odd while a region is open */
    /* The caller's, who holds `busy`. */
    _Alignas(LINE) atomic_int busy;
    long workers, missed, left;
    int refused; /* the system gives no more threads */
    atomic_long regions;
    atomic_long taken; /* pieces that workers have computed */
} pool;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;

static inline void relax(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ __volatile__("yield");
#endif
}

static long now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000L + time.tv_nsec;
}

/* How a thread rounds, and whether it flushes small numbers to zero; not which exceptions it has seen. */
static uint64_t rounding(void)
{
#if defined __x86_64__
    return __builtin_ia32_stmxcsr() & ~0x3Fu;
#elif defined __aarch64__
    uint64_t control;
    __asm__ __volatile__("mrs %0, fpcr" : "=r"(control));
    return control;
#else
    return (uint64_t)fegetround();
#endif
}

static void round_like(uint64_t wanted)
{
    if (rounding() == wanted)
        return;
#if defined __x86_64__
    __builtin_ia32_ldmxcsr((unsigned)wanted);
#elif defined __aarch64__
    __asm__ __volatile__("msr fpcr, %0" : : "r"(wanted));
#else
    fesetround((int)wanted);
#endif
}

/* Compute pieces until none is left, of the own range first. Returns how many. */
static long work(long own, char *scratch)
{
    const tg_work *const all = &pool.work;
    const long threads = pool.threads, piece = pool.piece;
    long done = 0;
    for (long turn = 0; turn < threads; ++turn)
    {
        member *const of = &members[(own + turn) % threads];
        while (atomic_load_explicit(&of->next, memory_order_relaxed) < of->end)
        {
            const long first = atomic_fetch_add_explicit(&of->next, piece, memory_order_relaxed);
            if (first >= of->end)
                break;
            const long last = first + piece < of->end ? first + piece : of->end;
            const long end = last * all->grain < all->extent ? last * all->grain : all->extent;
            all->share(all->arguments, scratch, first * all->grain, end);
            ++done;
        }
    }
    return done;
}

/* The epoch of a region that was not there before; parks when none has come since `since`. */
static unsigned long next_region(long own, unsigned long seen, long since)
{
    for (;;)
    {
        for (long turn = 1;; ++turn)
        {
            const unsigned long epoch = atomic_load_explicit(&pool.epoch, memory_order_acquire);
            if (epoch != seen && epoch & 1)
                return epoch;
            relax();
            if (turn % 64)
                continue;
            const long waited = now() - since;
            if (waited > SPIN_NS)
                break;
            if (waited > YIELD_NS)
                sched_yield();
        }
        pthread_mutex_lock(&lock);
        atomic_store(&members[own].parked, 1);
        unsigned long epoch = atomic_load(&pool.epoch);
        while (epoch == seen || !(epoch & 1))
        {
            pthread_cond_wait(&wake, &lock);
            epoch = atomic_load(&pool.epoch);
        }
        atomic_store(&members[own].parked, 0);
        pthread_mutex_unlock(&lock);
        return epoch;
    }
}

/* Memory of a worker, at least `bytes` of it; NULL if there is none. */
static char *enough(char *scratch, long *have, long bytes)
{
    if (bytes <= *have)
        return scratch;
    free(scratch);
    void *block = NULL;
    *have = posix_memalign(&block, 64, (size_t)bytes) ? 0 : bytes;
    return *have ? block : NULL;
}

static void *worker(void *place)
{
    const long own = (long)place;
    unsigned long seen = 0;
    long since = now(), have = 0;
    char *scratch = NULL;
    for (;;)
    {
        seen = next_region(own, seen, since);
        atomic_store(&members[own].inside, 1); /* before the epoch is read: the caller does both in the other order */
        if (atomic_load(&pool.epoch) == seen && own < pool.threads)
        {
            scratch = enough(scratch, &have, pool.work.scratch_bytes);
            if (scratch || !pool.work.scratch_bytes)
            {
                round_like(pool.rounding);
                const long done = work(own, scratch);
                atomic_fetch_add_explicit(&pool.taken, done, memory_order_relaxed);
            }
            since = now();
        }
        atomic_store_explicit(&members[own].inside, 0, memory_order_release);
    }
    return NULL;
}

static int started(long place)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;
    if (pthread_attr_init(&attributes))
        return 0;
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&thread, &attributes, worker, (void *)place);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return !failed;
}

/* The threads of a region: those that have something to do, without those that would have to be woken for little. */
static long gathered(long pieces, long worth, long threads)
{
    threads = threads < pieces ? threads : pieces;
    threads = threads < worth ? threads : worth;
    threads = threads < MOST_THREADS ? threads : MOST_THREADS;
    while (pool.workers < threads - 1 && !pool.refused)
    {
        pool.refused = !started(pool.workers + 1);
        pool.workers += !pool.refused;
    }
    threads = threads <= pool.workers ? threads : pool.workers + 1;
    long awake = 1;
    while (awake < threads && !atomic_load_explicit(&members[awake].parked, memory_order_relaxed))
        ++awake;
    if (awake == threads)
        return threads;
    const long begun = now();
    if (begun - pool.left > SPIN_NS)
        pool.missed = 0;
    pool.left = begun;
    pool.missed += worth < WORTH_WAKING_NS ? worth * WORTH_NS / 2 : WORTH_WAKING_NS;
    if (pool.missed < WORTH_WAKING_NS)
        return awake;
    pool.missed = 0;
    return threads;
}

static void opened(long grains)
{
    for (long place = 0; place < pool.threads; ++place)
    {
        const long first = grains * place / pool.threads;
        atomic_store_explicit(&members[place].next, first, memory_order_relaxed);
        members[place].end = grains * (place + 1) / pool.threads;
    }
    atomic_fetch_add(&pool.epoch, 1);
    int parked = 0;
    for (long place = 1; place < pool.threads; ++place)
        parked |= atomic_load(&members[place].parked);
    if (parked)
    {
        pthread_mutex_lock(&lock);
        pthread_cond_broadcast(&wake);
        pthread_mutex_unlock(&lock);
    }
}

/* All pieces are begun; wait until they are done. */
static void closed(void)
{
    atomic_fetch_add(&pool.epoch, 1);
    for (long place = 1; place <= pool.workers; ++place)
    {
        for (long turn = 1; atomic_load(&members[place].inside); ++turn)
        {
            relax();
            if (turn % 4096 == 0)
                sched_yield();
        }
    }
}

EXPORTED tg_pool_run tracegrad_pool_run;
EXPORTED void tracegrad_pool_counts(long *counts);

void tracegrad_pool_run(const tg_work *all, long threads)
{
    const long grains = TG_PIECES(all->extent, all->grain);
    if (atomic_exchange_explicit(&pool.busy, 1, memory_order_acquire))
    {
        all->share(all->arguments, all->scratch, 0, all->extent);
        return;
    }
    threads = gathered(grains, all->worth, threads);
    if (threads > 1)
    {
        pool.work = *all, pool.threads = threads, pool.rounding = rounding();
        const long piece = grains / threads / PIECES;
        pool.piece = piece ? piece : 1;
        opened(grains);
        work(0, all->scratch);
        closed();
        atomic_fetch_add_explicit(&pool.regions, 1, memory_order_relaxed);
    }
    else
        all->share(all->arguments, all->scratch, 0, all->extent);
    atomic_store_explicit(&pool.busy, 0, memory_order_release);
}

/* For tests: workers, regions that more than one thread could take part in, pieces that workers have computed. */
void tracegrad_pool_counts(long *counts)
{
    counts[0] = pool.workers;
    counts[1] = atomic_load(&pool.regions);
    counts[2] = atomic_load(&pool.taken);
}

/* A child process has none of its parent's threads. */
static void forget(void)
{
    memset((void *)&pool, 0, sizeof pool);
    memset((void *)members, 0, sizeof members);
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    wake = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(NULL, NULL, forget);
}
