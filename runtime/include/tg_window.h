/* What convolutions share: how rows of places are covered by vectors. */
#ifndef TG_WINDOW_H
#define TG_WINDOW_H

#include "tg_vector.h"

/* Rows of a tile whose other operand is one vector, or `vectors` of them: a row takes its factor from memory, so that one
 * vector leaves room for many. They are spread evenly. */
#define TG_WINDOW_MOST_ROWS(vectors) ((vectors) == 1 ? TG_VECTOR_REGISTERS - 6 : TG_TILE_MOST_ROWS(vectors))
#define TG_WINDOW_TILES(rows, vectors) (((rows) + TG_WINDOW_MOST_ROWS(vectors) - 1) / TG_WINDOW_MOST_ROWS(vectors))
#define TG_WINDOW_ROWS(rows, vectors) (((rows) + TG_WINDOW_TILES(rows, vectors) - 1) / TG_WINDOW_TILES(rows, vectors))

/* Where the vectors begin that cover `rows` rows of `columns` places, in memory whose rows are `pitch` apart: row by row,
 * or one after the other across the ends of rows where that takes fewer. Filled up to a multiple of `tile` vectors, of
 * which the last is repeated. Gives their number; in `*width` how far apart rows are in what is computed of them. */
static inline long tg_window_places(
    long rows, long columns, long pitch, long lanes, long tile, long *restrict places, long *restrict width)
{
    const long across = (columns + lanes - 1) / lanes;
    const long joined = ((rows - 1) * pitch + columns + lanes - 1) / lanes;
    const int split = rows * across <= joined;
    const long count = split ? rows * across : joined;
    const long whole = (count + tile - 1) / tile * tile;
    for (long v = 0; v < whole; ++v)
    {
        const long own = v < count ? v : count - 1;
        places[v] = split ? own / across * pitch + own % across * lanes : own * lanes;
    }
    *width = split ? across * lanes : pitch;
    return whole;
}

#endif
