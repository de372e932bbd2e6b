from __future__ import annotations
import random
from collections import deque
from typing import Deque, NamedTuple
import tracegrad as torch
import tracegrad.nn as nn
import tracegrad.nn.functional as F
import tracegrad.optim as optim


class Transition(NamedTuple):
    state: torch.Tensor
    action: int
    reward: float
    next_state: torch.Tensor
    done: bool


class Replay:
    def __init__(self, capacity: int) -> None:
        self.memory: Deque[Transition] = deque(maxlen=capacity)

    def push(self, t: Transition) -> None:
        self.memory.append(t)

    def sample(self, n: int) -> list[Transition]:
        return random.sample(self.memory, n)


class QNet(nn.Module):
    def __init__(self, n_obs: int, n_actions: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(n_obs, 16)
        self.fc2 = nn.Linear(16, n_actions)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc2(F.relu(self.fc1(x)))


class Agent:
    def __init__(self) -> None:
        self.policy, self.target = QNet(4, 2), QNet(4, 2)
        self.target.load_state_dict(self.policy.state_dict())
        self.optimizer: optim.Optimizer = optim.RMSprop(self.policy.parameters(), lr=1e-3)
        self.replay = Replay(100)

    def act(self, state: torch.Tensor, eps: float) -> int:
        if random.random() < eps:
            return random.randrange(2)
        with torch.inference_mode():
            return int(self.policy(state).argmax(dim=-1).item())

    def learn(self, gamma: float = 0.99) -> float:
        batch = self.replay.sample(8)
        states = torch.stack([t.state for t in batch])
        actions = torch.tensor([t.action for t in batch])
        rewards = torch.tensor([t.reward for t in batch], dtype=torch.float32)
        nxt = torch.stack([t.next_state for t in batch])
        done = torch.tensor([t.done for t in batch], dtype=torch.bool)
        q = self.policy(states).gather(1, actions.unsqueeze(1)).squeeze(1)
        with torch.no_grad():
            best = self.target(nxt).max(1)[0]
            best[done] = 0.0
            best2 = self.target(nxt).max(dim=1).values
        loss = F.smooth_l1_loss(q, rewards + gamma * best)
        self.optimizer.zero_grad()
        loss.backward()
        for p in self.policy.parameters():
            if p.grad is not None:
                p.grad.data.clamp_(-1, 1)
        self.optimizer.step()
        for tp, pp in zip(self.target.parameters(), self.policy.parameters()):
            tp.data.copy_(0.01 * pp.data + 0.99 * tp.data)
        return loss.item()


agent = Agent()
for i in range(10):
    s = torch.randn(4)
    agent.replay.push(Transition(s, agent.act(s, 0.5), 1.0, s + 1, i == 9))
print(agent.learn())
