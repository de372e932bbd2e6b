/*
 * acc = dot          training_steps.py:20
 * v1 = add          training_steps.py:20
 * v2 = sub          training_steps.py:21
 * v3 = mul          ∂ training_steps.py:21
 * v4 = neg          ∂ training_steps.py:21
 * v5 = sigmoid      ∂ training_steps.py:21
 * v6 = mul          ∂ training_steps.py:21
 * v7 = add          ∂ training_steps.py:21
 * v8 = cast         training_steps.py:23
 * v9 = mul          training_steps.py:23
 * v10 = sub          training_steps.py:23
 */
static void dot_add_sub_0(float *restrict add_0, float *restrict b_grad_, float *restrict b_, const float *restrict x_, const float *restrict w_, const float *restrict y_, const double *restrict lr_)
{
    const double dot_scalar0 = lr_[0];
    const float v8 = (float)dot_scalar0;
    for (long i = 0; i < 1; ++i)
    for (long j = 0; j < 3; ++j)
    {
        float dot_sum = 0;
        #pragma omp simd reduction(+ : dot_sum)
        for (long p = 0; p < 5; ++p)
        {
            dot_sum += (float)x_[p * 1] * (float)w_[p * 3 + j * 1];
        }
        const float acc = (float)dot_sum;
        const float v1 = acc + b_[j];
        const float v2 = 1.0f - y_[j];
        const float v3 = 0x1.555556p-2f * v2;
        const float v4 = -v1;
        const float v5 = tg_sigmoidf(v4);
        const float v6 = (-0x1.555556p-2f) * v5;
        const float v7 = v3 + v6;
        const float v9 = v7 * v8;
        const float v10 = b_[j] - v9;
        add_0[j] = v1;
        b_grad_[j] = v7;
        b_[j] = v10;
    }
}

/*
 * v2 = sub          training_steps.py:21
 * v3 = mul          training_steps.py:21
 * v4 = log_sigmoid  training_steps.py:21
 * v5 = sub          training_steps.py:21
 * sum_acc1 = sum          training_steps.py:21
 * v6 = div          training_steps.py:21
 */
static void sum_div_0(float *restrict result_, const float *restrict y_, const float *restrict add_0)
{
    float sum_acc1 = 0.0f;
    #pragma omp simd reduction(+ : sum_acc1)
    for (long i0 = 0; i0 < 3; ++i0)
    {
        const float v2 = 1.0f - y_[i0];
        const float v3 = v2 * add_0[i0];
        const float v4 = tg_log_sigmoidf(add_0[i0]);
        const float v5 = v3 - v4;
        sum_acc1 = sum_acc1 + v5;
    }
    const float v6 = sum_acc1 / 3.0f;
    result_[0] = v6;
}

/*
 * acc = dot          ∂ training_steps.py:20
 * v1 = cast         training_steps.py:23
 * v2 = mul          training_steps.py:23
 * v3 = sub          training_steps.py:23
 */
static void dot_sub_0(float *restrict w_grad_, float *restrict w_, const float *restrict x_, const float *restrict b_grad_, const double *restrict lr_)
{
    const double dot_scalar0 = lr_[0];
    const float v1 = (float)dot_scalar0;
    for (long i = 0; i < 5; ++i)
    for (long j = 0; j < 3; ++j)
    {
        float dot_sum = 0;
        #pragma omp simd reduction(+ : dot_sum)
        for (long p = 0; p < 1; ++p)
        {
            dot_sum += (float)x_[i * 1] * (float)b_grad_[j * 1];
        }
        const float acc = (float)dot_sum;
        const float v2 = acc * v1;
        const float v3 = w_[i * 3 + j] - v2;
        w_grad_[i * 3 + j] = acc;
        w_[i * 3 + j] = v3;
    }
}
