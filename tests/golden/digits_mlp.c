/*
 * v1 = ne           training_steps.py:36
 * v3 = cast         training_steps.py:36
 * v4 = where        training_steps.py:36
 * sum_acc2 = sum          training_steps.py:36
 * v5 = div          ∂ training_steps.py:36
 */
static void ne_where_sum_div_0(uint8_t *restrict ne_0, int64_t *restrict where_0, float *restrict sum_0, float *restrict div_0, const int64_t *restrict y_)
{
    float sum_acc2 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc2)
    for (long i0 = 0; i0 < 8; ++i0)
    {
        const int v1 = y_[i0] != (-100);
        const float v3 = (float)v1;
        const int64_t v4 = v1 ? y_[i0] : 0;
        sum_acc2 = sum_acc2 + v3;
        ne_0[i0] = v1;
        where_0[i0] = v4;
    }
    const float v5 = 1.0f / sum_acc2;
    sum_0[0] = sum_acc2;
    div_0[0] = v5;
}

enum
{
    dot_add_le_where_0_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_add_le_where_0_tile_columns = dot_add_le_where_0_vectors * TG_FLOAT_LANES,
    dot_add_le_where_0_tile_rows = TG_TILE_ROWS(8, dot_add_le_where_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 12; the sums stay in vector registers. */
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
    for (long p = 0; p < 12; ++p)
    {
        const float *const row = panel + p * dot_add_le_where_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_le_where_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_le_where_0_vectors; ++v)
        {
            const float scale = broadcast[r * 12 + p * 1];
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
    const long whole = 12 / TG_FLOAT_LANES * TG_FLOAT_LANES;
    for (long c = 0; c < dot_add_le_where_0_tile_columns; c += TG_FLOAT_LANES)
    for (long p = 0; p < whole; p += TG_FLOAT_LANES)
    {
        tg_float_transpose(
            from + c * 12 + p, 12, columns - c,
            panel + p * dot_add_le_where_0_tile_columns + c, dot_add_le_where_0_tile_columns);
    }
    for (long p = whole; p < 12; ++p)
    for (long c = 0; c < dot_add_le_where_0_tile_columns; ++c)
    {
        panel[p * dot_add_le_where_0_tile_columns + c]
            = c < columns ? from[p * 1 + c * 12] : 0;
    }
}

/*
 * acc = dot          training_steps.py:36 0
 * v1 = add          training_steps.py:36 0
 * v2 = le           training_steps.py:36 1
 * v3 = where        training_steps.py:36 1
 */
static void dot_add_le_where_0(uint8_t *restrict le_0, float *restrict where_1, const float *restrict x_, const float *restrict layer_0_weight_, const float *restrict layer_0_bias_, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_add_le_where_0_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_add_le_where_0_tile_columns ? dot_left : dot_add_le_where_0_tile_columns;
            const float *const dot_vectors
                = layer_0_weight_ + dot_column * 12;
            float *const dot_panel = (float *)scratch;
            dot_add_le_where_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 8; dot_row += dot_add_le_where_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 8 - dot_row < dot_add_le_where_0_tile_rows ? 8 - dot_add_le_where_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = x_ + dot_first * 12;
                const long dot_rows = 8 - dot_row < dot_add_le_where_0_tile_rows ? 8 - dot_row : dot_add_le_where_0_tile_rows;
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
                        where_1[i * 16 + j] = v3;
                    }
                }
            }
        }
    }
}

enum
{
    dot_add_0_vectors = TG_TILE_VECTORS(8, TG_FLOAT_LANES),
    dot_add_0_tile_columns = dot_add_0_vectors * TG_FLOAT_LANES,
    dot_add_0_tile_rows = TG_TILE_ROWS(4, dot_add_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 16; the sums stay in vector registers. */
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
    for (long p = 0; p < 16; ++p)
    {
        const float *const row = panel + p * dot_add_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_0_vectors; ++v)
        {
            const float scale = broadcast[r * 16 + p * 1];
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
    const long whole = 16 / TG_FLOAT_LANES * TG_FLOAT_LANES;
    for (long c = 0; c < dot_add_0_tile_columns; c += TG_FLOAT_LANES)
    for (long p = 0; p < whole; p += TG_FLOAT_LANES)
    {
        tg_float_transpose(
            from + c * 16 + p, 16, columns - c,
            panel + p * dot_add_0_tile_columns + c, dot_add_0_tile_columns);
    }
    for (long p = whole; p < 16; ++p)
    for (long c = 0; c < dot_add_0_tile_columns; ++c)
    {
        panel[p * dot_add_0_tile_columns + c]
            = c < columns ? from[p * 1 + c * 16] : 0;
    }
}

/*
 * acc = dot          training_steps.py:36 2
 * v1 = add          training_steps.py:36 2
 */
static void dot_add_0(float *restrict add_0, const float *restrict where_1, const float *restrict layer_2_weight_, const float *restrict layer_2_bias_, char *restrict scratch)
{
    {
        for (long dot_column = 0; dot_column < 8; dot_column += dot_add_0_tile_columns)
        {
            const long dot_left = 8 - dot_column;
            const long dot_columns = dot_left < dot_add_0_tile_columns ? dot_left : dot_add_0_tile_columns;
            const float *const dot_vectors
                = where_1 + dot_column * 16;
            float *const dot_panel = (float *)scratch;
            dot_add_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 4; dot_row += dot_add_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 4 - dot_row < dot_add_0_tile_rows ? 4 - dot_add_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = layer_2_weight_ + dot_first * 16;
                const long dot_rows = 4 - dot_row < dot_add_0_tile_rows ? 4 - dot_row : dot_add_0_tile_rows;
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
                        add_0[i * 4 + j] = v1;
                    }
                }
            }
        }
    }
}

/* Every index in where_0 is at least 0 and below 4; else detail[0] is the first that is not. */
static bool check_0(const int64_t *restrict where_0, int64_t *restrict detail)
{
    for (long place = 0; place < 8; ++place)
    {
        const int64_t value = where_0[place];
        if (value < 0 || value >= 4)
        {
            detail[0] = value;
            return true;
        }
    }
    return false;
}

/*
 * v2 = where        ∂ training_steps.py:36
 * v3 = neg          ∂ training_steps.py:36
 * v6 = add          training_steps.py:36 2
 * v7 = reshape      training_steps.py:36
 * v8 = scatter_add  ∂ training_steps.py:36
 * v9 = scatter_add  ∂ training_steps.py:36
 * v10 = neg          ∂ training_steps.py:36
 * amax_acc4 = amax         training_steps.py:36
 * sum_acc5 = sum          ∂ training_steps.py:36
 * v11 = sub          training_steps.py:36
 * v12 = exp          training_steps.py:36
 * sum_acc13 = sum          training_steps.py:36
 * v15 = log          training_steps.py:36
 * v16 = reshape      training_steps.py:36
 * v17 = sub          training_steps.py:36
 * v18 = sub          training_steps.py:36
 * v20 = div          ∂ training_steps.py:36
 * v21 = reshape      training_steps.py:36
 * v22 = scatter_add  ∂ training_steps.py:36
 * v23 = scatter_add  ∂ training_steps.py:36
 * v24 = mul          ∂ training_steps.py:36
 * v25 = add          ∂ training_steps.py:36
 */
static void amax_exp_sum_log_0(float *restrict gather_0, float *restrict add_1, const uint8_t *restrict ne_0, const float *restrict div_0, const float *restrict add_0, const int64_t *restrict where_0)
{
    for (long i0 = 0; i0 < 1; ++i0)
    {
        float neg_row1[8];
        float exp_row14[32];
        float div_row19[8];
        const long step4 = tg_hidden(4);
        {
            const float v2_x = div_0[0];
            #pragma omp simd
            for (long i1 = 0; i1 < 8; ++i1)
            {
                const float v2 = ne_0[i1] ? v2_x : 0.0f;
                const float v3 = -v2;
                neg_row1[i1] = v3;
            }
        }
        float amax_acc4[8];
        for (long element = 0; element < 8; ++element)
        {
            amax_acc4[element] = -INFINITY;
        }
        float sum_acc5[8];
        for (long element = 0; element < 8; ++element)
        {
            sum_acc5[element] = 0.0f;
        }
        for (long i2 = 0; i2 < 4; ++i2)
        #pragma omp simd
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const float v6 = add_0[i1 * step4 + i2];
            const int64_t v7 = where_0[i1];
            const float v8 = 0.0f + neg_row1[i1];
            const float v9 = (i2 - v7 == 0) ? v8 : 0.0f;
            const float v10 = -v9;
            amax_acc4[i1] = tg_maxf(amax_acc4[i1], v6);
            sum_acc5[i1] = sum_acc5[i1] + v10;
        }
        float sum_acc13[8];
        for (long element = 0; element < 8; ++element)
        {
            sum_acc13[element] = 0.0f;
        }
        for (long i2 = 0; i2 < 4; ++i2)
        #pragma omp simd
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const float v11 = add_0[i1 * step4 + i2] - amax_acc4[i1];
            const float v12 = tg_expf(v11);
            sum_acc13[i1] = sum_acc13[i1] + v12;
            exp_row14[i2 * 8 + i1] = v12;
        }
        #pragma omp simd
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const float v15 = tg_logf(sum_acc13[i1]);
            const int64_t v16 = where_0[i1];
            const float v17 = add_0[i1 * step4 + v16] - amax_acc4[i1];
            const float v18 = v17 - v15;
            const float v20 = sum_acc5[i1] / sum_acc13[i1];
            gather_0[i1] = v18;
            div_row19[i1] = v20;
        }
        for (long i2 = 0; i2 < 4; ++i2)
        #pragma omp simd
        for (long i1 = 0; i1 < 8; ++i1)
        {
            const int64_t v21 = where_0[i1];
            const float v22 = 0.0f + neg_row1[i1];
            const float v23 = (i2 - v21 == 0) ? v22 : 0.0f;
            const float v24 = div_row19[i1] * exp_row14[i2 * 8 + i1];
            const float v25 = v23 + v24;
            add_1[i1 * step4 + i2] = v25;
        }
    }
}

/*
 * v2 = neg          training_steps.py:36
 * v3 = where        training_steps.py:36
 * sum_acc1 = sum          training_steps.py:36
 * v4 = div          training_steps.py:36
 */
static void sum_div_0(float *restrict result_, const float *restrict gather_0, const uint8_t *restrict ne_0, const float *restrict sum_0)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 8; ++i0)
    {
        const float v2 = -gather_0[i0];
        const float v3 = ne_0[i0] ? v2 : 0.0f;
        sum_acc1 = sum_acc1 + v3;
    }
    const float v4 = sum_acc1 / sum_0[0];
    result_[0] = v4;
}

enum
{
    dot_where_0_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_where_0_tile_columns = dot_where_0_vectors * TG_FLOAT_LANES,
    dot_where_0_tile_rows = TG_TILE_ROWS(8, dot_where_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 4; the sums stay in vector registers. */
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
    for (long p = 0; p < 4; ++p)
    {
        const float *const row = panel + p * 16;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_where_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_where_0_vectors; ++v)
        {
            const float scale = broadcast[r * 4 + p * 1];
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
 * acc = dot          ∂ training_steps.py:36 2
 * v1 = where        ∂ training_steps.py:36 1
 */
static void dot_where_0(float *restrict where_2, const float *restrict add_1, const float *restrict layer_2_weight_, const uint8_t *restrict le_0)
{
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_where_0_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_where_0_tile_columns ? dot_left : dot_where_0_tile_columns;
            const float *const dot_vectors
                = layer_2_weight_ + dot_column * 1;
            const float *const dot_panel = dot_vectors;
            for (long dot_row = 0; dot_row < 8; dot_row += dot_where_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 8 - dot_row < dot_where_0_tile_rows ? 8 - dot_where_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = add_1 + dot_first * 4;
                const long dot_rows = 8 - dot_row < dot_where_0_tile_rows ? 8 - dot_row : dot_where_0_tile_rows;
                float dot_tile[dot_where_0_tile_rows * dot_where_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_where_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_where_0_tile_columns + j - dot_column];
                        const float v1 = le_0[i * 16 + j] ? 0.0f : acc;
                        where_2[i * 16 + j] = v1;
                    }
                }
            }
        }
    }
}

/*
 * v1 = add          training_steps.py:38
 * v2 = add          training_steps.py:38
 * v3 = add          training_steps.py:38
 * v4 = add          training_steps.py:38
 * v5 = sub          training_steps.py:38
 * v6 = cast         training_steps.py:38
 * v7 = cast         training_steps.py:38
 * v8 = pow_tensor   training_steps.py:38
 * v9 = sub          training_steps.py:38
 * v10 = div          training_steps.py:38
 * v11 = cast         training_steps.py:38
 * v12 = sub          training_steps.py:38
 * v13 = cast         training_steps.py:38
 * v14 = pow_tensor   training_steps.py:38
 * v15 = sub          training_steps.py:38
 * v16 = pow          training_steps.py:38
 * v17 = cast         training_steps.py:38
 * v18 = cast         training_steps.py:38
 * v19 = pow_tensor   training_steps.py:38
 * v20 = sub          training_steps.py:38
 * v21 = div          training_steps.py:38
 * v22 = cast         training_steps.py:38
 * v23 = pow_tensor   training_steps.py:38
 * v24 = sub          training_steps.py:38
 * v25 = pow          training_steps.py:38
 * v26 = cast         training_steps.py:38
 * v27 = cast         training_steps.py:38
 * v28 = pow_tensor   training_steps.py:38
 * v29 = sub          training_steps.py:38
 * v30 = div          training_steps.py:38
 * v31 = cast         training_steps.py:38
 * v32 = pow_tensor   training_steps.py:38
 * v33 = sub          training_steps.py:38
 * v34 = pow          training_steps.py:38
 * v35 = cast         training_steps.py:38
 * v36 = cast         training_steps.py:38
 * v37 = pow_tensor   training_steps.py:38
 * v38 = sub          training_steps.py:38
 * v39 = div          training_steps.py:38
 * v40 = cast         training_steps.py:38
 * v41 = pow_tensor   training_steps.py:38
 * v42 = sub          training_steps.py:38
 * v43 = pow          training_steps.py:38
 * v44 = cast         training_steps.py:38
 */
static void cast_add_0(float *restrict cast_0, float *restrict layer_0_weight_step_, float *restrict cast_1, float *restrict cast_2, float *restrict cast_3, float *restrict layer_0_bias_step_, float *restrict cast_4, float *restrict cast_5, float *restrict layer_2_weight_step_, float *restrict cast_6, float *restrict cast_7, float *restrict layer_2_bias_step_, float *restrict cast_8, float *restrict cast_9, const double *restrict betas_0_, const double *restrict lr_, const double *restrict betas_1_)
{
    const float v1 = layer_0_weight_step_[0] + 1.0f;
    const float v2 = layer_0_bias_step_[0] + 1.0f;
    const float v3 = layer_2_weight_step_[0] + 1.0f;
    const float v4 = layer_2_bias_step_[0] + 1.0f;
    const double v5 = 1.0 - betas_0_[0];
    const float v6 = (float)v5;
    const double v7 = (double)v1;
    const double v8 = tg_pow(betas_0_[0], v7);
    const double v9 = 1.0 - v8;
    const double v10 = lr_[0] / v9;
    const float v11 = (float)v10;
    const double v12 = 1.0 - betas_1_[0];
    const float v13 = (float)v12;
    const double v14 = tg_pow(betas_1_[0], v7);
    const double v15 = 1.0 - v14;
    const double v16 = tg_rsqrt(v15);
    const float v17 = (float)v16;
    const double v18 = (double)v2;
    const double v19 = tg_pow(betas_0_[0], v18);
    const double v20 = 1.0 - v19;
    const double v21 = lr_[0] / v20;
    const float v22 = (float)v21;
    const double v23 = tg_pow(betas_1_[0], v18);
    const double v24 = 1.0 - v23;
    const double v25 = tg_rsqrt(v24);
    const float v26 = (float)v25;
    const double v27 = (double)v3;
    const double v28 = tg_pow(betas_0_[0], v27);
    const double v29 = 1.0 - v28;
    const double v30 = lr_[0] / v29;
    const float v31 = (float)v30;
    const double v32 = tg_pow(betas_1_[0], v27);
    const double v33 = 1.0 - v32;
    const double v34 = tg_rsqrt(v33);
    const float v35 = (float)v34;
    const double v36 = (double)v4;
    const double v37 = tg_pow(betas_0_[0], v36);
    const double v38 = 1.0 - v37;
    const double v39 = lr_[0] / v38;
    const float v40 = (float)v39;
    const double v41 = tg_pow(betas_1_[0], v36);
    const double v42 = 1.0 - v41;
    const double v43 = tg_rsqrt(v42);
    const float v44 = (float)v43;
    cast_0[0] = v6;
    layer_0_weight_step_[0] = v1;
    cast_1[0] = v11;
    cast_2[0] = v13;
    cast_3[0] = v17;
    layer_0_bias_step_[0] = v2;
    cast_4[0] = v22;
    cast_5[0] = v26;
    layer_2_weight_step_[0] = v3;
    cast_6[0] = v31;
    cast_7[0] = v35;
    layer_2_bias_step_[0] = v4;
    cast_8[0] = v40;
    cast_9[0] = v44;
}

enum
{
    dot_add_sub_0_vectors = TG_TILE_VECTORS(12, TG_FLOAT_LANES),
    dot_add_sub_0_tile_columns = dot_add_sub_0_vectors * TG_FLOAT_LANES,
    dot_add_sub_0_tile_rows = TG_TILE_ROWS(16, dot_add_sub_0_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 8; the sums stay in vector registers. */
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
    for (long p = 0; p < 8; ++p)
    {
        const float *const row = panel + p * dot_add_sub_0_tile_columns;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_sub_0_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_sub_0_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 16];
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

/* panel[p, c] = from[p, c]; columns from `columns` on are zero, so that every tile is a whole one. */
static void dot_add_sub_0_pack(
    const float *restrict from, long columns, float *restrict panel)
{
    if (columns == dot_add_sub_0_tile_columns)
    {
        for (long p = 0; p < 8; ++p)
        #pragma GCC unroll 4
        for (long c = 0; c < dot_add_sub_0_tile_columns; c += TG_FLOAT_LANES)
        {
            *(tg_float_vector *)(panel + p * dot_add_sub_0_tile_columns + c)
                = *(const tg_float_vector *)(from + p * 12 + c);
        }
        return;
    }
    const long whole = 0;
    for (long p = whole; p < 8; ++p)
    for (long c = 0; c < dot_add_sub_0_tile_columns; ++c)
    {
        panel[p * dot_add_sub_0_tile_columns + c]
            = c < columns ? from[p * 12 + c * 1] : 0;
    }
}

/*
 * acc = dot          ∂ training_steps.py:36 0
 * v1 = sub          training_steps.py:38
 * v2 = mul          training_steps.py:38
 * v3 = add          training_steps.py:38
 * v4 = cast         training_steps.py:38
 * v5 = mul          training_steps.py:38
 * v6 = mul          training_steps.py:38
 * v7 = mul          training_steps.py:38
 * v8 = add          training_steps.py:38
 * v9 = mul          training_steps.py:38
 * v10 = sqrt         training_steps.py:38
 * v11 = mul          training_steps.py:38
 * v12 = cast         training_steps.py:38
 * v13 = add          training_steps.py:38
 * v14 = div          training_steps.py:38
 * v15 = sub          training_steps.py:38
 */
static void dot_add_sub_0(float *restrict layer_0_weight_grad_, float *restrict layer_0_weight_exp_avg_, float *restrict layer_0_weight_exp_avg_sq_, float *restrict layer_0_weight_, const float *restrict where_2, const float *restrict x_, const float *restrict cast_0, const double *restrict betas_1_, const float *restrict cast_2, const float *restrict cast_1, const float *restrict cast_3, const double *restrict eps_, char *restrict scratch)
{
    const float dot_scalar0 = cast_0[0];
    const double dot_scalar1 = betas_1_[0];
    const float v4 = (float)dot_scalar1;
    const float dot_scalar2 = cast_2[0];
    const float dot_scalar3 = cast_1[0];
    const float dot_scalar4 = cast_3[0];
    const double dot_scalar5 = eps_[0];
    const float v12 = (float)dot_scalar5;
    {
        for (long dot_column = 0; dot_column < 12; dot_column += dot_add_sub_0_tile_columns)
        {
            const long dot_left = 12 - dot_column;
            const long dot_columns = dot_left < dot_add_sub_0_tile_columns ? dot_left : dot_add_sub_0_tile_columns;
            const float *const dot_vectors
                = x_ + dot_column * 1;
            float *const dot_panel = (float *)scratch;
            dot_add_sub_0_pack(dot_vectors, dot_columns, dot_panel);
            for (long dot_row = 0; dot_row < 16; dot_row += dot_add_sub_0_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 16 - dot_row < dot_add_sub_0_tile_rows ? 16 - dot_add_sub_0_tile_rows : dot_row;
                const float *const dot_broadcast
                    = where_2 + dot_first * 1;
                const long dot_rows = 16 - dot_row < dot_add_sub_0_tile_rows ? 16 - dot_row : dot_add_sub_0_tile_rows;
                float dot_tile[dot_add_sub_0_tile_rows * dot_add_sub_0_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_sub_0_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_add_sub_0_tile_columns + j - dot_column];
                        const float v1 = acc - layer_0_weight_exp_avg_[i * 12 + j];
                        const float v2 = v1 * dot_scalar0;
                        const float v3 = layer_0_weight_exp_avg_[i * 12 + j] + v2;
                        const float v5 = layer_0_weight_exp_avg_sq_[i * 12 + j] * v4;
                        const float v6 = acc * dot_scalar2;
                        const float v7 = v6 * acc;
                        const float v8 = v5 + v7;
                        const float v9 = v3 * dot_scalar3;
                        const float v10 = tg_sqrtf(v8);
                        const float v11 = v10 * dot_scalar4;
                        const float v13 = v11 + v12;
                        const float v14 = v9 / v13;
                        const float v15 = layer_0_weight_[i * 12 + j] - v14;
                        layer_0_weight_grad_[i * 12 + j] = acc;
                        layer_0_weight_exp_avg_[i * 12 + j] = v3;
                        layer_0_weight_exp_avg_sq_[i * 12 + j] = v8;
                        layer_0_weight_[i * 12 + j] = v15;
                    }
                }
            }
        }
    }
}

/*
 * v2 = where        ∂ training_steps.py:36 1
 * sum_acc1 = sum          ∂ training_steps.py:36 0
 * v6 = cast         training_steps.py:38
 * v15 = cast         training_steps.py:38
 * v3 = sub          training_steps.py:38
 * v4 = mul          training_steps.py:38
 * v5 = add          training_steps.py:38
 * v7 = mul          training_steps.py:38
 * v8 = mul          training_steps.py:38
 * v9 = mul          training_steps.py:38
 * v10 = add          training_steps.py:38
 * v11 = sum          ∂ training_steps.py:36 0
 * v12 = mul          training_steps.py:38
 * v13 = sqrt         training_steps.py:38
 * v14 = mul          training_steps.py:38
 * v16 = add          training_steps.py:38
 * v17 = div          training_steps.py:38
 * v18 = sub          training_steps.py:38
 */
static void sum_add_sub_0(float *restrict layer_0_bias_grad_, float *restrict layer_0_bias_exp_avg_, float *restrict layer_0_bias_exp_avg_sq_, float *restrict layer_0_bias_, const float *restrict where_2, const double *restrict betas_1_, const double *restrict eps_, const float *restrict cast_0, const float *restrict cast_2, const float *restrict cast_4, const float *restrict cast_5)
{
    float sum_acc1[16];
    for (long element = 0; element < 16; ++element)
    {
        sum_acc1[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 8; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v2 = where_2[i0 * 16 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v2;
    }
    const float v6 = (float)betas_1_[0];
    const float v15 = (float)eps_[0];
    #pragma omp simd
    for (long i1 = 0; i1 < 16; ++i1)
    {
        const float v3 = sum_acc1[i1] - layer_0_bias_exp_avg_[i1];
        const float v4 = v3 * cast_0[0];
        const float v5 = layer_0_bias_exp_avg_[i1] + v4;
        const float v7 = layer_0_bias_exp_avg_sq_[i1] * v6;
        const float v8 = sum_acc1[i1] * cast_2[0];
        const float v9 = v8 * sum_acc1[i1];
        const float v10 = v7 + v9;
        const float v11 = sum_acc1[i1];
        const float v12 = v5 * cast_4[0];
        const float v13 = tg_sqrtf(v10);
        const float v14 = v13 * cast_5[0];
        const float v16 = v14 + v15;
        const float v17 = v12 / v16;
        const float v18 = layer_0_bias_[i1] - v17;
        layer_0_bias_grad_[i1] = v11;
        layer_0_bias_exp_avg_[i1] = v5;
        layer_0_bias_exp_avg_sq_[i1] = v10;
        layer_0_bias_[i1] = v18;
    }
}

enum
{
    dot_add_sub_1_vectors = TG_TILE_VECTORS(16, TG_FLOAT_LANES),
    dot_add_sub_1_tile_columns = dot_add_sub_1_vectors * TG_FLOAT_LANES,
    dot_add_sub_1_tile_rows = TG_TILE_ROWS(4, dot_add_sub_1_vectors)
};

/* tile[r, c] = sum of broadcast[r, p] * panel[p, c] over p < 8; the sums stay in vector registers. */
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
    for (long p = 0; p < 8; ++p)
    {
        const float *const row = panel + p * 16;
        #pragma GCC unroll 16
        for (long r = 0; r < dot_add_sub_1_tile_rows; ++r)
        #pragma GCC unroll 4
        for (long v = 0; v < dot_add_sub_1_vectors; ++v)
        {
            const float scale = broadcast[r * 1 + p * 4];
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
 * acc = dot          ∂ training_steps.py:36 2
 * v1 = sub          training_steps.py:38
 * v2 = mul          training_steps.py:38
 * v3 = add          training_steps.py:38
 * v4 = cast         training_steps.py:38
 * v5 = mul          training_steps.py:38
 * v6 = mul          training_steps.py:38
 * v7 = mul          training_steps.py:38
 * v8 = add          training_steps.py:38
 * v9 = mul          training_steps.py:38
 * v10 = sqrt         training_steps.py:38
 * v11 = mul          training_steps.py:38
 * v12 = cast         training_steps.py:38
 * v13 = add          training_steps.py:38
 * v14 = div          training_steps.py:38
 * v15 = sub          training_steps.py:38
 */
static void dot_add_sub_1(float *restrict layer_2_weight_grad_, float *restrict layer_2_weight_exp_avg_, float *restrict layer_2_weight_exp_avg_sq_, float *restrict layer_2_weight_, const float *restrict add_1, const float *restrict where_1, const float *restrict cast_0, const double *restrict betas_1_, const float *restrict cast_2, const float *restrict cast_6, const float *restrict cast_7, const double *restrict eps_)
{
    const float dot_scalar0 = cast_0[0];
    const double dot_scalar1 = betas_1_[0];
    const float v4 = (float)dot_scalar1;
    const float dot_scalar2 = cast_2[0];
    const float dot_scalar3 = cast_6[0];
    const float dot_scalar4 = cast_7[0];
    const double dot_scalar5 = eps_[0];
    const float v12 = (float)dot_scalar5;
    {
        for (long dot_column = 0; dot_column < 16; dot_column += dot_add_sub_1_tile_columns)
        {
            const long dot_left = 16 - dot_column;
            const long dot_columns = dot_left < dot_add_sub_1_tile_columns ? dot_left : dot_add_sub_1_tile_columns;
            const float *const dot_vectors
                = where_1 + dot_column * 1;
            const float *const dot_panel = dot_vectors;
            for (long dot_row = 0; dot_row < 4; dot_row += dot_add_sub_1_tile_rows)
            {
                /* The last tile starts early enough to be a whole one. */
                const long dot_first = 4 - dot_row < dot_add_sub_1_tile_rows ? 4 - dot_add_sub_1_tile_rows : dot_row;
                const float *const dot_broadcast
                    = add_1 + dot_first * 1;
                const long dot_rows = 4 - dot_row < dot_add_sub_1_tile_rows ? 4 - dot_row : dot_add_sub_1_tile_rows;
                float dot_tile[dot_add_sub_1_tile_rows * dot_add_sub_1_tile_columns]
                    __attribute__((aligned(64)));
                dot_add_sub_1_tile(dot_broadcast, dot_panel, dot_tile);
                for (long i = dot_row; i < dot_row + dot_rows; ++i)
                {
                    #pragma omp simd
                    for (long j = dot_column; j < dot_column + dot_columns; ++j)
                    {
                        const float acc = dot_tile[(i - dot_first) * dot_add_sub_1_tile_columns + j - dot_column];
                        const float v1 = acc - layer_2_weight_exp_avg_[i * 16 + j];
                        const float v2 = v1 * dot_scalar0;
                        const float v3 = layer_2_weight_exp_avg_[i * 16 + j] + v2;
                        const float v5 = layer_2_weight_exp_avg_sq_[i * 16 + j] * v4;
                        const float v6 = acc * dot_scalar2;
                        const float v7 = v6 * acc;
                        const float v8 = v5 + v7;
                        const float v9 = v3 * dot_scalar3;
                        const float v10 = tg_sqrtf(v8);
                        const float v11 = v10 * dot_scalar4;
                        const float v13 = v11 + v12;
                        const float v14 = v9 / v13;
                        const float v15 = layer_2_weight_[i * 16 + j] - v14;
                        layer_2_weight_grad_[i * 16 + j] = acc;
                        layer_2_weight_exp_avg_[i * 16 + j] = v3;
                        layer_2_weight_exp_avg_sq_[i * 16 + j] = v8;
                        layer_2_weight_[i * 16 + j] = v15;
                    }
                }
            }
        }
    }
}

/*
 * v2 = add          ∂ training_steps.py:36
 * sum_acc1 = sum          ∂ training_steps.py:36 2
 * v6 = cast         training_steps.py:38
 * v15 = cast         training_steps.py:38
 * v3 = sub          training_steps.py:38
 * v4 = mul          training_steps.py:38
 * v5 = add          training_steps.py:38
 * v7 = mul          training_steps.py:38
 * v8 = mul          training_steps.py:38
 * v9 = mul          training_steps.py:38
 * v10 = add          training_steps.py:38
 * v11 = sum          ∂ training_steps.py:36 2
 * v12 = mul          training_steps.py:38
 * v13 = sqrt         training_steps.py:38
 * v14 = mul          training_steps.py:38
 * v16 = add          training_steps.py:38
 * v17 = div          training_steps.py:38
 * v18 = sub          training_steps.py:38
 */
static void sum_add_sub_1(float *restrict layer_2_bias_grad_, float *restrict layer_2_bias_exp_avg_, float *restrict layer_2_bias_exp_avg_sq_, float *restrict layer_2_bias_, const float *restrict add_1, const double *restrict betas_1_, const double *restrict eps_, const float *restrict cast_0, const float *restrict cast_2, const float *restrict cast_8, const float *restrict cast_9)
{
    float sum_acc1[4];
    for (long element = 0; element < 4; ++element)
    {
        sum_acc1[element] = 0.0f;
    }
    for (long i0 = 0; i0 < 8; ++i0)
    #pragma omp simd
    for (long i1 = 0; i1 < 4; ++i1)
    {
        const float v2 = add_1[i0 * 4 + i1];
        sum_acc1[i1] = sum_acc1[i1] + v2;
    }
    const float v6 = (float)betas_1_[0];
    const float v15 = (float)eps_[0];
    #pragma omp simd
    for (long i1 = 0; i1 < 4; ++i1)
    {
        const float v3 = sum_acc1[i1] - layer_2_bias_exp_avg_[i1];
        const float v4 = v3 * cast_0[0];
        const float v5 = layer_2_bias_exp_avg_[i1] + v4;
        const float v7 = layer_2_bias_exp_avg_sq_[i1] * v6;
        const float v8 = sum_acc1[i1] * cast_2[0];
        const float v9 = v8 * sum_acc1[i1];
        const float v10 = v7 + v9;
        const float v11 = sum_acc1[i1];
        const float v12 = v5 * cast_8[0];
        const float v13 = tg_sqrtf(v10);
        const float v14 = v13 * cast_9[0];
        const float v16 = v14 + v15;
        const float v17 = v12 / v16;
        const float v18 = layer_2_bias_[i1] - v17;
        layer_2_bias_grad_[i1] = v11;
        layer_2_bias_exp_avg_[i1] = v5;
        layer_2_bias_exp_avg_sq_[i1] = v10;
        layer_2_bias_[i1] = v18;
    }
}
