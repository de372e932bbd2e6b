"""DQN with a replay memory and a target network: an agent that learns to catch falling balls.

python examples/dqn_catch.py [--steps N] [--eager] [--picture FILE]

The environment stands below, 32 boards side by side in numpy: a ball falls from a random place of the uppermost row,
drifting sideways, and a paddle in the lowest row moves by one place at a time. Each training step makes one move on
every board, keeps it in the memory, and learns from a batch of remembered moves. The picture shows how many balls are
caught, and one ball's way with the paddle below it.
"""

import sys

import numpy as np
import runner

import tracegrad as torch
from tracegrad import nn

BOARDS = 32
ROWS, COLUMNS = 9, 7
ACTIONS = 3  # to the left, stay, to the right
BATCH = 128
CAPACITY = 4096
DISCOUNT = 0.95


class Catch:
    """Boards with a ball and a paddle each; a ball that has reached the lowest row is followed by a new one."""

    def __init__(self, random):
        self.random = random
        self.paddles = np.full(BOARDS, COLUMNS // 2)
        self.rows, self.columns, self.drifts = np.zeros((3, BOARDS), dtype=int)
        self._throw(np.ones(BOARDS, dtype=bool))

    def _throw(self, which):
        count = which.sum()
        self.rows[which] = 0
        self.columns[which] = self.random.integers(COLUMNS, size=count)
        self.drifts[which] = self.random.integers(-1, 2, size=count)

    def observed(self):
        """`[boards, rows * columns]`: 1 where the ball is and where the paddle is; the drift is not seen."""
        seen = np.zeros((BOARDS, ROWS, COLUMNS), dtype=np.float32)
        each = np.arange(BOARDS)
        seen[each, self.rows, self.columns] = 1
        seen[each, ROWS - 1, self.paddles] = 1
        return seen.reshape(BOARDS, ROWS * COLUMNS)

    def move(self, actions):
        """Moves the paddles and the balls; rewards (1 caught, -1 missed, 0 still falling), and which balls are down."""
        self.paddles = np.clip(self.paddles + actions - 1, 0, COLUMNS - 1)
        self.rows = self.rows + 1
        self.columns = np.clip(self.columns + self.drifts * (self.rows % 3 == 0), 0, COLUMNS - 1)
        down = self.rows == ROWS - 1
        rewards = np.where(down, np.where(self.columns == self.paddles, 1, -1), 0).astype(np.float32)
        self._throw(down)
        return rewards, down


class Memory:
    """The last `CAPACITY` moves, in tensors that are written round and round."""

    def __init__(self):
        self.before, self.after = torch.zeros(2, CAPACITY, ROWS * COLUMNS)
        self.actions = torch.zeros(CAPACITY, dtype=torch.int64)
        self.rewards, self.ended = torch.zeros(2, CAPACITY)
        self.count = 0

    def keep(self, before, actions, rewards, ended, after):
        first = self.count % CAPACITY
        places = slice(first, first + BOARDS)  # which divides the capacity
        kept = (self.before, self.actions, self.rewards, self.ended, self.after)
        for of, new in zip(kept, (before, actions, rewards, ended, after), strict=True):
            of[places] = torch.from_numpy(new)
        self.count += BOARDS

    def batch(self):
        chosen = torch.randint(min(self.count, CAPACITY), (BATCH,))
        return [of[chosen] for of in (self.before, self.actions, self.rewards, self.ended, self.after)]


def network():
    """The value of each action in a state."""
    return nn.Sequential(nn.Linear(ROWS * COLUMNS, 96), nn.ReLU(), nn.Linear(96, ACTIONS))


def train(steps, compiled, report):
    torch.manual_seed(0)
    random = np.random.default_rng(0)
    values, target = network(), network()
    target.load_state_dict(values.state_dict())
    optimizer = torch.optim.Adam(values.parameters(), lr=1e-3)

    def best(states):
        with torch.no_grad():
            return values(states).argmax(1)

    def train_step(before, actions, rewards, ended, after):
        with torch.no_grad():
            following = target(after).amax(1)
            wanted = rewards + DISCOUNT * (1 - ended) * following
        found = values(before).gather(1, actions[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(found, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():  # the target network follows slowly
            for slow, fast in zip(target.parameters(), values.parameters(), strict=True):
                slow.lerp_(fast, 0.02)
        return loss

    step, choose = (torch.compile(train_step), torch.compile(best)) if compiled else (train_step, best)
    catch, memory, caught = Catch(random), Memory(), []
    for number in range(steps):
        before = catch.observed()
        greedy = choose(torch.from_numpy(before)).numpy()
        explores = random.random(BOARDS) < max(0.05, 1 - 2 * number / steps)
        actions = np.where(explores, random.integers(ACTIONS, size=BOARDS), greedy)
        rewards, down = catch.move(actions)
        memory.keep(before, actions, rewards, down.astype(np.float32), catch.observed())
        caught += rewards[down].tolist()
        report(step(*memory.batch()).item())
    share = np.mean(np.array(caught[-200:] or [0]) > 0)
    print(f"{share:.0%} of the last balls were caught, a random paddle catches about {1 / COLUMNS:.0%}")
    return np.array(caught), *one_ball(best)


def one_ball(choose):
    """The ball's and the paddle's columns while one ball falls, with the best moves."""
    catch, ball, paddle = Catch(np.random.default_rng(4)), [], []
    for _ in range(ROWS - 1):
        ball.append(catch.columns[0])
        paddle.append(catch.paddles[0])
        catch.move(choose(torch.from_numpy(catch.observed())).numpy())
    return [*ball, ball[-1]], [*paddle, catch.paddles[0]]


def draw(figure, trained):
    caught, ball, paddle = trained
    curve, board = figure.subplots(1, 2, width_ratios=[3, 1])
    window = min(200, max(1, len(caught)))
    shares = np.convolve(caught > 0, np.ones(window) / window, mode="valid")
    curve.plot(np.arange(len(shares)) + window, shares)
    curve.set(xlabel="balls", ylabel=f"caught, of the last {window}", ylim=(0, 1))
    board.plot(ball, range(ROWS), "o-", label="ball")
    board.plot(paddle, range(ROWS), "s-", label="paddle")
    board.set(xlabel="column", ylabel="row", xlim=(-0.5, COLUMNS - 0.5), ylim=(ROWS - 0.5, -0.5))
    board.legend()


if __name__ == "__main__":
    sys.exit(runner.main(train, draw, steps=3000))
