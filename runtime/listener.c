/* What `sys.setprofile` does with a function of Python, where most code has nothing to say: events of code that is
 * known to be quiet end here, in a tenth of the time that it takes to call the function.
 *
 * Python's own functions are handed over as pointers, so that neither its headers nor its symbols have to be there.
 * Its lock is held wherever this is called: the library is loaded as a ctypes.PyDLL.
 */
#include <stdint.h>
#include <stdlib.h>

#define EXPORTED __attribute__((visibility("default")))

typedef struct Object Object;
typedef int Listener(Object *self, Object *frame, int what, Object *argument);
typedef struct
{
    Object *(*frame_get_code)(Object *frame); /* a new reference */
    Object *(*call_function)(Object *function, const char *format, ...);
    void (*dec_ref)(Object *object);
    void (*set_profile)(Listener *listener, Object *self);
} Python;

EXPORTED void tracegrad_listener_python(const Python *functions);
EXPORTED int tracegrad_listener_add(uintptr_t code);
EXPORTED void tracegrad_listener_begin(Object *note);

enum
{
    CALL = 0,
    RETURN = 3,
    C_CALL = 4 /* as Python numbers them */
};

static Python python;
static uintptr_t *quiet; /* addresses of code objects, by open addressing; 0 is an empty place */
static uintptr_t places; /* a power of 2 */
static uintptr_t taken;

static uintptr_t *place_of(uintptr_t *table, uintptr_t mask, uintptr_t code)
{
    uintptr_t at = (code >> 4) & mask;
    while (table[at] != 0 && table[at] != code)
        at = (at + 1) & mask;
    return &table[at];
}

static int grow(void)
{
    uintptr_t wanted = places ? 2 * places : 8192;
    uintptr_t *larger = calloc(wanted, sizeof *larger);
    if (!larger)
        return 1;
    for (uintptr_t i = 0; i < places; i++)
        if (quiet[i])
            *place_of(larger, wanted - 1, quiet[i]) = quiet[i];
    free(quiet);
    quiet = larger;
    places = wanted;
    return 0;
}

void tracegrad_listener_python(const Python *functions)
{
    python = *functions;
}

/* Events of this code say nothing, for as long as the process lives. Not 0 if there is no memory. */
int tracegrad_listener_add(uintptr_t code)
{
    if (4 * taken >= places && grow())
        return 1;
    uintptr_t *place = place_of(quiet, places - 1, code);
    taken += *place == 0;
    *place = code;
    return 0;
}

static int is_quiet(Object *frame)
{
    Object *code = python.frame_get_code(frame);
    python.dec_ref(code); /* the frame holds it */
    return places != 0 && *place_of(quiet, places - 1, (uintptr_t)code) != 0;
}

static int listen(Object *note, Object *frame, int what, Object *argument)
{
    const char *name = what == CALL ? "call" : what == RETURN ? "return" : what == C_CALL ? "c_call" : NULL;
    if (name == NULL || is_quiet(frame))
        return 0;
    /* Without an argument, as after an exception, Python hands over None: what "z" makes of NULL. */
    Object *result = python.call_function(note, argument ? "OsO" : "Osz", frame, name, argument);
    if (result == NULL)
    {
        python.set_profile(NULL, NULL); /* as Python does after an error */
        return -1;
    }
    python.dec_ref(result);
    return 0;
}

/* From now on `note` is called for the events of this thread: `sys.setprofile(None)` ends it. */
void tracegrad_listener_begin(Object *note)
{
    python.set_profile(listen, note);
}
