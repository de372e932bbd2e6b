"""Patterns: layers and steps that store tensors in attributes, variables and containers outside."""

from .setting import BATCHES, Run, parameters, pattern


@pattern("a layer keeps its attention weights in an attribute")
def kept_attention(s):
    torch, nn, F = s.names
    width = s.sizes.hidden[0]

    class Gated(nn.Module):
        def __init__(self):
            super().__init__()
            self.scores, self.values = nn.Linear(s.sizes.features, width), nn.Linear(s.sizes.features, width)
            self.attention = None

        def forward(self, x):
            weights = self.scores(x).softmax(-1)
            self.attention = weights.detach()
            return weights * self.values(x)

    model = nn.Sequential(Gated(), nn.ReLU(), nn.Linear(width, s.sizes.classes))
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


@pattern("a cell carries its state in an attribute")
def kept_state(s):
    torch, nn, F = s.names
    width = s.sizes.hidden[0]

    class Cell(nn.Module):
        def __init__(self):
            super().__init__()
            self.mix, self.head = nn.Linear(s.sizes.features + width, width), nn.Linear(width, s.sizes.classes)
            self.state = None

        def forward(self, x):
            before = x.new_zeros(len(x), width) if self.state is None else self.state
            new = self.mix(torch.cat([x, before], dim=-1)).tanh()
            self.state = new.detach()
            return self.head(new)

    model = Cell()
    optimizer = s.adam(model)

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("a model carries an LSTM's state of two, detached")
def kept_pair(s):
    torch, nn, F = s.names
    width = 32

    class Carrying(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.head = nn.LSTM(16, width, batch_first=True), nn.Linear(width, s.sizes.classes)
            self.hidden = None

        def forward(self, x):
            out, (h, c) = self.cell(x.view(len(x), -1, 16), self.hidden)
            self.hidden = (h.detach(), c.detach())
            return self.head(out[:, -1])

    model = Carrying()
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


@pattern("outputs of layers kept in a dict by hooks")
def kept_features(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    features = {}

    def keep(name):
        def hook(module, inputs, output):
            features[name] = output.detach()

        return hook

    for name in ("1", "3"):
        model.get_submodule(name).register_forward_hook(keep(name))

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), features)


@pattern("a layer counts its calls and keeps its losses in a dict")
def counted_layer(s):
    torch, nn, F = s.names

    class Sparse(nn.Module):
        def __init__(self):
            super().__init__()
            self.calls, self.losses = 0, {}
            self.inner = nn.Linear(s.sizes.features, s.sizes.hidden[0])

        def forward(self, x):
            code = self.inner(x).relu()
            self.calls += 1
            self.losses = {"sparsity": code.mean(), "size": code.pow(2).mean()}
            return code

    sparse = Sparse()
    model = nn.Sequential(sparse, nn.Linear(s.sizes.hidden[0], s.sizes.classes))
    optimizer = s.adam(model)

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y) + 0.01 * sum(sparse.losses.values())
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))
