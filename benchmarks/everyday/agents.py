"""Several models, several optimizers, and reinforcement learning with lists."""

import copy
import random
from collections import deque

from .setting import BATCHES, Run, parameters, pattern


@pattern("policy gradient with returns from a list")
def policy_gradient(s):
    torch, nn, F = s.names
    policy, optimizer = s.model_and_adam()
    rewards = [[((i * 7 + j * 3) % 5) / 5 for j in range(s.sizes.rows)] for i in range(BATCHES)]

    @s.whole
    def step(states, actions, rewards):
        returns, running = [], 0.0
        for reward in reversed(rewards):
            running = reward + 0.99 * running
            returns.insert(0, running)
        returns = torch.tensor(returns)
        returns = (returns - returns.mean()) / (returns.std() + 1e-8)
        log_probs = F.log_softmax(policy(states), dim=1).gather(1, actions.unsqueeze(1)).squeeze(1)
        loss = -(log_probs * returns).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES], rewards[i % BATCHES]), parameters(policy))


@pattern("actor-critic with lists")
def actor_critic(s):
    torch, nn, F = s.names
    actor, critic = s.mlp(), s.mlp(outputs=1)
    optimizer = s.adam(actor, critic)
    horizon = 5

    @s.whole
    def step(x, actions):
        log_probs, values, rewards = [], [], []
        for t in range(horizon):
            state = x[t : t + 1]
            scores = F.log_softmax(actor(state), dim=-1)
            action = scores.argmax(dim=-1).item()
            log_probs.append(scores[0, action])
            values.append(critic(state)[0, 0])
            rewards.append(1.0 if action == t % 3 else 0.0)
        returns, running = [], 0.0
        for reward in rewards[::-1]:
            running = reward + 0.9 * running
            returns.insert(0, running)
        policy_losses, value_losses = [], []
        for log_prob, value, target in zip(log_probs, values, returns):  # noqa: B905
            advantage = target - value.item()
            policy_losses.append(-log_prob * advantage)
            value_losses.append(F.smooth_l1_loss(value, torch.tensor(target)))
        optimizer.zero_grad()
        loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(actor, critic))


@pattern("GAN (two models, two optimizers)")
def gan(s):
    torch, nn, F = s.names
    noise, rows = 16, s.sizes.rows
    generator, discriminator = s.mlp(noise, s.sizes.features), s.mlp(outputs=1)
    opt_g, opt_d = s.adam(generator, lr=2e-4), s.adam(discriminator, lr=2e-4)
    real, fake = torch.ones(rows, 1), torch.zeros(rows, 1)
    criterion = nn.BCEWithLogitsLoss()

    @s.whole
    def step(x, y):
        opt_d.zero_grad()
        generated = generator(torch.randn(rows, noise))
        d_loss = criterion(discriminator(x), real) + criterion(discriminator(generated.detach()), fake)
        d_loss.backward()
        opt_d.step()
        opt_g.zero_grad()
        g_loss = criterion(discriminator(generated), real)
        g_loss.backward()
        opt_g.step()
        return d_loss.item(), g_loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(generator, discriminator))


@pattern("several models in a ModuleDict")
def module_dict(s):
    torch, nn, F = s.names
    models = nn.ModuleDict({"trunk": s.mlp(outputs=32), "a": nn.Linear(32, s.sizes.classes), "b": nn.Linear(32, 1)})
    optimizer = s.adam(models)
    losses = {"a": [], "b": []}

    @s.whole
    def step(x, y):
        targets = {"a": lambda out: F.cross_entropy(out, y), "b": lambda out: F.mse_loss(out[:, 0], y.float())}
        hidden = F.relu(models["trunk"](x))
        total = 0
        optimizer.zero_grad()
        for name, criterion in targets.items():
            loss = criterion(models[name](hidden))
            losses[name].append(loss.item())
            total = total + loss
        total.backward()
        optimizer.step()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(models), losses)


@pattern("momentum contrast (teacher update)")
def momentum_contrast(s):
    torch, nn, F = s.names
    student = s.mlp(outputs=32)
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad = False
    optimizer = s.adam(student)

    @torch.no_grad()
    def update_teacher(momentum):
        for q, k in zip(student.parameters(), teacher.parameters()):  # noqa: B905
            k.data = k.data * momentum + q.data * (1 - momentum)

    @s.whole
    def step(x, y):
        q = F.normalize(student(x), dim=1)
        with torch.no_grad():
            update_teacher(0.99)
            k = F.normalize(teacher(x + 0.1 * torch.randn_like(x)), dim=1)
        logits = q @ k.t() / 0.07
        loss = F.cross_entropy(logits, torch.arange(x.size(0)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    batches = s.batches()
    return Run(lambda i: step(*batches[i % BATCHES]), parameters(student, teacher))


@pattern("DQN with target network", has_part=True)
def dqn(s):
    torch, nn, F = s.names
    online = s.mlp()
    target = copy.deepcopy(online)
    optimizer = s.adam(online)
    memory, every = deque(maxlen=1000), s.sizes.seldom
    for state, action in s.batches():
        for row in range(s.sizes.rows):
            memory.append((state[row], action[row].item(), (row % 7) / 7, state[row - 1], float(row % 5 == 0)))
    state_of_agent = {"steps": 0}

    @s.part
    def learn(states, actions, rewards, following, done):
        q = online(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            expected = rewards + 0.99 * target(following).max(1)[0] * (1 - done)
        loss = F.smooth_l1_loss(q, expected)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    @s.whole
    def step():
        states, actions, rewards, following, done = zip(*random.sample(memory, s.sizes.rows))  # noqa: B905
        states, following = torch.stack(states), torch.stack(following)
        loss = learn(states, torch.tensor(actions), torch.tensor(rewards), following, torch.tensor(done))
        state_of_agent["steps"] += 1
        if state_of_agent["steps"] % every == 0:
            target.load_state_dict(online.state_dict())
        return loss.item()

    return Run(lambda i: step(), parameters(online, target), state_of_agent)
