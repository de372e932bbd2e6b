import tracegrad as tg
from tracegrad import Tensor, nn


model = nn.Linear(3, 1)
opt = tg.optim.SGD(model.parameters(), lr=0.1)


@tg.compile
def step(x: Tensor, y: Tensor) -> Tensor:
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
    return loss


class Agent:
    def __init__(self) -> None:
        self.net = nn.Linear(2, 2)
        self.fast = tg.compile(self.act)

    def act(self, x: Tensor) -> Tensor:
        return self.net(x)

    @tg.compile
    def value(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return self.net(x).sum() * scale


loss: float = step(tg.ones(2, 3), tg.zeros(2, 1)).item()
print(step.explain())
step.verify(tg.ones(2, 3), tg.zeros(2, 1))
agent = Agent()
a: Tensor = agent.fast(tg.ones(1, 2))
v: Tensor = agent.value(tg.ones(1, 2), scale=2.0)
net = tg.compile(nn.Sequential(nn.Linear(2, 2)), dynamic=True)
out: Tensor = net(tg.ones(1, 2))
for p in net.parameters():
    p.numel()
with tg.deferred():
    s = net(tg.ones(1, 2)).sum().item()


@tg.deferred()
def run(n: int) -> float:
    return n * 1.0


total: float = run(3)
