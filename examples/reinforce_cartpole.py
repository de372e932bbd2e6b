"""REINFORCE with a baseline: an agent that learns to balance a pole on a cart.

python examples/reinforce_cartpole.py [--steps N] [--eager] [--picture FILE]

The environment stands below, 16 carts side by side in numpy. Each training step plays one episode with each of them
and then follows the policy gradient; the loss that is shown is minus the mean number of moves. The picture shows how
the episodes grow.
"""

import math
import sys

import numpy as np
import runner

import tracegrad as torch
from tracegrad import nn
from tracegrad.distributions import Categorical

CARTS = 16
LONGEST = 200
DISCOUNT = 0.99


class Carts:
    """Poles on carts: the equations of Barto, Sutton and Anderson (1983), one row of numbers per cart."""

    GRAVITY, CART, POLE, HALF_LENGTH, FORCE, SECONDS = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02

    def __init__(self, random):
        self.states = random.uniform(-0.05, 0.05, (CARTS, 4)).astype(np.float32)  # place, speed, angle, turning

    def move(self, actions):
        """Pushes each cart to the left (0) or to the right (1); which of the poles still stand."""
        place, speed, angle, turning = self.states.T
        mass, moment = self.CART + self.POLE, self.POLE * self.HALF_LENGTH
        force = np.where(actions == 1, self.FORCE, -self.FORCE)
        sin, cos = np.sin(angle), np.cos(angle)
        push = (force + moment * turning**2 * sin) / mass
        falling = (self.GRAVITY * sin - cos * push) / (self.HALF_LENGTH * (4 / 3 - self.POLE * cos**2 / mass))
        rates = np.stack([speed, push - moment * falling * cos / mass, turning, falling], axis=1)
        self.states = (self.states + self.SECONDS * rates).astype(np.float32)
        return (np.abs(self.states[:, 0]) < 2.4) & (np.abs(self.states[:, 2]) < math.radians(12))


class Agent(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 2))
        self.value = nn.Sequential(nn.Linear(4, width), nn.Tanh(), nn.Linear(width, 1))


def play(choose, random):
    """One episode with each cart: states `[moves, carts, 4]`, actions, and whether each pole stood before the move."""
    carts, standing = Carts(random), np.ones(CARTS, dtype=bool)
    episode: list[tuple[torch.Tensor, ...]] = []
    while standing.any() and len(episode) < LONGEST:
        states = torch.from_numpy(carts.states)
        actions = choose(states)
        episode.append((states, actions, torch.from_numpy(standing.astype(np.float32))))
        standing = standing & carts.move(actions.numpy())
    return [torch.stack(part) for part in zip(*episode, strict=True)]


def discounted(rewards):
    """The sum of each move's reward and all later ones, which count less."""
    returns = torch.zeros_like(rewards)
    following = torch.zeros(CARTS)
    for move in reversed(range(len(rewards))):
        following = rewards[move] + DISCOUNT * following
        returns[move] = following
    return returns


def train(steps, compiled, report):
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    agent = Agent()
    optimizer = torch.optim.Adam(agent.parameters(), lr=5e-3)

    @torch.no_grad()
    def choose(states):
        return Categorical(logits=agent.policy(states)).sample()

    def train_step(states, actions, returns, standing):
        optimizer.zero_grad()
        values = agent.value(states).squeeze(1)
        advantage = (returns - values).detach()
        chosen = Categorical(logits=agent.policy(states))
        gain = chosen.log_prob(actions) * advantage + 1e-2 * chosen.entropy()
        error = nn.functional.smooth_l1_loss(values, returns, reduction="none")
        loss = ((error - gain) * standing).sum() / standing.sum()
        loss.backward()
        nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
        optimizer.step()
        return loss

    step, act = (torch.compile(train_step), torch.compile(choose)) if compiled else (train_step, choose)
    for _ in range(steps):
        states, actions, standing = play(act, random)
        returns = discounted(standing)
        padding = (0, CARTS * LONGEST - standing.numel())  # episodes of all lengths have one shape
        flat = [nn.functional.pad(part.flatten(), padding) for part in (actions, returns, standing)]
        step(nn.functional.pad(states.flatten(0, 1), (0, 0, *padding)), *flat)
        report(-standing.sum().item() / CARTS)
    print(f"{-np.mean(report.losses[-5:]):.0f} moves in the last episodes; {LONGEST} is the most")
    return report.losses


def draw(figure, losses):
    axes = figure.subplots()
    axes.plot([-loss for loss in losses])
    axes.set(xlabel="training step", ylabel=f"moves until the pole falls ({LONGEST} at most)")


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=80))
