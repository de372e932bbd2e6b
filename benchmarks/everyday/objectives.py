"""Steps whose loss is written by hand, or is made of several models' results."""

import copy
import math
import random

from .setting import BATCHES, Run, parameters, pattern


@pattern("a weight of each sample, changed by its loss")
def sample_weights(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    rows = s.sizes.rows
    weights = torch.ones(BATCHES * rows)

    @s.whole
    def step(x, y, index):
        optimizer.zero_grad()
        losses = F.cross_entropy(model(x), y, reduction="none")
        loss = (losses * weights[index]).mean()
        loss.backward()
        optimizer.step()
        weights[index] = 0.9 * weights[index] + 0.1 * losses.detach()
        return loss.item()

    batches = s.batches()
    indices = [torch.arange(b * rows, (b + 1) * rows) for b in range(BATCHES)]
    return Run(lambda i: step(*batches[i % BATCHES], indices[i % BATCHES]), parameters(model), {"weights": weights})


@pattern("hard examples by topk")
def hard_examples(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        losses = F.cross_entropy(model(x), y, reduction="none")
        hardest, _ = torch.topk(losses, len(losses) // 4)
        loss = hardest.mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("triplets with the hardest negative in the batch")
def triplets(s):
    torch, nn, F = s.names
    model = s.mlp(outputs=32)
    optimizer = s.adam(model)
    history = []

    @s.whole
    def step(x, y):
        codes = F.normalize(model(x), dim=1)
        distances = 2 - 2 * codes @ codes.t()
        same = y.unsqueeze(0) == y.unsqueeze(1)
        positive = distances.masked_fill(~same, -1.0).max(dim=1).values
        negative = distances.masked_fill(same, 10.0).min(dim=1).values
        losses = F.relu(positive - negative + 0.2)
        optimizer.zero_grad()
        loss = losses.mean()
        loss.backward()
        optimizer.step()
        history.append((loss.item(), (losses > 0).float().mean().item()))

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), history)


@pattern("label smoothing by hand (scatter_)")
def smoothing_by_hand(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    classes = s.sizes.classes

    class LabelSmoothing(nn.Module):
        def __init__(self, smoothing):
            super().__init__()
            self.smoothing = smoothing

        def forward(self, scores, labels):
            log_probs = F.log_softmax(scores, dim=-1)
            with torch.no_grad():
                target = torch.full_like(log_probs, self.smoothing / (classes - 1))
                target.scatter_(1, labels.unsqueeze(1), 1 - self.smoothing)
            return (-target * log_probs).sum(dim=-1).mean()

    criterion = LabelSmoothing(0.1)

    @s.whole
    def step(x, y):
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("distillation from a teacher")
def distillation(s):
    torch, nn, F = s.names
    teacher, student = s.mlp(), s.mlp()
    teacher.eval()
    optimizer = s.adam(student)
    temperature = 4.0
    totals = {"hard": 0.0, "soft": 0.0}

    @s.whole
    def step(x, y):
        with torch.no_grad():
            wanted = teacher(x)
        scores = student(x)
        soft = F.kl_div(
            F.log_softmax(scores / temperature, dim=1), F.softmax(wanted / temperature, dim=1), reduction="batchmean"
        )
        hard = F.cross_entropy(scores, y)
        loss = 0.7 * temperature**2 * soft + 0.3 * hard
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        totals["hard"] += hard.item()
        totals["soft"] += soft.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(student), totals)


@pattern("gradient penalty on interpolates (WGAN-GP)")
def interpolated_penalty(s):
    torch, nn, F = s.names
    noise, rows = 16, s.sizes.rows
    generator, critic = s.mlp(noise, s.sizes.features), s.mlp(outputs=1)
    opt_g, opt_c = s.adam(generator, lr=1e-4), s.adam(critic, lr=1e-4)

    def penalty(real, fake):
        alpha = torch.rand(rows, 1)
        between = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
        scores = critic(between)
        (slope,) = torch.autograd.grad(scores, between, grad_outputs=torch.ones_like(scores), create_graph=True)
        return ((slope.norm(2, dim=1) - 1) ** 2).mean()

    @s.whole
    def step(x, i):
        fake = generator(torch.randn(rows, noise))
        loss = critic(fake.detach()).mean() - critic(x).mean() + 10.0 * penalty(x, fake.detach())
        opt_c.zero_grad()
        loss.backward()
        opt_c.step()
        if i % 5 == 4:
            opt_g.zero_grad()
            (-critic(fake).mean()).backward()
            opt_g.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(batches[i % BATCHES][0], i), parameters(generator, critic))


@pattern("variational autoencoder, the divergence's weight growing")
def variational(s):
    torch, nn, F = s.names
    features, hidden = s.sizes.features, s.sizes.hidden[0]

    class VAE(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = nn.Linear(features, hidden)
            self.mean, self.logvar = nn.Linear(hidden, 8), nn.Linear(hidden, 8)
            self.decoder = nn.Sequential(nn.Linear(8, hidden), nn.ReLU(), nn.Linear(hidden, features))

        def forward(self, x):
            code = F.relu(self.encoder(x))
            mean, logvar = self.mean(code), self.logvar(code)
            z = mean + torch.randn_like(mean) * torch.exp(0.5 * logvar)
            return self.decoder(z), mean, logvar

    model = VAE()
    optimizer = s.adam(model)
    log = []

    @s.whole
    def step(x, i):
        beta = min(1.0, i / 200)
        out, mean, logvar = model(x)
        fit = F.mse_loss(out, x, reduction="sum") / len(x)
        divergence = -0.5 * torch.sum(1 + logvar - mean.pow(2) - logvar.exp()) / len(x)
        loss = fit + beta * divergence
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.append((fit.item(), divergence.item()))

    batches = s.batches()
    return Run(lambda i: step(batches[i % BATCHES][0], i), parameters(model), log)


@pattern("tasks in turn, each with a head in a dict")
def task_heads(s):
    torch, nn, F = s.names
    trunk, heads = s.mlp(outputs=32), {name: nn.Linear(32, s.sizes.classes) for name in ("one", "two", "three")}
    optimizer = s.adam(trunk, *heads.values())
    totals = dict.fromkeys(heads, 0.0)

    @s.whole
    def step(task, x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(heads[task](F.relu(trunk(x))), y)
        loss.backward()
        optimizer.step()
        totals[task] += loss.item()

    batches, names = s.batches(), list(heads)
    return Run(lambda i: step(names[i % 3], *batches[i % BATCHES]), parameters(trunk, *heads.values()), totals)


@pattern("curriculum by epoch number")
def curriculum(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    every, rows = s.sizes.seldom, s.sizes.rows

    def settings(epoch):
        return {
            "noise": 0.5 / (1 + epoch),
            "classes_weight": min(1.0, 0.2 * (epoch + 1)),
            "keep": 1 - 0.5 ** (epoch + 1),
        }

    @s.whole
    def step(x, y, epoch):
        setting = settings(epoch)
        x = x + setting["noise"] * torch.randn_like(x)
        losses = F.cross_entropy(model(x), y, reduction="none")
        count = max(1, int(setting["keep"] * rows * 0.5)) if epoch < 2 else rows
        easy = losses.sort().values[:count]
        loss = setting["classes_weight"] * easy.mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i // every), parameters(model))


@pattern("layers skipped at random")
def stochastic_depth(s):
    torch, nn, F = s.names
    width = s.sizes.hidden[1]

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.last = nn.Linear(s.sizes.features, width), nn.Linear(width, s.sizes.classes)
            self.blocks = nn.ModuleList([nn.Linear(width, width) for _ in range(3)])

        def forward(self, x):
            x = F.relu(self.first(x))
            for block in self.blocks:
                if random.random() < 0.7:
                    x = x + F.relu(block(x))
            return self.last(x)

    model = Net()
    optimizer = s.adam(model)

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("self-distillation: a copy is taken every 10 steps")
def copied_teacher(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    state = {"teacher": copy.deepcopy(model)}

    @s.whole
    def step(x, y, i):
        if i % 10 == 0:
            state["teacher"] = copy.deepcopy(model).eval()
        with torch.no_grad():
            target = F.softmax(state["teacher"](x), dim=1)
        scores = model(x)
        loss = F.cross_entropy(scores, y) - 0.1 * (target * F.log_softmax(scores, dim=1)).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("mixture of losses weighted by learnt uncertainties")
def uncertainties(s):
    torch, nn, F = s.names
    trunk, a, b = s.mlp(outputs=32), nn.Linear(32, s.sizes.classes), nn.Linear(32, 1)
    log_vars = [nn.Parameter(torch.zeros(())) for _ in range(2)]
    optimizer = torch.optim.Adam([*trunk.parameters(), *a.parameters(), *b.parameters(), *log_vars])
    log = {"a": [], "b": []}

    @s.whole
    def step(x, y):
        hidden = F.relu(trunk(x))
        losses = [F.cross_entropy(a(hidden), y), F.mse_loss(b(hidden).squeeze(1), y.float() / 10)]
        total = sum(torch.exp(-v) * loss + v for v, loss in zip(log_vars, losses))  # noqa: B905
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        for name, loss in zip(log, losses):  # noqa: B905
            log[name].append(loss.item())
        return math.exp(log_vars[0].item())

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(trunk, a, b), log)
