"""REINFORCE with a baseline on a pole written here: Categorical, deque, eligibility of returns, namedtuple."""

import math
from collections import deque, namedtuple
from itertools import count

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.distributions import Categorical

SavedAction = namedtuple("SavedAction", ["log_prob", "value"])


class Pole:
    def __init__(self, seed):
        self.rng = np.random.RandomState(seed)

    def reset(self):
        self.state = self.rng.uniform(-0.05, 0.05, 4)
        return self.state.astype(np.float32)

    def step(self, action):
        x, v, a, w = self.state
        force = 10.0 if action == 1 else -10.0
        temp = (force + 0.05 * w * w * math.sin(a)) / 1.1
        aa = (9.8 * math.sin(a) - math.cos(a) * temp) / (0.5 * (4.0 / 3.0 - 0.1 * math.cos(a) ** 2 / 1.1))
        xa = temp - 0.05 * aa * math.cos(a) / 1.1
        self.state = np.array([x + 0.02 * v, v + 0.02 * xa, a + 0.02 * w, w + 0.02 * aa])
        done = bool(abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.209)
        return self.state.astype(np.float32), 1.0, done, {}


class Policy(nn.Module):
    def __init__(self):
        super(Policy, self).__init__()
        self.affine1 = nn.Linear(4, 64)
        self.action_head = nn.Linear(64, 2)
        self.value_head = nn.Linear(64, 1)
        self.saved_actions = []
        self.rewards = []

    def forward(self, x):
        x = F.relu(self.affine1(x))
        return F.softmax(self.action_head(x), dim=-1), self.value_head(x)


torch.manual_seed(543)
env = Pole(543)
model = Policy()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
eps = np.finfo(np.float32).eps.item()
recent = deque(maxlen=10)


def select_action(state):
    state = torch.from_numpy(state).float()
    probs, value = model(state)
    m = Categorical(probs)
    action = m.sample()
    model.saved_actions.append(SavedAction(m.log_prob(action), value))
    return action.item(), m.entropy().item()


def finish_episode():
    R, returns, policy_losses, value_losses = 0, [], [], []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + eps)
    for (log_prob, value), R in zip(model.saved_actions, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.rewards[:]
    del model.saved_actions[:]
    return loss.item()


for episode in range(12):
    state, total, entropy = env.reset(), 0, 0.0
    for t in count(1):
        action, h = select_action(state)
        state, reward, done, _ = env.step(action)
        model.rewards.append(reward)
        total += reward
        entropy += h
        if done or t >= 60:
            break
    loss = finish_episode()
    recent.append(total)
    if episode % 3 == 0:
        print(
            f"Episode {episode}\tLast reward: {total:.2f}\tAverage: {np.mean(recent):.2f}\tloss {loss:.3f}\tentropy {entropy / t:.4f}"
        )
