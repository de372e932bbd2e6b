enum
{
    dot_add_le_where_0_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_add_le_where_0_tile_columns = dot_add_le_where_0_vectors * TG_FLOAT_LANES,
    dot_add_le_where_0_tile_rows = TG_TILE_ROWS(32, dot_add_le_where_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 2; the sums stay in vector registers. */
TG_FUSED static void dot_add_le_where_0_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_add_le_where_0_tile_rows][dot_add_le_where_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_le_where_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_le_where_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 2; ++p)
    {
        const float *const row = panel + p * dot_add_le_where_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_le_where_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_le_where_0_vectors; ++v)
        {
            const float scale = broadcast[r * 2 + p * 1];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_le_where_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_le_where_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_add_le_where_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_add_le_where_0_pack(
    const float *restrict from, long columns, float *restrict panel)
{
    const long whole = 2 / TG_FLOAT_LANES * TG_FLOAT_LANES;
    for (long c = 0; c < dot_add_le_where_0_tile_columns; c += TG_FLOAT_LANES)
    for (long p = 0; p < whole; p += TG_FLOAT_LANES)
    {
        tg_float_transpose(
            from + c * 2 + p, 2, columns - c,
            panel + p * dot_add_le_where_0_tile_columns + c, dot_add_le_where_0_tile_columns);
    }
    for (long p = whole; p < 2; ++p)
    for (long c = 0; c < dot_add_le_where_0_tile_columns; ++c)
    {
        panel[p * dot_add_le_where_0_tile_columns + c]
            = c < columns ? from[p * 1 + c * 2] : 0;
    }
}

/*
 * acc = dot          training_steps.py:51 0
 * v1 = add          training_steps.py:51 0
 * v2 = le           training_steps.py:51 1
 * v3 = where        training_steps.py:51 1
 */
static void dot_add_le_where_0(uint8_t *restrict le_0, float *restrict where_0, const float *restrict x_, const float *restrict layer_0_weight_, const float *restrict layer_0_bias_, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_add_le_where_0_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_add_le_where_0_tile_columns ? dot_left : dot_add_le_where_0_tile_columns;
            const float *const dot_vectors
                = layer_0_weight_ + dot_column * 2;
            float *const dot_panel = (float *)scratch;
            dot_add_le_where_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 32; dot_row += dot_add_le_where_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 32 - dot_row < dot_add_le_where_0_tile_rows ? 32 - dot_add_le_where_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = x_ + dot_first * 2;
                const long dot_rows = 32 - dot_row < dot_add_le_where_0_tile_rows ? 32 - dot_row : dot_add_le_where_0_tile_rows;
                float dot_tile[dot_add_le_where_0_tile_rows * dot_add_le_where_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_le_where_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_add_le_where_0_tile_columns + j - dot_column];
                        const float v1 = acc + layer_0_bias_[j];
                        const int v2 = v1 <= 0.0f;
                        const float v3 = v2 ? 0.0f : v1;
                        le_0[i * 16 + j] = v2;
                        where_0[i * 16 + j] = v3;
                    }
                }
            }
        }
    }
}

enum
{
    dot_add_le_where_1_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_add_le_where_1_tile_columns = dot_add_le_where_1_vectors * TG_FLOAT_LANES,
    dot_add_le_where_1_tile_rows = TG_TILE_ROWS(32, dot_add_le_where_1_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 16; the sums stay in vector registers. */
TG_FUSED static void dot_add_le_where_1_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_add_le_where_1_tile_rows][dot_add_le_where_1_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_le_where_1_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_le_where_1_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 16; ++p)
    {
        const float *const row = panel + p * dot_add_le_where_1_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_le_where_1_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_le_where_1_vectors; ++v)
        {
            const float scale = broadcast[r * 16 + p * 1];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_le_where_1_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_le_where_1_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_add_le_where_1_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_add_le_where_1_pack(
    const float *restrict from, long columns, float *restrict panel)
{
    const long whole = 16 / TG_FLOAT_LANES * TG_FLOAT_LANES;
    for (long c = 0; c < dot_add_le_where_1_tile_columns; c += TG_FLOAT_LANES)
    for (long p = 0; p < whole; p += TG_FLOAT_LANES)
    {
        tg_float_transpose(
            from + c * 16 + p, 16, columns - c,
            panel + p * dot_add_le_where_1_tile_columns + c, dot_add_le_where_1_tile_columns);
    }
    for (long p = whole; p < 16; ++p)
    for (long c = 0; c < dot_add_le_where_1_tile_columns; ++c)
    {
        panel[p * dot_add_le_where_1_tile_columns + c]
            = c < columns ? from[p * 1 + c * 16] : 0;
    }
}

/*
 * acc = dot          training_steps.py:51 2
 * v1 = add          training_steps.py:51 2
 * v2 = le           training_steps.py:51 3
 * v3 = where        training_steps.py:51 3
 */
static void dot_add_le_where_1(uint8_t *restrict le_1, float *restrict where_1, const float *restrict where_0, const float *restrict layer_2_weight_, const float *restrict layer_2_bias_, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_add_le_where_1_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_add_le_where_1_tile_columns ? dot_left : dot_add_le_where_1_tile_columns;
            const float *const dot_vectors
                = layer_2_weight_ + dot_column * 16;
            float *const dot_panel = (float *)scratch;
            dot_add_le_where_1_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 32; dot_row += dot_add_le_where_1_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 32 - dot_row < dot_add_le_where_1_tile_rows ? 32 - dot_add_le_where_1_tile_rows : dot_row;
                const float *const dot_broadcast
                    = where_0 + dot_first * 16;
                const long dot_rows = 32 - dot_row < dot_add_le_where_1_tile_rows ? 32 - dot_row : dot_add_le_where_1_tile_rows;
                float dot_tile[dot_add_le_where_1_tile_rows * dot_add_le_where_1_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_le_where_1_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_add_le_where_1_tile_columns + j - dot_column];
                        const float v1 = acc + layer_2_bias_[j];
                        const int v2 = v1 <= 0.0f;
                        const float v3 = v2 ? 0.0f : v1;
                        le_1[i * 16 + j] = v2;
                        where_1[i * 16 + j] = v3;
                    }
                }
            }
        }
    }
}

/*
 * acc = dot          training_steps.py:51 4
 * v1 = add          training_steps.py:51 4
 * v2 = mul          training_steps.py:52
 * v3 = sub          training_steps.py:52
 * v4 = le           training_steps.py:52
 * v5 = where        ∂ training_steps.py:52
 * v6 = neg          ∂ training_steps.py:52
 * v7 = mul          ∂ training_steps.py:52
 */
static void dot_sub_le_mul_0(float *restrict sub_0, uint8_t *restrict le_2, float *restrict mul_0, const float *restrict where_1, const float *restrict layer_4_weight_, const float *restrict layer_4_bias_, const float *restrict y_)
{
    const float dot_scalar0 = layer_4_bias_[0];
    for (long i = 0; i < 32; ++i)
    for (long j = 0; j < 1; ++j)
    {
        float dot_sum = 0;
        #pragma omp simd reduction(+ : dot_sum)
        for (long p = 0; p < 16; ++p)
        {
            dot_sum += (float)where_1[i * 16 + p * 1] * (float)layer_4_weight_[p * 1];
        }
        const float acc = (float)dot_sum;
        const float v1 = acc + dot_scalar0;
        const float v2 = y_[i] * v1;
        const float v3 = 1.0f - v2;
        const int v4 = v3 <= 0.0f;
        const float v5 = v4 ? 0.0f : 0.03125f;
        const float v6 = -v5;
        const float v7 = v6 * y_[i];
        sub_0[i] = v3;
        le_2[i] = v4;
        mul_0[i] = v7;
    }
}

/*
 * v2 = mul          training_steps.py:52
 * sum_acc1 = sum          training_steps.py:52
 */
static void sum_0(float *restrict sum_1, const float *restrict layer_0_weight_)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 32; ++i0)
    {
        const float v2 = layer_0_weight_[i0] * layer_0_weight_[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    sum_1[0] = sum_acc1;
}

/*
 * v2 = mul          training_steps.py:52
 * sum_acc1 = sum          training_steps.py:52
 */
static void sum_2(float *restrict out0, const float *restrict in0)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 16; ++i0)
    {
        const float v2 = in0[i0] * in0[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    out0[0] = sum_acc1;
}

/*
 * v2 = mul          training_steps.py:52
 * sum_acc1 = sum          training_steps.py:52
 */
static void sum_4(float *restrict sum_5, const float *restrict layer_2_weight_)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 256; ++i0)
    {
        const float v2 = layer_2_weight_[i0] * layer_2_weight_[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    sum_5[0] = sum_acc1;
}

/*
 * v2 = where        training_steps.py:52
 * sum_acc1 = sum          training_steps.py:52
 * v3 = mul          training_steps.py:52
 * v4 = add          training_steps.py:52
 * v5 = add          training_steps.py:52
 * v6 = add          training_steps.py:52
 * v7 = add          training_steps.py:52
 * v8 = add          training_steps.py:52
 * v9 = mul          training_steps.py:52
 * v10 = add          training_steps.py:52
 * v11 = add          training_steps.py:52
 * v12 = mul          training_steps.py:52
 * v13 = add          training_steps.py:52
 */
static void sum_add_0(float *restrict result_, const uint8_t *restrict le_2, const float *restrict sub_0, const float *restrict sum_1, const float *restrict sum_3, const float *restrict sum_5, const float *restrict sum_7, const float *restrict sum_9, const float *restrict layer_4_bias_)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 32; ++i0)
    {
        const float v2 = le_2[i0] ? 0.0f : sub_0[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    const float v3 = sum_acc1 * 0.03125f;
    const float v4 = 0.0f + sum_1[0];
    const float v5 = v4 + sum_3[0];
    const float v6 = v5 + sum_5[0];
    const float v7 = v6 + sum_7[0];
    const float v8 = v7 + sum_9[0];
    const float v9 = layer_4_bias_[0] * layer_4_bias_[0];
    const float v10 = v9 + 0.0f;
    const float v11 = v8 + v10;
    const float v12 = 0x1.a36e2ep-14f * v11;
    const float v13 = v3 + v12;
    result_[0] = v13;
}

enum
{
    dot_where_0_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_where_0_tile_columns = dot_where_0_vectors * TG_FLOAT_LANES,
    dot_where_0_tile_rows = TG_TILE_ROWS(32, dot_where_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 1; the sums stay in vector registers. */
TG_FUSED static void dot_where_0_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_where_0_tile_rows][dot_where_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_where_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_where_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 1; ++p)
    {
        const float *const row = panel + p * 0;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_where_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_where_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 0];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_where_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_where_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_where_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/*
 * acc = dot          ∂ training_steps.py:51 4
 * v1 = where        ∂ training_steps.py:51 3
 */
static void dot_where_0(float *restrict where_2, const float *restrict mul_0, const float *restrict layer_4_weight_, const uint8_t *restrict le_1)
{
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_where_0_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_where_0_tile_columns ? dot_left : dot_where_0_tile_columns;
            const float *const dot_vectors
                = layer_4_weight_ + dot_column * 1;
            const float *const dot_panel = dot_vectors;
            for (long dot_row = 0; dot_row < 32; dot_row += dot_where_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 32 - dot_row < dot_where_0_tile_rows ? 32 - dot_where_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = mul_0 + dot_first * 1;
                const long dot_rows = 32 - dot_row < dot_where_0_tile_rows ? 32 - dot_row : dot_where_0_tile_rows;
                float dot_tile[dot_where_0_tile_rows * dot_where_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_where_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_where_0_tile_columns + j - dot_column];
                        const float v1 = le_1[i * 16 + j] ? 0.0f : acc;
                        where_2[i * 16 + j] = v1;
                    }
                }
            }
        }
    }
}

enum
{
    dot_where_1_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_where_1_tile_columns = dot_where_1_vectors * TG_FLOAT_LANES,
    dot_where_1_tile_rows = TG_TILE_ROWS(32, dot_where_1_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 16; the sums stay in vector registers. */
TG_FUSED static void dot_where_1_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_where_1_tile_rows][dot_where_1_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_where_1_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_where_1_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 16; ++p)
    {
        const float *const row = panel + p * 16;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_where_1_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_where_1_vectors; ++v)
        {
            const float scale = broadcast[r * 16 + p * 1];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_where_1_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_where_1_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_where_1_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/*
 * acc = dot          ∂ training_steps.py:51 2
 * v1 = where        ∂ training_steps.py:51 1
 */
static void dot_where_1(float *restrict where_3, const float *restrict where_2, const float *restrict layer_2_weight_, const uint8_t *restrict le_0)
{
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_where_1_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_where_1_tile_columns ? dot_left : dot_where_1_tile_columns;
            const float *const dot_vectors
                = layer_2_weight_ + dot_column * 1;
            const float *const dot_panel = dot_vectors;
            for (long dot_row = 0; dot_row < 32; dot_row += dot_where_1_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 32 - dot_row < dot_where_1_tile_rows ? 32 - dot_where_1_tile_rows : dot_row;
                const float *const dot_broadcast
                    = where_2 + dot_first * 16;
                const long dot_rows = 32 - dot_row < dot_where_1_tile_rows ? 32 - dot_row : dot_where_1_tile_rows;
                float dot_tile[dot_where_1_tile_rows * dot_where_1_tile_columns]
                    __attribute__((aligned(64)));
                dot_where_1_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_where_1_tile_columns + j - dot_column];
                        const float v1 = le_0[i * 16 + j] ? 0.0f : acc;
                        where_3[i * 16 + j] = v1;
                    }
                }
            }
        }
    }
}

enum
{
    dot_add_sub_0_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_add_sub_0_tile_columns = dot_add_sub_0_vectors * TG_FLOAT_LANES,
    dot_add_sub_0_tile_rows = TG_TILE_ROWS(2, dot_add_sub_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 32; the sums stay in vector registers. */
TG_FUSED static void dot_add_sub_0_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_add_sub_0_tile_rows][dot_add_sub_0_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_sub_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_sub_0_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 32; ++p)
    {
        const float *const row = panel + p * 16;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_sub_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_sub_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 2];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_sub_0_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_sub_0_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_add_sub_0_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/*
 * acc = dot          ∂ training_steps.py:51 0
 * v1 = mul          ∂ training_steps.py:52
 * v2 = add          ∂ training_steps.py:52
 * v3 = add          ∂ training_steps.py:51 0
 * v4 = cast         training_steps.py:54
 * v5 = mul          training_steps.py:54
 * v6 = sub          training_steps.py:54
 */
static void dot_add_sub_0(float *restrict layer_0_weight_grad_, float *restrict layer_0_weight_, const float *restrict where_3, const float *restrict x_, const double *restrict lr_)
{
    const double dot_scalar0 = lr_[0];
    const float v4 = (float)dot_scalar0;
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_add_sub_0_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_add_sub_0_tile_columns ? dot_left : dot_add_sub_0_tile_columns;
            const float *const dot_vectors
                = where_3 + dot_column * 1;
            const float *const dot_panel = dot_vectors;
            for (long dot_row = 0; dot_row < 2; dot_row += dot_add_sub_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 2 - dot_row < dot_add_sub_0_tile_rows ? 2 - dot_add_sub_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = x_ + dot_first * 1;
                const long dot_rows = 2 - dot_row < dot_add_sub_0_tile_rows ? 2 - dot_row : dot_add_sub_0_tile_rows;
                float dot_tile[dot_add_sub_0_tile_rows * dot_add_sub_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_sub_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long j = dot_row; j < dot_row + dot_rows; ++j)
                {
                    #pragma omp simd
                    for (long i = dot_column; i < dot_column + dot_columns; ++i)
                    {
                        const float acc = dot_tile[(j - dot_first) * dot_add_sub_0_tile_columns + i - dot_column];
                        const float v1 = 0x1.a36e2ep-14f * layer_0_weight_[i * 2 + j];
                        const float v2 = v1 + v1;
                        const float v3 = v2 + acc;
                        const float v5 = v3 * v4;
                        const float v6 = layer_0_weight_[i * 2 + j] - v5;
                        layer_0_weight_grad_[i * 2 + j] = v3;
                        layer_0_weight_[i * 2 + j] = v6;
                    }
                }
            }
        }
    }
}

/*
 * v2 = where        ∂ training_steps.py:51 1
 * sum_acc1 = sum          ∂ training_steps.py:51 0
 * v6 = cast         training_steps.py:54
 * v3 = mul          ∂ training_steps.py:52
 * v4 = add          ∂ training_steps.py:52
 * v5 = add          ∂ training_steps.py:51 0
 * v7 = mul          training_steps.py:54
 * v8 = sub          training_steps.py:54
 */
static void sum_add_sub_0(float *restrict out0, float *restrict out1, const float *restrict in0, const double *restrict in1)
{
    float sum_acc1[16];
    for (long element = 0; element < 16; ++element)
    {
        sum_acc1[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 32; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v2 = in0[i0 * 16 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v2;
    }
    const float v6 = (float)in1[0];
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v3 = 0x1.a36e2ep-14f * out1[i1];
        const float v4 = v3 + v3;
        const float v5 = v4 + sum_acc1[i1];
        const float v7 = v5 * v6;
        const float v8 = out1[i1] - v7;
        out0[i1] = v5;
        out1[i1] = v8;
    }
}

enum
{
    dot_add_sub_1_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_add_sub_1_tile_columns = dot_add_sub_1_vectors * TG_FLOAT_LANES,
    dot_add_sub_1_tile_rows = TG_TILE_ROWS(16, dot_add_sub_1_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 32; the sums stay in vector registers. */
TG_FUSED static void dot_add_sub_1_tile(
    const float *restrict broadcast, const float *restrict panel,
    float *restrict tile)
{
    TG_FUSED_BODY
    tg_float_vector sum[dot_add_sub_1_tile_rows][dot_add_sub_1_vectors];
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_sub_1_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_sub_1_vectors; ++v)
    {
        sum[r][v] = (tg_float_vector){0};
    }
    for (long p = 0; p < 32; ++p)
    {
        const float *const row = panel + p * 16;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_sub_1_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_sub_1_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 16];
            sum[r][v] += scale * *(const tg_float_vector *)(row + v * TG_FLOAT_LANES);
        }
    }
    #pragma GCC unroll 16
    for (long r = 0; r < dot_add_sub_1_tile_rows; ++r)
    #pragma GCC unroll 4
    for (long v = 0; v < dot_add_sub_1_vectors; ++v)
    {
        *(tg_float_vector *)(tile + r * dot_add_sub_1_tile_columns + v * TG_FLOAT_LANES) = sum[r][v];
    }
}

/*
 * acc = dot          ∂ training_steps.py:51 2
 * v1 = mul          ∂ training_steps.py:52
 * v2 = add          ∂ training_steps.py:52
 * v3 = add          ∂ training_steps.py:51 2
 * v4 = cast         training_steps.py:54
 * v5 = mul          training_steps.py:54
 * v6 = sub          training_steps.py:54
 */
static void dot_add_sub_1(float *restrict layer_2_weight_grad_, float *restrict layer_2_weight_, const float *restrict where_2, const float *restrict where_0, const double *restrict lr_)
{
    const double dot_scalar0 = lr_[0];
    const float v4 = (float)dot_scalar0;
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_add_sub_1_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_add_sub_1_tile_columns ? dot_left : dot_add_sub_1_tile_columns;
            const float *const dot_vectors
                = where_0 + dot_column * 1;
            const float *const dot_panel = dot_vectors;
            for (long dot_row = 0; dot_row < 16; dot_row += dot_add_sub_1_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 16 - dot_row < dot_add_sub_1_tile_rows ? 16 - dot_add_sub_1_tile_rows : dot_row;
                const float *const dot_broadcast
                    = where_2 + dot_first * 1;
                const long dot_rows = 16 - dot_row < dot_add_sub_1_tile_rows ? 16 - dot_row : dot_add_sub_1_tile_rows;
                float dot_tile[dot_add_sub_1_tile_rows * dot_add_sub_1_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_sub_1_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_add_sub_1_tile_columns + j - dot_column];
                        const float v1 = 0x1.a36e2ep-14f * layer_2_weight_[i * 16 + j];
                        const float v2 = v1 + v1;
                        const float v3 = v2 + acc;
                        const float v5 = v3 * v4;
                        const float v6 = layer_2_weight_[i * 16 + j] - v5;
                        layer_2_weight_grad_[i * 16 + j] = v3;
                        layer_2_weight_[i * 16 + j] = v6;
                    }
                }
            }
        }
    }
}

enum
{
    dot_add_sub_2_tile_columns = 16
};

/*
 * acc = dot          ∂ training_steps.py:51 4
 * v1 = mul          ∂ training_steps.py:52
 * v2 = add          ∂ training_steps.py:52
 * v3 = add          ∂ training_steps.py:51 4
 * v4 = cast         training_steps.py:54
 * v5 = mul          training_steps.py:54
 * v6 = sub          training_steps.py:54
 */
static void dot_add_sub_2(float *restrict layer_4_weight_grad_, float *restrict layer_4_weight_, const float *restrict mul_0, const float *restrict where_1, const double *restrict lr_)
{
    const double dot_scalar0 = lr_[0];
    const float v4 = (float)dot_scalar0;
    for (long dot_column = 0; dot_column < 16; dot_column += dot_add_sub_2_tile_columns)
    {
        const long dot_left = 16 - dot_column;
        const long dot_columns = dot_left < dot_add_sub_2_tile_columns ? dot_left : dot_add_sub_2_tile_columns;
        const long dot_row = 0;
        const long dot_first = 0;
        const long dot_rows = 1;
        float dot_tile[dot_add_sub_2_tile_columns] = {0};
        long dot_done = 0; /* four rows at a time: the tile is loaded and stored a quarter as often */
        for (; dot_done + 4 <= 32; dot_done += 4)
        {
            float dot_scales[4];
            const float *dot_vectors[4];
            for (long p = dot_done; p < dot_done + 4; ++p)
            {
                dot_scales[p - dot_done] = mul_0[p * 1];
                dot_vectors[p - dot_done] = where_1 + p * 16 + dot_column;
            }
            #pragma omp simd
            for (long c = 0; c < dot_columns; ++c)
            {
                dot_tile[c] += (dot_scales[0] * dot_vectors[0][c] + dot_scales[1] * dot_vectors[1][c])
                               + (dot_scales[2] * dot_vectors[2][c] + dot_scales[3] * dot_vectors[3][c]);
            }
        }
        for (long p = dot_done; p < 32; ++p)
        {
            const float dot_scale = mul_0[p * 1];
            const float *const dot_vector = where_1 + p * 16 + dot_column;
            #pragma omp simd
            for (long c = 0; c < dot_columns; ++c)
            {
                dot_tile[c] += dot_scale * dot_vector[c];
            }
        }
        for (long i = dot_row; i < dot_row + dot_rows; ++i)
        {
            #pragma omp simd
            for (long j = dot_column; j < dot_column + dot_columns; ++j)
            {
                const float acc = dot_tile[(i - dot_first) * dot_add_sub_2_tile_columns + j - dot_column];
                const float v1 = 0x1.a36e2ep-14f * layer_4_weight_[j];
                const float v2 = v1 + v1;
                const float v3 = v2 + acc;
                const float v5 = v3 * v4;
                const float v6 = layer_4_weight_[j] - v5;
                layer_4_weight_grad_[j] = v3;
                layer_4_weight_[j] = v6;
            }
        }
    }
}

/*
 * v2 = reshape      ∂ training_steps.py:51 4
 * sum_acc1 = sum          ∂ training_steps.py:51 4
 * v3 = mul          ∂ training_steps.py:52
 * v4 = add          ∂ training_steps.py:52
 * v5 = add          ∂ training_steps.py:51 4
 * v6 = cast         training_steps.py:54
 * v7 = mul          training_steps.py:54
 * v8 = sub          training_steps.py:54
 */
static void sum_add_sub_2(float *restrict layer_4_bias_grad_, float *restrict layer_4_bias_, const float *restrict mul_0, const double *restrict lr_)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 32; ++i0)
    {
        const float v2 = mul_0[i0];
        sum_acc1 = sum_acc1 + v2;
    }
    const float v3 = 0x1.a36e2ep-14f * layer_4_bias_[0];
    const float v4 = v3 + v3;
    const float v5 = v4 + sum_acc1;
    const float v6 = (float)lr_[0];
    const float v7 = v5 * v6;
    const float v8 = layer_4_bias_[0] - v7;
    layer_4_bias_grad_[0] = v5;
    layer_4_bias_[0] = v8;
}
