"""Steps that schedule, clip, accumulate, average, freeze and penalise."""

import copy
import math

from .setting import BATCHES, Run, parameters, pattern


@pattern("lr set by hand in param_groups")
def lr_by_hand(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y, i):
        for group in optimizer.param_groups:
            group["lr"] = 1e-3 * 0.5 * (1 + math.cos(math.pi * (i % 1000) / 1000))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("scheduler.step() inside")
def scheduler_inside(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=1000)

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("clip_grad_norm_, the norm appended")
def clipped(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    norms = []

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        norms.append(norm.item())
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), norms)


@pattern("gradient accumulation over 4")
def accumulated(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y, i):
        loss = F.cross_entropy(model(x), y) / 4
        loss.backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("opt.step(closure)")
def closure_step(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        def closure():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            return loss

        return optimizer.step(closure)

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("zero_grad(set_to_none=False)")
def zeros_kept(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        optimizer.zero_grad(set_to_none=False)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("label smoothing and loss weight by arguments")
def smoothed(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y, smoothing, weight):
        optimizer.zero_grad()
        loss = weight * F.cross_entropy(model(x), y, label_smoothing=smoothing)
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], 0.1, 1 / (1 + 0.01 * i)), parameters(model))


@pattern("two losses, summed with a changing weight")
def two_losses(s):
    torch, nn, F = s.names
    classes = s.sizes.classes
    encoder, head, decoder = s.mlp(), nn.Linear(classes, classes), s.mlp(classes, s.sizes.features)
    optimizer = s.adam(encoder, head, decoder)
    beta = {"value": 0.0}

    @s.whole
    def step(x, y):
        beta["value"] = min(1.0, beta["value"] + 0.01)
        optimizer.zero_grad()
        code = encoder(x)
        loss = F.cross_entropy(head(code), y) + beta["value"] * F.mse_loss(decoder(code), x)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(encoder, head, decoder), beta)


@pattern("weight decay by hand over the parameters")
def decay_by_hand(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss = loss + 1e-4 * sum(p.pow(2).sum() for name, p in model.named_parameters() if name.endswith("weight"))
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("gradient noise")
def gradient_noise(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        for p in model.parameters():
            p.grad += 0.01 * torch.randn_like(p.grad)
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("gradient penalty")
def gradient_penalty(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        x = x.clone().requires_grad_(True)
        loss = F.cross_entropy(model(x), y)
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        total = loss + 10.0 * grad.pow(2).sum(dim=1).mean()
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        return total.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("EMA of weights")
def averaged(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    ema = copy.deepcopy(model)

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for average, p in zip(ema.parameters(), model.parameters()):  # noqa: B905
                average.mul_(0.99).add_(p, alpha=0.01)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model, ema))


@pattern("freezing layers at a step")
def frozen(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    at = s.sizes.seldom

    @s.whole
    def step(x, y, i):
        if i == at:
            for p in model[0].parameters():
                p.requires_grad = False
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))
