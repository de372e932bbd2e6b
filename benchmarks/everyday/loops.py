"""Loops, trainers, modes and evaluations around and inside of the step."""

import copy

from .setting import BATCHES, Run, parameters, pattern


@pattern("train and evaluate alternating")
def alternating(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    @s.whole
    def step(x, y, training):
        if training:
            model.train()
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        else:
            model.eval()
            with torch.no_grad():
                loss = F.cross_entropy(model(x), y)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i % 2 == 0), parameters(model))


@pattern("no_grad evaluation inside")
def evaluated_inside(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    held_out = s.batches(BATCHES + 1)[-1]

    @torch.no_grad()
    def evaluate(x, y):
        model.eval()
        correct = (model(x).argmax(1) == y).float().mean().item()
        model.train()
        return correct

    @s.whole
    def step(x, y, i):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        if i % 5 == 0:
            return loss.item(), evaluate(*held_out)
        return loss.item(), None

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], i), parameters(model))


@pattern("tg.compile(model) in an eager loop")
def compiled_model(s):
    torch, nn, F = s.names
    net = s.mlp()
    optimizer = s.adam(net)
    model = s.whole(net)

    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(net))


@pattern("trainer class with callbacks", has_part=True)
def callbacks(s):
    torch, nn, F = s.names

    class History:
        def __init__(self):
            self.losses = []

        def on_step_begin(self, trainer):
            pass

        def on_step_end(self, trainer, logs):
            self.losses.append(logs["loss"])

    class Trainer:
        def __init__(self, callbacks):
            self.model, self.optimizer = s.model_and_adam()
            self.callbacks = callbacks
            self.global_step = 0
            self.training_step = s.part(self.training_step)

        def training_step(self, x, y):
            self.optimizer.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            return loss

        def fit_one(self, batch):
            for callback in self.callbacks:
                callback.on_step_begin(self)
            loss = self.training_step(*batch)
            self.global_step += 1
            logs = {"loss": loss.item(), "step": self.global_step}
            for callback in self.callbacks:
                callback.on_step_end(self, logs)
            return logs

    history = History()
    trainer, batches = Trainer([history]), s.batches()
    fit_one = s.whole(trainer.fit_one)
    return Run(lambda i: fit_one(batches[i % BATCHES]), parameters(trainer.model), history.losses)


@pattern("mixed train/eval modes (frozen backbone in eval)")
def mixed_modes(s):
    torch, nn, F = s.names
    first, second = s.sizes.hidden
    backbone = nn.Sequential(nn.Linear(s.sizes.features, first), nn.BatchNorm1d(first), nn.ReLU())
    head = nn.Sequential(nn.Linear(first, second), nn.ReLU(), nn.Dropout(0.1), nn.Linear(second, s.sizes.classes))
    optimizer = s.adam(head)

    @s.whole
    def step(x, y):
        backbone.eval()
        head.train()
        with torch.no_grad():
            features = backbone(x)
        optimizer.zero_grad()
        loss = F.cross_entropy(head(features), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(backbone, head))


@pattern("dropout + batch norm")
def dropout_and_norm(s):
    torch, nn, F = s.names
    first, second = s.sizes.hidden
    model = nn.Sequential(
        nn.Linear(s.sizes.features, first, bias=False), nn.BatchNorm1d(first), nn.ReLU(), nn.Dropout(0.2),
        nn.Linear(first, second, bias=False), nn.BatchNorm1d(second), nn.ReLU(), nn.Linear(second, s.sizes.classes),
    )  # fmt: skip
    optimizer = s.adam(model)

    @s.whole
    def step(x, y):
        model.train()
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model))


@pattern("early stopping with the best weights kept", has_part=True)
def early_stopping(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()

    class EarlyStopping:
        def __init__(self, patience):
            self.patience, self.bad, self.best, self.stopped = patience, 0, None, False

        def __call__(self, loss, model):
            if self.best is None or loss < self.best - 1e-3:
                self.best, self.bad = loss, 0
                self.weights = copy.deepcopy(model.state_dict())
            else:
                self.bad += 1
                self.stopped = self.bad >= self.patience

    stopping = EarlyStopping(patience=10)

    @s.part
    def train_step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return loss

    @s.whole
    def step(x, y):
        loss = train_step(x, y).item()
        stopping(loss, model)
        return loss, stopping.stopped

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), stopping.__dict__)


@pattern("nested functions")
def nested(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    history = []

    @s.whole
    def step(x, y):
        def forward():
            return model(x)

        def criterion(logits):
            def cross_entropy():
                return F.cross_entropy(logits, y)

            return cross_entropy()

        def update(loss):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        loss = criterion(forward())
        update(loss)
        history.append(loss.item())

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), history)
