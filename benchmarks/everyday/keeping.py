"""Steps that keep tensors from call to call: buffers of modules, memories of agents, hidden states, statistics."""

import random

from .setting import BATCHES, Run, parameters, pattern


@pattern("spectral norm by power iteration with buffers")
def power_iteration(s):
    torch, nn, F = s.names
    first = s.sizes.hidden[0]

    class SpectralLinear(nn.Module):
        def __init__(self, inputs, outputs):
            super().__init__()
            self.linear = nn.Linear(inputs, outputs)
            self.register_buffer("u", F.normalize(torch.randn(outputs), dim=0))
            self.register_buffer("v", F.normalize(torch.randn(inputs), dim=0))

        def forward(self, x):
            weight = self.linear.weight
            if self.training:
                with torch.no_grad():
                    self.v.copy_(F.normalize(weight.t().mv(self.u), dim=0))
                    self.u.copy_(F.normalize(weight.mv(self.v), dim=0))
            sigma = torch.dot(self.u.clone(), weight.mv(self.v.clone()))
            return F.linear(x, weight / sigma, self.linear.bias)

    model = nn.Sequential(SpectralLinear(s.sizes.features, first), nn.ReLU(), SpectralLinear(first, s.sizes.classes))
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


@pattern("running averages of outputs in a buffer, assigned anew")
def centred(s):
    torch, nn, F = s.names

    class Centre(nn.Module):
        def __init__(self, size):
            super().__init__()
            self.register_buffer("centre", torch.zeros(1, size))
            self.seen = 0

        def forward(self, scores):
            if self.training:
                self.seen += 1
                self.centre = 0.9 * self.centre + 0.1 * scores.detach().mean(dim=0, keepdim=True)
            return scores - self.centre

    model, centre = s.mlp(), Centre(s.sizes.classes)
    optimizer = s.adam(model)

    @s.whole
    def step(x, y):
        optimizer.zero_grad()
        loss = F.cross_entropy(centre(model(x)), y)
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model, centre))


@pattern("centres of classes moved by index")
def class_centres(s):
    torch, nn, F = s.names
    trunk, head = s.mlp(outputs=16), nn.Linear(16, s.sizes.classes)
    optimizer = s.adam(trunk, head)
    centres = torch.zeros(s.sizes.classes, 16)

    @s.whole
    def step(x, y):
        code = trunk(x)
        loss = F.cross_entropy(head(code), y) + 0.01 * ((code - centres[y]) ** 2).sum(dim=1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for c in range(s.sizes.classes):
                members = code[y == c]
                if len(members) > 0:
                    centres[c] = 0.95 * centres[c] + 0.05 * members.mean(dim=0)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(trunk, head), {"centres": centres})


@pattern("replay memory in tensors, written by index", has_part=True)
def replay_memory(s):
    torch, nn, F = s.names
    q_net, target_net = s.mlp(), s.mlp()
    optimizer = s.adam(q_net)
    size, features, rows, actions = 256, s.sizes.features, s.sizes.rows, s.sizes.classes

    class Memory:
        def __init__(self):
            self.states, self.following = torch.zeros(size, features), torch.zeros(size, features)
            self.actions, self.rewards = torch.zeros(size, dtype=torch.long), torch.zeros(size)
            self.at, self.full = 0, False

        def push(self, state, action, reward, following):
            self.states[self.at] = state
            self.following[self.at] = following
            self.actions[self.at] = action
            self.rewards[self.at] = reward
            self.at = (self.at + 1) % size
            self.full = self.full or self.at == 0

        def sample(self):
            index = torch.randint(0, size if self.full else max(self.at, 1), (rows,))
            return self.states[index], self.actions[index], self.rewards[index], self.following[index]

    memory = Memory()

    @s.part
    def learn(states, taken, rewards, following):
        with torch.no_grad():
            wanted = rewards + 0.99 * target_net(following).max(dim=1).values
        value = q_net(states).gather(1, taken.unsqueeze(1)).squeeze(1)
        loss = F.smooth_l1_loss(value, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    @s.whole
    def step(state, following, epsilon):
        if random.random() < epsilon:
            action = random.randrange(actions)
        else:
            with torch.no_grad():
                action = q_net(state.unsqueeze(0)).argmax(dim=1).item()
        memory.push(state, action, float(action % 3), following)
        loss = learn(*memory.sample())
        for t, p in zip(target_net.parameters(), q_net.parameters()):  # noqa: B905
            t.data.copy_(0.01 * p.data + 0.99 * t.data)
        return loss.item()

    batches = s.batches()

    def call(i):
        x = batches[i % BATCHES][0]
        return step(x[i % rows], x[(i + 1) % rows], max(0.1, 1 - 0.01 * i))

    return Run(call, parameters(q_net, target_net))


@pattern("a rollout in lists, then clipped policy updates")
def clipped_policy(s):
    torch, nn, F = s.names
    actor, critic = s.mlp(), s.mlp(outputs=1)
    optimizer = s.adam(actor, critic)

    @s.whole
    def step(x, y):
        with torch.no_grad():
            values = critic(x).squeeze(1)
            before = F.log_softmax(actor(x), dim=1).gather(1, y.unsqueeze(1)).squeeze(1)
        rewards, advantages, running = [float(c % 3) for c in y.tolist()], [], 0.0
        known = values.tolist()
        for t in reversed(range(len(rewards))):
            following = known[t + 1] if t + 1 < len(known) else 0.0
            delta = rewards[t] + 0.99 * following - known[t]
            running = delta + 0.99 * 0.95 * running
            advantages.insert(0, running)
        advantages = torch.tensor(advantages)
        returns = advantages + values
        advantages = (advantages - advantages.mean()) / (advantages.std() + 1e-8)
        for _ in range(2):
            log_probs = F.log_softmax(actor(x), dim=1)
            ratio = torch.exp(log_probs.gather(1, y.unsqueeze(1)).squeeze(1) - before)
            policy = -torch.min(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()
            value = F.mse_loss(critic(x).squeeze(1), returns)
            entropy = -(log_probs.exp() * log_probs).sum(dim=1).mean()
            loss = policy + 0.5 * value - 0.01 * entropy
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters()], 0.5)
            optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(actor, critic))


@pattern("a hidden state carried from call to call")
def carried_state(s):
    torch, nn, F = s.names
    width = s.sizes.hidden[1]
    cell, head = nn.Linear(s.sizes.features + width, width), nn.Linear(width, s.sizes.classes)
    optimizer = s.adam(cell, head)

    class Learner:
        def __init__(self):
            self.hidden = torch.zeros(s.sizes.rows, width)
            self.losses = []

        def step(self, xs, ys):
            hidden, loss = self.hidden.detach(), 0.0
            for x, y in zip(xs, ys):  # noqa: B905
                hidden = torch.tanh(cell(torch.cat([x, hidden], dim=1)))
                loss = loss + F.cross_entropy(head(hidden), y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(cell.parameters(), 1.0)
            optimizer.step()
            self.hidden = hidden
            self.losses.append(loss.item() / len(xs))

    learner, batches = Learner(), s.batches()
    step = s.whole(learner.step)

    def call(i):
        (x, y), (x2, y2) = batches[i % BATCHES], batches[(i + 1) % BATCHES]
        return step([x, x2], [y, y2])

    return Run(call, parameters(cell, head), learner.losses)


@pattern("a queue of keys (memory bank)")
def memory_bank(s):
    torch, nn, F = s.names
    rows, width = s.sizes.rows, 32
    encoder = s.mlp(outputs=width)
    optimizer = s.adam(encoder)

    class Bank(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("queue", F.normalize(torch.randn(4 * rows, width), dim=1))
            self.register_buffer("at", torch.zeros(1, dtype=torch.long))

        @torch.no_grad()
        def enqueue(self, keys):
            at = int(self.at)
            self.queue[at : at + len(keys)] = keys
            self.at[0] = (at + len(keys)) % len(self.queue)

    bank = Bank()

    @s.whole
    def step(x):
        q = F.normalize(encoder(x), dim=1)
        with torch.no_grad():
            k = F.normalize(encoder(x + 0.1 * torch.randn_like(x)), dim=1)
        positive = (q * k).sum(dim=1, keepdim=True)
        negative = q @ bank.queue.clone().t()
        logits = torch.cat([positive, negative], dim=1) / 0.2
        loss = F.cross_entropy(logits, torch.zeros(len(x), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bank.enqueue(k)
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(batches[i % BATCHES][0]), parameters(encoder, bank))


@pattern("confusion counted from lists, metrics in a registry")
def confusion(s):
    torch, nn, F = s.names
    model, optimizer = s.model_and_adam()
    classes = s.sizes.classes

    class Metrics:
        def __init__(self):
            self.values, self.matrix = {}, [[0] * classes for _ in range(classes)]

        def log(self, **named):
            for name, value in named.items():
                total, count = self.values.get(name, (0.0, 0))
                self.values[name] = (total + (value.item() if hasattr(value, "item") else value), count + 1)

        def confuse(self, predicted, labels):
            for p, t in zip(predicted.tolist(), labels.tolist()):  # noqa: B905
                self.matrix[t][p] += 1

    metrics = Metrics()

    @s.whole
    def step(x, y):
        scores = model(x)
        loss = F.cross_entropy(scores, y)
        optimizer.zero_grad()
        loss.backward()
        grad_norm = sum(p.grad.pow(2).sum() for p in model.parameters()).sqrt()
        optimizer.step()
        metrics.log(loss=loss.detach(), grad_norm=grad_norm, lr=optimizer.param_groups[0]["lr"])
        metrics.confuse(scores.argmax(dim=1), y)
        return loss

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(model), metrics.__dict__)
