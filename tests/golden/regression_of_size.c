/*
 * v1 = div          ∂ training_steps.py:83
 */
static void div_0(float *restrict div_1, const float *restrict of_sizes_0_)
{
    const float v1 = 1.0f / of_sizes_0_[0];
    div_1[0] = v1;
}

enum
{
    dot_sub_mul_0_vectors = TG_TILE_VECTORS(20, TG_FLOAT_LANES),
    dot_sub_mul_0_tile_columns = dot_sub_mul_0_vectors * TG_FLOAT_LANES,
    dot_sub_mul_0_tile_rows = TG_TILE_ROWS(1024, dot_sub_mul_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 3; the sums stay in vector registers. */
TG_FUSED static void dot_sub_mul_0_tile(
    TG_UNUSED long n0, const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_sub_mul_0_tile_rows][dot_sub_mul_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_sub_mul_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_sub_mul_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 3; ++p)
    {
        const float *const row = panel + p * dot_sub_mul_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_sub_mul_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_sub_mul_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * dot_sub_mul_0_tile_rows];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_sub_mul_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_sub_mul_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_sub_mul_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_sub_mul_0_pack(
    TG_UNUSED long n0, const float *restrict from, long columns, float *restrict panel)
{
    if (columns == dot_sub_mul_0_tile_columns)
    {
        for (long p = 0; p < 3; ++p)
        #pragma GCC unroll 4
        for (long c = 0; c < dot_sub_mul_0_tile_columns; c += TG_FLOAT_LANES)
        {
            *(tg_float_vector *)(panel + p * dot_sub_mul_0_tile_columns + c)
                = *(const tg_float_vector *)(from + p * 20 + c);
        }
        return;
    }
    const long whole = 0;
    for (long p = whole; p < 3; ++p)
    for (long c = 0; c < dot_sub_mul_0_tile_columns; ++c)
    {
        panel[p * dot_sub_mul_0_tile_columns + c]
            = c < columns ? from[p * 20 + c * 1] : 0;
    }
}

/* Interleaves the rows of each tile: to[row, p, r] = from[row + r, p]; the last tile is filled up with zeros. */
static void dot_sub_mul_0_pack_rows(
    TG_UNUSED long n0, const float *restrict from, float *restrict to, long first, long last)
{
    for (long row = first; row < last; row += dot_sub_mul_0_tile_rows)
    {
        const long left = n0 - row;
        const long rows = left < dot_sub_mul_0_tile_rows ? left : dot_sub_mul_0_tile_rows;
        const float *const source = from + row * 3;
        float *const target = to + row * 3;
        /* Sixteen elements of a row at a time: whole cache lines, since the rows may all fall into one cache set. */
        for (long start = 0; start < 3; start += 16)
        for (long r = 0; r < rows; ++r)
        for (long p = start; p < 3 && p < start + 16; ++p)
        {
            target[p * dot_sub_mul_0_tile_rows + r]
                = source[r * 3 + p * 1];
        }
        for (long p = 0; p < 3; ++p)
        for (long r = rows; r < dot_sub_mul_0_tile_rows; ++r)
        {
            target[p * dot_sub_mul_0_tile_rows + r] = 0;
        }
    }
}

/* Interleaves the rows of some tiles. */
static void dot_sub_mul_0_rows_part(TG_UNUSED float *restrict sub_0, TG_UNUSED float *restrict mul_0, TG_UNUSED const float *restrict x_, TG_UNUSED const float *restrict weight_, TG_UNUSED const float *restrict bias_, TG_UNUSED const float *restrict y_, TG_UNUSED const float *restrict div_1, TG_UNUSED long n0, TG_UNUSED char *restrict scratch, TG_UNUSED char *restrict shared, long begin, long end)
{
    const long dot_begin = begin * dot_sub_mul_0_tile_rows;
    const long dot_stop = end * dot_sub_mul_0_tile_rows;
    const long dot_end = dot_stop < n0 ? dot_stop : n0;
    {
        dot_sub_mul_0_pack_rows(
            n0, x_, (float *)(shared + 384), dot_begin, dot_end);
    }
}

static void dot_sub_mul_0_rows_part_share(void *const *arguments, TG_UNUSED char *scratch, long begin, long end)
{
    dot_sub_mul_0_rows_part(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], arguments[6], (long)arguments[7], scratch, arguments[8], begin, end);
}

/*
 * acc = dot          training_steps.py:83
 * v1 = add          training_steps.py:83
 * v2 = sub          training_steps.py:83
 * v3 = mul          ∂ training_steps.py:83
 * v4 = mul          ∂ training_steps.py:83
 */
static void dot_sub_mul_0_part(TG_UNUSED float *restrict sub_0, TG_UNUSED float *restrict mul_0, TG_UNUSED const float *restrict x_, TG_UNUSED const float *restrict weight_, TG_UNUSED const float *restrict bias_, TG_UNUSED const float *restrict y_, TG_UNUSED const float *restrict div_1, TG_UNUSED long n0, TG_UNUSED char *restrict scratch, TG_UNUSED char *restrict shared, long begin, long end)
{
    const long dot_begin = begin * dot_sub_mul_0_tile_rows;
    const long dot_stop = end * dot_sub_mul_0_tile_rows;
    const long dot_end = dot_stop < n0 ? dot_stop : n0;
    const float dot_scalar0 = div_1[0];
    float *const dot_packed = (float *)(shared + 384);
    {
        for (long dot_column = 0; dot_column < 20; dot_column += dot_sub_mul_0_tile_columns)
        {
            const long dot_left = 20 - dot_column;
            const long dot_columns = dot_left < dot_sub_mul_0_tile_columns ? dot_left : dot_sub_mul_0_tile_columns;
            const float *const dot_vectors
                = weight_ + dot_column * 1;
            float *const dot_panel = (float *)scratch;
            dot_sub_mul_0_pack(n0, dot_vectors, dot_columns, dot_panel);
            for (long dot_row = dot_begin; dot_row < dot_end; dot_row += dot_sub_mul_0_tile_rows)
            {
                const long dot_first = dot_row;
                const float *const dot_broadcast
                    = dot_packed + dot_first * 3;
                const long dot_rows = n0 - dot_row < dot_sub_mul_0_tile_rows ? n0 - dot_row : dot_sub_mul_0_tile_rows;
                float dot_tile[dot_sub_mul_0_tile_rows * dot_sub_mul_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_sub_mul_0_tile(n0, dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_sub_mul_0_tile_columns + j - dot_column];
                        const float v1 = acc + bias_[j];
                        const float v2 = v1 - y_[i * 20 + j];
                        const float v3 = 2.0f * v2;
                        const float v4 = dot_scalar0 * v3;
                        sub_0[i * 20 + j] = v2;
                        mul_0[i * 20 + j] = v4;
                    }
                }
            }
        }
    }
}

static void dot_sub_mul_0_part_share(void *const *arguments, TG_UNUSED char *scratch, long begin, long end)
{
    dot_sub_mul_0_part(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5], arguments[6], (long)arguments[7], scratch, arguments[8], begin, end);
}

static void dot_sub_mul_0(float *restrict sub_0, float *restrict mul_0, const float *restrict x_, const float *restrict weight_, const float *restrict bias_, const float *restrict y_, const float *restrict div_1, long n0, char *restrict scratch)
{
    char *const shared = scratch;
    void *const dot_sub_mul_0_rows_part_arguments[] = {(void *)sub_0, (void *)mul_0, (void *)x_, (void *)weight_, (void *)bias_, (void *)y_, (void *)div_1, (void *)n0, (void *)shared};
    tg_parallel((tg_work){
        .share = dot_sub_mul_0_rows_part_share,
        .arguments = dot_sub_mul_0_rows_part_arguments,
        .scratch = scratch,
        .scratch_bytes = (12 * n0 + 552),
        .extent = TG_PIECES(n0, dot_sub_mul_0_tile_rows),
        .grain = TG_PIECES(TG_PACKED, 3 * dot_sub_mul_0_tile_rows),
        .worth = 3 * n0 / TG_PACKED});
    void *const dot_sub_mul_0_part_arguments[] = {(void *)sub_0, (void *)mul_0, (void *)x_, (void *)weight_, (void *)bias_, (void *)y_, (void *)div_1, (void *)n0, (void *)shared};
    tg_parallel((tg_work){
        .share = dot_sub_mul_0_part_share,
        .arguments = dot_sub_mul_0_part_arguments,
        .scratch = scratch,
        .scratch_bytes = (12 * n0 + 552),
        .extent = TG_PIECES(n0, dot_sub_mul_0_tile_rows),
        .grain = TG_PIECES(486, dot_sub_mul_0_tile_rows),
        .worth = TG_PIECES(n0, 486)});
}

/*
 * v2 = mul          training_steps.py:83
 * sum_acc1 = sum          training_steps.py:83
 * v3 = div          training_steps.py:83
 */
static void sum_div_0(float *restrict result_, const float *restrict sub_0, const float *restrict of_sizes_0_, long n0)
{
    double sum_acc1 = 0.0;
    for (long i0 = 0; i0 < n0; ++i0)
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i1 = 0; i1 < 20; ++i1)
    {
        const float v2 = sub_0[i0 * 20 + i1] * sub_0[i0 * 20 + i1];
        sum_acc1 = sum_acc1 + v2;
    }
    const float v3 = (float)sum_acc1 / of_sizes_0_[0];
    result_[0] = v3;
}

enum
{
    dot_sub_0_vectors = TG_TILE_VECTORS(20, TG_FLOAT_LANES),
    dot_sub_0_tile_columns = dot_sub_0_vectors * TG_FLOAT_LANES,
    dot_sub_0_tiles = TG_TILE_COUNT(3, dot_sub_0_vectors),
    dot_sub_0_last_rows = 3 - (dot_sub_0_tiles - 1) * TG_TILE_ROWS(3, dot_sub_0_vectors),
    dot_sub_0_tile_rows = TG_TILE_ROWS(3, dot_sub_0_vectors)
};

/* tile[r, c] += sum of broadcast[r, p] * panel[p, c] over p < depth; the sums stay in vector registers. */
TG_FUSED static void dot_sub_0_tile(
    TG_UNUSED long n0, const float *restrict broadcast, const float *restrict panel,
    long depth, float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_sub_0_tile_rows][dot_sub_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_sub_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_sub_0_vectors; ++v)
    {
        sum[r][v] = *(const tg_float_vector *)(tile + r * dot_sub_0_tile_columns + v * TG_FLOAT_LANES);
    }
    for (long p = 0; p < depth; ++p)
    {
        const float *const row = panel + p * dot_sub_0_tile_columns;
        #pragma GCC unroll 4
        for (long v = 0; v < dot_sub_0_vectors; ++v)
        {
            __builtin_prefetch(row + 8 * dot_sub_0_tile_columns + v * TG_FLOAT_LANES);
        }
        #pragma GCC unroll 16
        for (long r = 0; r < dot_sub_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_sub_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 3];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_sub_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_sub_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_sub_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* tile[r, c] += sum of broadcast[r, p] * panel[p, c] over p < depth; the sums stay in vector registers. */
TG_FUSED static void dot_sub_0_last_tile(
    TG_UNUSED long n0, const float *restrict broadcast, const float *restrict panel,
    long depth, float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_sub_0_last_rows][dot_sub_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_sub_0_last_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_sub_0_vectors; ++v)
    {
        sum[r][v] = *(const tg_float_vector *)(tile + r * dot_sub_0_tile_columns + v * TG_FLOAT_LANES);
    }
    for (long p = 0; p < depth; ++p)
    {
        const float *const row = panel + p * dot_sub_0_tile_columns;
        #pragma GCC unroll 4
        for (long v = 0; v < dot_sub_0_vectors; ++v)
        {
            __builtin_prefetch(row + 8 * dot_sub_0_tile_columns + v * TG_FLOAT_LANES);
        }
        #pragma GCC unroll 16
        for (long r = 0; r < dot_sub_0_last_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_sub_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 3];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_sub_0_last_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_sub_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_sub_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_sub_0_pack(
    TG_UNUSED long n0, const float *restrict from, long columns, long depth, float *restrict panel)
{
    if (columns == dot_sub_0_tile_columns)
    {
        for (long p = 0; p < depth; ++p)
        #pragma GCC unroll 4
        for (long c = 0; c < dot_sub_0_tile_columns; c += TG_FLOAT_LANES)
        {
            *(tg_float_vector *)(panel + p * dot_sub_0_tile_columns + c)
                = *(const tg_float_vector *)(from + p * 20 + c);
        }
        return;
    }
    const long whole = 0;
    for (long p = whole; p < depth; ++p)
    for (long c = 0; c < dot_sub_0_tile_columns; ++c)
    {
        panel[p * dot_sub_0_tile_columns + c]
            = c < columns ? from[p * 20 + c * 1] : 0;
    }
}

/*
 * acc = dot          ∂ training_steps.py:83
 * v1 = cast         training_steps.py:85
 * v2 = mul          training_steps.py:85
 * v3 = sub          training_steps.py:85
 */
static void dot_sub_0(float *restrict weight_grad_, float *restrict weight_, const float *restrict x_, const float *restrict mul_0, const double *restrict lr_, long n0, char *restrict scratch)
{
    const double dot_scalar0 = lr_[0];
    const float v1 = (float)dot_scalar0;
    float *const dot_panel = (float *)scratch;
    float *const dot_sums = (float *)(scratch + 131072);
    {
        memset(dot_sums, 0, 384);
        for (long dot_p = 0; dot_p < n0; dot_p += 1024)
        {
            const long dot_rest = n0 - dot_p;
            const long dot_depth = dot_rest < 1024 ? dot_rest : 1024;
            const float *const dot_vectors
                = mul_0 + dot_p * 20;
            const float *const dot_scales
                = x_ + dot_p * 3;
            for (long dot_column = 0; dot_column < 20; dot_column += dot_sub_0_tile_columns)
            {
                const long dot_left = 20 - dot_column;
                const long dot_columns = dot_left < dot_sub_0_tile_columns ? dot_left : dot_sub_0_tile_columns;
                dot_sub_0_pack(
                    n0, dot_vectors + dot_column * 1, dot_columns, dot_depth, dot_panel);
                for (long dot_row = 0; dot_row < 3; dot_row += dot_sub_0_tile_rows)
                {
                    const float *const dot_broadcast
                        = dot_scales + dot_row * 1;
                    float *const dot_tile
                        = dot_sums + dot_column * 3 + dot_row * dot_sub_0_tile_columns;
                    if (3 - dot_row >= dot_sub_0_tile_rows)
                        dot_sub_0_tile(n0, dot_broadcast, dot_panel, dot_depth, dot_tile);
                    else
                        dot_sub_0_last_tile(n0, dot_broadcast, dot_panel, dot_depth, dot_tile);
                }
            }
        }
        for (long dot_column = 0; dot_column < 20; dot_column += dot_sub_0_tile_columns)
        {
            const long dot_left = 20 - dot_column;
            const long dot_columns = dot_left < dot_sub_0_tile_columns ? dot_left : dot_sub_0_tile_columns;
            const float *const dot_tile = dot_sums + dot_column * 3;
            const long dot_row = 0;
            const long dot_first = 0;
            const long dot_rows = 3;
            for (long i = dot_row; i < dot_row + dot_rows; ++i)
            {
                #pragma omp simd
                for (long j = dot_column; j < dot_column + dot_columns; ++j)
                {
                    const float acc = dot_tile[(i - dot_first) * dot_sub_0_tile_columns + j - dot_column];
                    const float v2 = acc * v1;
                    const float v3 = weight_[i * 20 + j] - v2;
                    weight_grad_[i * 20 + j] = acc;
                    weight_[i * 20 + j] = v3;
                }
            }
        }
    }
}

/*
 * v2 = mul          ∂ training_steps.py:83
 * sum_acc1 = sum          ∂ training_steps.py:83
 * v4 = cast         training_steps.py:85
 * v3 = sum          ∂ training_steps.py:83
 * v5 = mul          training_steps.py:85
 * v6 = sub          training_steps.py:85
 */
static void sum_sub_0(float *restrict bias_grad_, float *restrict bias_, const float *restrict mul_0, const double *restrict lr_, long n0)
{
    double sum_acc1[20];
    for (long element = 0; element < 20; ++element)
    {
        sum_acc1[element] = 0.0;
    }
    for (long i0 = 0; i0 < n0; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 20; ++i1)
    {
        const float v2 = mul_0[i0 * 20 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v2;
    }
    const float v4 = (float)lr_[0];
    #pragma omp simd
    for (long i1 = 0; i1 < 20; ++i1)
    {
        const float v3 = sum_acc1[i1];
        const float v5 = sum_acc1[i1] * v4;
        const float v6 = bias_[i1] - v5;
        bias_grad_[i1] = v3;
        bias_[i1] = v6;
    }
}
