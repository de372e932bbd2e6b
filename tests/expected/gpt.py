"""A small GPT on a text of cycles: what such programs use, written once for both libraries."""

import math

SYMBOLS, BLOCK, WIDTH, HEADS, LAYERS, BATCH, STEPS = 23, 37, 24, 3, 2, 4, 20


def model_class(tg):
    nn, F = tg.nn, tg.nn.functional

    class CausalSelfAttention(nn.Module):
        def __init__(self, flash, dropout):
            super().__init__()
            self.c_attn = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
            self.c_proj = nn.Linear(WIDTH, WIDTH, bias=False)
            self.attn_dropout, self.resid_dropout = nn.Dropout(dropout), nn.Dropout(dropout)
            self.flash, self.dropout = flash, dropout
            mask = tg.tril(tg.ones(BLOCK, BLOCK)).view(1, 1, BLOCK, BLOCK)
            self.register_buffer("mask", mask, persistent=False)

        def forward(self, x):
            batch, length, width = x.size()
            heads = [part.view(batch, length, HEADS, width // HEADS).transpose(1, 2)
                     for part in self.c_attn(x).split(WIDTH, dim=2)]  # fmt: skip
            if self.flash:
                p = self.dropout if self.training else 0
                y = F.scaled_dot_product_attention(*heads, attn_mask=None, dropout_p=p, is_causal=True)
            else:
                q, k, v = heads
                att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
                att = att.masked_fill(self.mask[:, :, :length, :length] == 0, float("-inf"))
                y = self.attn_dropout(F.softmax(att, dim=-1)) @ v
            return self.resid_dropout(self.c_proj(y.transpose(1, 2).contiguous().view(batch, length, width)))

    class Block(nn.Module):
        def __init__(self, flash, dropout):
            super().__init__()
            self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH, bias=False)
            self.attn = CausalSelfAttention(flash, dropout)
            self.c_fc, self.c_proj = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
            self.dropout = nn.Dropout(dropout)

        def forward(self, x):
            x = x + self.attn(self.ln_1(x))
            return x + self.dropout(self.c_proj(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")))

    class GPT(nn.Module):
        def __init__(self, flash=True, dropout=0.1):
            super().__init__()
            self.transformer = nn.ModuleDict(dict(
                wte=nn.Embedding(SYMBOLS, WIDTH), wpe=nn.Embedding(BLOCK, WIDTH), drop=nn.Dropout(dropout),
                h=nn.ModuleList([Block(flash, dropout) for _ in range(LAYERS)]), ln_f=nn.LayerNorm(WIDTH)))  # fmt: skip
            self.lm_head = nn.Linear(WIDTH, SYMBOLS, bias=False)
            self.transformer.wte.weight = self.lm_head.weight
            self.apply(self._start)
            for name, parameter in self.named_parameters():
                if name.endswith("c_proj.weight"):
                    nn.init.normal_(parameter, mean=0.0, std=0.2 / math.sqrt(2 * LAYERS))

        def _start(self, module):
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, mean=0.0, std=0.2)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)
            elif isinstance(module, nn.Embedding):
                nn.init.normal_(module.weight, mean=0.0, std=0.2)

        def forward(self, idx, targets=None):
            pos = tg.arange(0, idx.size(1), dtype=tg.long, device=idx.device)
            x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(pos))
            for block in self.transformer.h:
                x = block(x)
            x = self.transformer.ln_f(x)
            if targets is None:
                return self.lm_head(x[:, [-1], :]), None
            logits = self.lm_head(x)
            loss = F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)
            return logits, loss

    return GPT


def batches(tg):
    for number in range(STEPS):
        rows = [[(7 * i * i + number + 3 * row) % SYMBOLS for i in range(BLOCK + 1)] for row in range(BATCH)]
        text = tg.tensor(rows)
        yield text[:, :-1].contiguous(), text[:, 1:].contiguous()


def optimizer_of(tg, model):
    parameters = {name: p for name, p in model.named_parameters() if p.requires_grad}
    groups = [
        {"params": [p for p in parameters.values() if p.dim() >= 2], "weight_decay": 0.1},
        {"params": [p for p in parameters.values() if p.dim() < 2], "weight_decay": 0.0},
    ]
    return tg.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.99))


def generate(tg, model, count, temperature, top_k):
    model.eval()
    idx = tg.zeros((2, 1), dtype=tg.long)
    with tg.no_grad():
        for _ in range(count):
            logits, _ = model(idx[:, -BLOCK:])
            logits = logits[:, -1, :] / temperature
            values, _ = tg.topk(logits, min(top_k, logits.size(-1)))
            logits[logits < values[:, [-1]]] = -float("Inf")
            probabilities = tg.nn.functional.softmax(logits, dim=-1)
            idx = tg.cat((idx, tg.multinomial(probabilities, num_samples=1)), dim=1)
    model.train()
    return idx


def train(tg, flash=True, dropout=0.1, dtype="float32", compiled="nothing"):
    """The losses and norms of gradients of 20 steps, and what is generated then; `compiled` is "step" or "model"."""
    tg.manual_seed(1337)
    model = model_class(tg)(flash, dropout).to(getattr(tg, dtype))
    optimizer = optimizer_of(tg, model)
    called = tg.compile(model) if compiled == "model" else model

    def step(x, y):
        _, loss = called(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norm = tg.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss, norm

    run, found = tg.compile(step) if compiled == "step" else step, []
    for number, (x, y) in enumerate(batches(tg)):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 + 9e-3 * 0.5 * (1 + math.cos(math.pi * number / STEPS))
        loss, norm = run(x, y)
        found.append((loss.item(), norm.item()))
    return found, generate(tg, model, 12, 0.9, 5).tolist(), run, called
