/* random_words  training_steps.py:66 1 */
static void random_words_0(int32_t *restrict random_words_1, const int32_t *restrict generator_state_)
{
    tg_random_words(random_words_1, generator_state_, 64);
}

/*
 * v2 = input
 * v3 = uniform53    training_steps.py:66 1
 * v4 = lt           training_steps.py:66 1
 * v5 = cast         training_steps.py:66 1
 * v6 = mul          training_steps.py:66 1
 * sum_acc1 = sum          training_steps.py:66 0
 * v9 = mul          training_steps.py:66 0
 * v10 = sub          training_steps.py:66 0
 * v11 = mul          training_steps.py:66 0
 * sum_acc8 = sum          training_steps.py:66 0
 * v13 = mul          training_steps.py:66 0
 * v14 = add          training_steps.py:66 0
 * v15 = rsqrt        training_steps.py:66 0
 * v12 = sub          training_steps.py:66 0
 * v16 = mul          training_steps.py:66 0
 * v17 = mul          training_steps.py:66 0
 * v18 = add          training_steps.py:66 0
 * v19 = mul          training_steps.py:66 1
 */
static void sum_mul_rsqrt_0(float *restrict mul_1, float *restrict mul_0, float *restrict mul_2, const float *restrict x_, const int32_t *restrict random_words_1, const float *restrict layer_0_weight_, const float *restrict layer_0_bias_)
{
    for (long i0 = 0; i0 < 4; ++i0)
    {
        float mul_row7[8];
        float sum_acc1 = 0.0f;
        #pragma omp simd reduction(+ : sum_acc1)
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const float v2 = x_[i0 * 8 + i1];
            const double v3 = tg_uniform53(random_words_1[i0 * 16 + i1 * 2 + 625], random_words_1[i0 * 16 + i1 * 2 + 626]);
            const int v4 = v3 < 0.75;
            const float v5 = (float)v4;
            const float v6 = v5 * 0x1.555556p+0f;
            sum_acc1 = sum_acc1 + v2;
            mul_1[i0 * 8 + i1] = v6;
            mul_row7[i1] = v6;
        }
        const float v9 = sum_acc1 * 0.125f;
        float sum_acc8 = 0.0f;
        #pragma omp simd reduction(+ : sum_acc8)
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const float v10 = x_[i0 * 8 + i1] - v9;
            const float v11 = v10 * v10;
            sum_acc8 = sum_acc8 + v11;
        }
        const float v13 = sum_acc8 * 0.125f;
        const float v14 = v13 + 0x1.4f8b58p-17f;
        const float v15 = tg_rsqrtf(v14);
        #pragma omp simd
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const float v12 = x_[i0 * 8 + i1] - v9;
            const float v16 = v12 * v15;
            const float v17 = v16 * layer_0_weight_[i1];
            const float v18 = v17 + layer_0_bias_[i1];
            const float v19 = v18 * mul_row7[i1];
            mul_0[i0 * 8 + i1] = v16;
            mul_2[i0 * 8 + i1] = v19;
        }
    }
}

enum
{
    dot_add_0_vectors = TG_TILE_VECTORS(4, TG_FLOAT_LANES),
    dot_add_0_tile_columns = dot_add_0_vectors * TG_FLOAT_LANES,
    dot_add_0_tile_rows = TG_TILE_ROWS(3, dot_add_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 8; the sums stay in vector registers. */
TG_FUSED static void dot_add_0_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_add_0_tile_rows][dot_add_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 8; ++p)
    {
        const float *const row = panel + p * dot_add_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_0_vectors; ++v)
        {
            const float scale = broadcast[r * 8 + p * 1];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_add_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_add_0_pack(
    const float *restrict from, long columns, float *restrict panel)
{
    const long whole = 8 / TG_FLOAT_LANES * TG_FLOAT_LANES;
    for (long c = 0; c < dot_add_0_tile_columns; c += TG_FLOAT_LANES)
    for (long p = 0; p < whole; p += TG_FLOAT_LANES)
    {
        tg_float_transpose(
            from + c * 8 + p, 8, columns - c,
            panel + p * dot_add_0_tile_columns + c, dot_add_0_tile_columns);
    }
    for (long p = whole; p < 8; ++p)
    for (long c = 0; c < dot_add_0_tile_columns; ++c)
    {
        panel[p * dot_add_0_tile_columns + c]
            = c < columns ? from[p * 1 + c * 8] : 0;
    }
}

/*
 * acc = dot          training_steps.py:66 2
 * v1 = add          training_steps.py:66 2
 * v2 = mul          ∂ training_steps.py:66
 * v3 = add          ∂ training_steps.py:66
 */
static void dot_add_0(float *restrict add_0, float *restrict add_1, const float *restrict mul_2, const float *restrict layer_2_weight_, const float *restrict layer_2_bias_, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 4; dot_column += dot_add_0_tile_columns)
        {
            const long dot_left = 4 - dot_column;
            const long dot_columns = dot_left < dot_add_0_tile_columns ? dot_left : dot_add_0_tile_columns;
            const float *const dot_vectors
                = mul_2 + dot_column * 8;
            float *const dot_panel = (float *)scratch;
            dot_add_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 3; dot_row += dot_add_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 3 - dot_row < dot_add_0_tile_rows ? 3 - dot_add_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = layer_2_weight_ + dot_first * 8;
                const long dot_rows = 3 - dot_row < dot_add_0_tile_rows ? 3 - dot_row : dot_add_0_tile_rows;
                float dot_tile[dot_add_0_tile_rows * dot_add_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long j = dot_row; j < dot_row + dot_rows; ++j)
                {
                    #pragma omp simd
                    for (long i = dot_column; i < dot_column + dot_columns; ++i)
                    {
                        const float acc = dot_tile[(j - dot_first) * dot_add_0_tile_columns + i - dot_column];
                        const float v1 = acc + layer_2_bias_[j];
                        const float v2 = 0x1.555556p-4f * v1;
                        const float v3 = v2 + v2;
                        add_0[i * 3 + j] = v1;
                        add_1[i * 3 + j] = v3;
                    }
                }
            }
        }
    }
}

/*
 * v2 = mul          training_steps.py:66
 * sum_acc1 = sum          training_steps.py:66
 * v3 = div          training_steps.py:66
 */
static void sum_div_0(float *restrict result_, const float *restrict add_0)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 12; ++i0)
    {
        const float v2 = add_0[i0] * add_0[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    const float v3 = sum_acc1 / 12.0f;
    result_[0] = v3;
}

enum
{
    dot_mul_0_vectors = TG_TILE_VECTORS(8, TG_FLOAT_LANES),
    dot_mul_0_tile_columns = dot_mul_0_vectors * TG_FLOAT_LANES,
    dot_mul_0_tile_rows = TG_TILE_ROWS(4, dot_mul_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 3; the sums stay in vector registers. */
TG_FUSED static void dot_mul_0_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_mul_0_tile_rows][dot_mul_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_mul_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_mul_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 3; ++p)
    {
        const float *const row = panel + p * dot_mul_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_mul_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_mul_0_vectors; ++v)
        {
            const float scale = broadcast[r * 3 + p * 1];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_mul_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_mul_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_mul_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_mul_0_pack(
    const float *restrict from, long columns, float *restrict panel)
{
    if (columns == dot_mul_0_tile_columns)
    {
        for (long p = 0; p < 3; ++p)
        #pragma GCC unroll 4
        for (long c = 0; c < dot_mul_0_tile_columns; c += TG_FLOAT_LANES)
        {
            *(tg_float_vector *)(panel + p * dot_mul_0_tile_columns + c)
                = *(const tg_float_vector *)(from + p * 8 + c);
        }
        return;
    }
    const long whole = 0;
    for (long p = whole; p < 3; ++p)
    for (long c = 0; c < dot_mul_0_tile_columns; ++c)
    {
        panel[p * dot_mul_0_tile_columns + c]
            = c < columns ? from[p * 8 + c * 1] : 0;
    }
}

/*
 * acc = dot          ∂ training_steps.py:66 2
 * v1 = mul          ∂ training_steps.py:66 1
 */
static void dot_mul_0(float *restrict mul_3, const float *restrict add_1, const float *restrict layer_2_weight_, const float *restrict mul_1, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 8; dot_column += dot_mul_0_tile_columns)
        {
            const long dot_left = 8 - dot_column;
            const long dot_columns = dot_left < dot_mul_0_tile_columns ? dot_left : dot_mul_0_tile_columns;
            const float *const dot_vectors
                = layer_2_weight_ + dot_column * 1;
            float *const dot_panel = (float *)scratch;
            dot_mul_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 4; dot_row += dot_mul_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 4 - dot_row < dot_mul_0_tile_rows ? 4 - dot_mul_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = add_1 + dot_first * 3;
                const long dot_rows = 4 - dot_row < dot_mul_0_tile_rows ? 4 - dot_row : dot_mul_0_tile_rows;
                float dot_tile[dot_mul_0_tile_rows * dot_mul_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_mul_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_mul_0_tile_columns + j - dot_column];
                        const float v1 = acc * mul_1[i * 8 + j];
                        mul_3[i * 8 + j] = v1;
                    }
                }
            }
        }
    }
}

/*
 * v3 = mul          ∂ training_steps.py:66 0
 * v4 = mul          ∂ training_steps.py:66 1
 * sum_acc1 = sum          ∂ training_steps.py:66 0
 * sum_acc2 = sum          ∂ training_steps.py:66 0
 * v5 = sum          ∂ training_steps.py:66 0
 * v6 = sum          ∂ training_steps.py:66 0
 */
static void sum_0(float *restrict layer_0_weight_grad_, float *restrict layer_0_bias_grad_, const float *restrict mul_3, const float *restrict mul_0)
{
    float sum_acc1[8];
    for (long element = 0; element < 8; ++element)
    {
        sum_acc1[element] = 0.0f;
    }
    float sum_acc2[8];
    for (long element = 0; element < 8; ++element)
    {
        sum_acc2[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 4; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 8; ++i1)
    {
        const float v3 = mul_3[i0 * 8 + i1] * mul_0[i0 * 8 + i1];
        const float v4 = mul_3[i0 * 8 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v3;
        sum_acc2[i1] = sum_acc2[i1] + v4;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 8; ++i1)
    {
        const float v5 = sum_acc1[i1];
        const float v6 = sum_acc2[i1];
        layer_0_weight_grad_[i1] = v5;
        layer_0_bias_grad_[i1] = v6;
    }
}

enum
{
    dot_0_vectors = TG_TILE_VECTORS(8, TG_FLOAT_LANES),
    dot_0_tile_columns = dot_0_vectors * TG_FLOAT_LANES,
    dot_0_tile_rows = TG_TILE_ROWS(3, dot_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 4; the sums stay in vector registers. */
TG_FUSED static void dot_0_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_0_tile_rows][dot_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 4; ++p)
    {
        const float *const row = panel + p * dot_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 3];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_0_pack(
    const float *restrict from, long columns, float *restrict panel)
{
    if (columns == dot_0_tile_columns)
    {
        for (long p = 0; p < 4; ++p)
        #pragma GCC unroll 4
        for (long c = 0; c < dot_0_tile_columns; c += TG_FLOAT_LANES)
        {
            *(tg_float_vector *)(panel + p * dot_0_tile_columns + c)
                = *(const tg_float_vector *)(from + p * 8 + c);
        }
        return;
    }
    const long whole = 0;
    for (long p = whole; p < 4; ++p)
    for (long c = 0; c < dot_0_tile_columns; ++c)
    {
        panel[p * dot_0_tile_columns + c]
            = c < columns ? from[p * 8 + c * 1] : 0;
    }
}

/*
 * acc = dot          ∂ training_steps.py:66 2
 */
static void dot_0(float *restrict layer_2_weight_grad_, const float *restrict add_1, const float *restrict mul_2, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 8; dot_column += dot_0_tile_columns)
        {
            const long dot_left = 8 - dot_column;
            const long dot_columns = dot_left < dot_0_tile_columns ? dot_left : dot_0_tile_columns;
            const float *const dot_vectors
                = mul_2 + dot_column * 1;
            float *const dot_panel = (float *)scratch;
            dot_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 3; dot_row += dot_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 3 - dot_row < dot_0_tile_rows ? 3 - dot_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = add_1 + dot_first * 1;
                const long dot_rows = 3 - dot_row < dot_0_tile_rows ? 3 - dot_row : dot_0_tile_rows;
                float dot_tile[dot_0_tile_rows * dot_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_0_tile_columns + j - dot_column];
                        layer_2_weight_grad_[i * 8 + j] = acc;
                    }
                }
            }
        }
    }
}

/*
 * v2 = add          ∂ training_steps.py:66
 * sum_acc1 = sum          ∂ training_steps.py:66 2
 * v3 = sum          ∂ training_steps.py:66 2
 */
static void sum_1(float *restrict layer_2_bias_grad_, const float *restrict add_1)
{
    float sum_acc1[3];
    for (long element = 0; element < 3; ++element)
    {
        sum_acc1[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 4; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 3; ++i1)
    {
        const float v2 = add_1[i0 * 3 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v2;
    }
    #pragma omp simd
    for (long i1 = 0; i1 < 3; ++i1)
    {
        const float v3 = sum_acc1[i1];
        layer_2_bias_grad_[i1] = v3;
    }
}

/*
 * v1 = slice        training_steps.py:66 1
 */
static void slice_0(int32_t *restrict generator_state_, const int32_t *restrict random_words_1)
{
    #pragma omp simd
    for (long i0 = 0; i0 < 625; ++i0)
    {
        const int32_t v1 = random_words_1[i0];
        generator_state_[i0] = v1;
    }
}
