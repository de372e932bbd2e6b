"""Steps that update weights, moments, scales and copies of weights by hand."""

import copy
import math

from .setting import BATCHES, Run, parameters, pattern


@pattern("gradient descent by hand (p.data -= lr * p.grad)")
def descent_by_hand(s):
    torch, nn, F = s.names
    model, lr = s.mlp(), 0.05

    @s.whole
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        for p in model.parameters():
            p.data -= lr * p.grad
            p.grad = None
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("momentum by hand, learning rate decaying")
def momentum_by_hand(s):
    torch, nn, F = s.names
    model = s.mlp()
    velocity = [torch.zeros_like(p) for p in model.parameters()]

    @s.whole
    def step(x, y, i):
        lr = 0.05 * 0.999**i
        loss = F.cross_entropy(model(x), y)
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p, v in zip(model.parameters(), velocity):  # noqa: B905
                v.mul_(0.9).add_(p.grad)
                p -= lr * v
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("EMA by .data.mul_().add_()")
def averaged_data(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    ema = copy.deepcopy(model)

    @s.whole
    def step(x, y, i):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        decay = min(0.99, (1 + i) / (10 + i))
        for average, p in zip(ema.parameters(), model.parameters()):  # noqa: B905
            average.data.mul_(decay).add_(p.data, alpha=1 - decay)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model, ema))


@pattern("weights clipped (p.data.clamp_), critic of a WGAN")
def weight_clipping(s):
    torch, nn, F = s.names
    noise, rows = 16, s.sizes.rows
    generator, critic = s.mlp(noise, s.sizes.features), s.mlp(outputs=1)
    opt_g, opt_c = s.adam(generator, lr=2e-4), s.adam(critic, lr=2e-4)

    @s.whole
    def step(x, i):
        opt_c.zero_grad()
        fake = generator(torch.randn(rows, noise)).detach()
        loss_c = critic(fake).mean() - critic(x).mean()
        loss_c.backward()
        opt_c.step()
        for p in critic.parameters():
            p.data.clamp_(-0.05, 0.05)
        if i % 5 == 0:
            opt_g.zero_grad()
            loss_g = -critic(generator(torch.randn(rows, noise))).mean()
            loss_g.backward()
            opt_g.step()
        return loss_c.item()

    batches = s.batches()
    return Run(lambda i: step(batches[i % BATCHES][0], i), parameters(generator, critic))


@pattern("loss scaling by hand")
def loss_scaling(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    class Scaler:
        def __init__(self):
            self.scale, self.good, self.skipped = 1024.0, 0, 0

        def step(self, optimizer, loss):
            (loss * self.scale).backward()
            grads = [p.grad for p in model.parameters() if p.grad is not None]
            for g in grads:
                g.div_(self.scale)
            if all(torch.isfinite(g).all() for g in grads):
                optimizer.step()
                self.good += 1
                if self.good % s.sizes.seldom == 0:
                    self.scale *= 2
            else:
                self.skipped += 1
                self.scale /= 2

    scaler = Scaler()

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        scaler.step(optimizer, loss)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), scaler.__dict__)


@pattern("unfreezing layers by requires_grad, epoch by epoch")
def unfreezing(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    every = s.sizes.seldom

    def unfreeze(epoch):
        for number, layer in enumerate(model):
            for p in layer.parameters():
                p.requires_grad = number >= 4 - 2 * epoch

    @s.whole
    def step(x, y, i):
        if i % every == 0:
            unfreeze(i // every)
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("several optimizers, learning rates decayed by hand")
def several_optimizers(s):
    torch, nn, F = s.names
    classes = s.sizes.classes
    backbone, head = s.mlp(outputs=32), nn.Linear(32, classes)
    optimizers = {"backbone": torch.optim.SGD(backbone.parameters(), lr=0.1, momentum=0.9), "head": s.adam(head)}

    @s.whole
    def step(x, y):
        for optimizer in optimizers.values():
            optimizer.zero_grad()
        loss = F.cross_entropy(head(F.relu(backbone(x))), y)
        loss.backward()
        for optimizer in optimizers.values():
            optimizer.step()
            for group in optimizer.param_groups:
                group["lr"] *= 0.999
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(backbone, head))


@pattern("sharpness-aware steps (ascend, descend)")
def sharpness_aware(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        moves = []
        with torch.no_grad():
            norm = torch.stack([p.grad.norm() for p in model.parameters()]).norm()
            for p in model.parameters():
                move = p.grad * (0.05 / (norm + 1e-12))
                p.add_(move)
                moves.append(move)
        optimizer.zero_grad()
        F.cross_entropy(model(x), y).backward()
        with torch.no_grad():
            for p, move in zip(model.parameters(), moves):  # noqa: B905
                p.sub_(move)
        optimizer.step()
        optimizer.zero_grad()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("lookahead: slow weights every 5 steps")
def lookahead(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    slow = [p.detach().clone() for p in model.parameters()]

    @s.whole
    def step(x, y, i):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if (i + 1) % 5 == 0:
            for p, q in zip(model.parameters(), slow):  # noqa: B905
                q += 0.5 * (p.data - q)
                p.data.copy_(q)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("best weights kept by deepcopy(state_dict()), restored when worse")
def best_weights(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    best = {"loss": math.inf, "restored": 0, "bad": 0}
    kept = {"weights": copy.deepcopy(model.state_dict())}

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        value = loss.item()
        if value < best["loss"]:
            best["loss"], best["bad"] = value, 0
            kept["weights"] = copy.deepcopy(model.state_dict())
        else:
            best["bad"] += 1
            if best["bad"] > 20:
                model.load_state_dict(kept["weights"])
                best["restored"] += 1
                best["bad"] = 0
        return value

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), best)


@pattern("meta-learning: a copy of the model is trained in each call")
def meta_learning(s):
    torch, nn, F = s.names
    model = s.mlp()

    @s.whole
    def step(x, y):
        fast = copy.deepcopy(model)
        inner = torch.optim.SGD(fast.parameters(), lr=0.05)
        for _ in range(3):
            inner.zero_grad()
            loss = F.cross_entropy(fast(x), y)
            loss.backward()
            inner.step()
        with torch.no_grad():
            for p, q in zip(model.parameters(), fast.parameters()):  # noqa: B905
                p += 0.1 * (q - p)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))
