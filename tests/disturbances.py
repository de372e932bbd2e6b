"""A training step for which Python runs at each call, and what may happen in the middle of it."""

import weakref

from side_by_side import Program, batch, ramp

CALLS = 14
FROM = 8  # the call from which on something is otherwise
TARGETS = [0, 3, 1, 2, 0]


class Training:
    """A step that notes its calls, so that Python runs at each; `things` are what a disturbance can get hold of."""

    def __init__(self, tg, disturb, looks=False):
        tg.manual_seed(0)
        self.tg, self.disturb, self.looks = tg, disturb, looks
        self.model = tg.nn.Sequential(tg.nn.Linear(3, 6), tg.nn.Tanh(), tg.nn.Linear(6, 4))
        self.optimizer = tg.optim.SGD(self.model.parameters(), lr=0.05, momentum=0.9)
        self.targets = tg.tensor(TARGETS)
        self.weight = self.model[0].weight
        self.other = ramp(tg, 6, 3)
        self.n = 0
        self.calls = []
        self.kept = []

    def step(self, x):
        self.n += 1
        self.calls.append(self.n)
        self.at("start", x)
        self.optimizer.zero_grad()
        loss = self.loss(x)
        if self.looks and loss.item() > 1e6:  # ends the segment between the forward and the backward pass
            return None
        self.at("forward", x, loss)
        try:
            loss.backward()
        except RuntimeError as error:  # it is of the whole model, in words and in that no gradient has arrived before
            self.kept.append(type(error).__name__)
            self.optimizer.zero_grad()
            return None
        self.at("backward", x, loss)
        self.optimizer.step()
        self.at("step", x, loss)
        return loss

    def loss(self, x):
        return self.tg.nn.functional.cross_entropy(self.model(x), self.targets)

    def at(self, moment, x, loss=None):
        if self.n >= FROM and self.disturb.moment == moment:
            self.disturb(self, x, loss)

    def program(self):
        tg = self.tg
        state = self.model, self.optimizer

        def kept():
            assert state
            return [list(self.model.parameters()), self.kept, self.n]

        return Program(self.step, lambda i: (batch(tg, i, 5, 3),), kept, raises=(RuntimeError, IndexError))


DISTURBANCES = []


def disturbance(moment):
    def listed(function):
        function.moment = moment
        DISTURBANCES.append(function)
        return function

    return listed


@disturbance("backward")
def keeps_each_gradient(t, x, loss):
    t.kept.append(t.weight.grad)


@disturbance("backward")
def keeps_an_alias_of_each_gradient(t, x, loss):
    t.kept.append(t.weight.grad.detach())


@disturbance("step")
def keeps_one_gradient_later(t, x, loss):
    if t.n == FROM + 1:
        t.kept.append(t.model[2].bias.grad)


@disturbance("backward")
def marks_gradients(t, x, loss):
    t.kept.append(getattr(t.weight.grad, "mark", None))
    t.weight.grad.mark = t.n


@disturbance("backward")
def points_to_gradients(t, x, loss):
    t.kept.append([pointer() is None for pointer in t.__dict__.setdefault("pointers", [])])
    t.pointers.append(weakref.ref(t.weight.grad))


@disturbance("backward")
def scales_a_gradient(t, x, loss):
    t.kept.append(t.weight.grad._version)
    t.weight.grad.mul_(0.5)


@disturbance("backward")
def clips(t, x, loss):
    t.kept.append(float(t.tg.nn.utils.clip_grad_norm_(t.model.parameters(), 0.1)))


@disturbance("backward")
def rebinds_a_gradient(t, x, loss):
    t.weight.grad = t.other * 2


@disturbance("backward")
def gives_a_gradient_other_memory(t, x, loss):
    t.weight.grad.data = t.other * 2


@disturbance("backward")
def takes_a_gradient_away(t, x, loss):
    t.weight.grad = None


@disturbance("forward")
def gives_a_gradient_before(t, x, loss):
    t.weight.grad = t.other * 2


@disturbance("backward")
def differentiates_gradients(t, x, loss):
    t.weight.grad.requires_grad_(t.n % 2 == 0)


@disturbance("step")
def forgets_gradients_at_the_end(t, x, loss):
    t.optimizer.zero_grad()


@disturbance("start")
def hooks_a_leaf(t, x, loss):
    if t.n == FROM:
        t.handle = t.weight.register_hook(lambda g: g * 2)
    if t.n == FROM + 3:
        t.handle.remove()


@disturbance("forward")
def hooks_the_loss(t, x, loss):
    loss.register_hook(lambda g: g * 2)


@disturbance("start")
def freezes_a_leaf(t, x, loss):
    t.weight.requires_grad_(t.n % 3 == 0)


@disturbance("start")
def gives_a_parameter_other_memory(t, x, loss):
    t.weight.data = t.other * t.n


@disturbance("forward")
def gives_a_parameter_other_memory_between(t, x, loss):
    t.weight.data = t.other * t.n


@disturbance("forward")
def writes_to_the_input(t, x, loss):
    x.mul_(2)  # which the backward pass reads: refused


@disturbance("forward")
def writes_to_a_weight(t, x, loss):
    with t.tg.no_grad():
        t.model[2].weight.mul_(0.5)


@disturbance("start")
def sees_the_input(t, x, loss):
    x.numpy()[0, 0] = t.n / 16  # small, so that no layer is saturated


@disturbance("forward")
def writes_to_the_input_by_numpy(t, x, loss):
    x.numpy()[0, 0] = t.n / 16


@disturbance("start")
def sees_a_parameter(t, x, loss):
    t.weight.detach().numpy()[0, 0] = t.n


@disturbance("backward")
def goes_backward_twice(t, x, loss):
    loss.backward()


@disturbance("forward")
def keeps_the_graph(t, x, loss):
    loss.backward(retain_graph=True)


@disturbance("start")
def has_a_wrong_target(t, x, loss):
    t.targets = t.tg.tensor([0, 3, 1, 2, 4 if t.n % 2 else -1])


@disturbance("start")
def has_no_target(t, x, loss):
    t.targets = t.tg.tensor([0, 3, 1, 2, -100])  # is left out of the mean


@disturbance("start")
def sets_the_rate(t, x, loss):
    t.optimizer.param_groups[0]["lr"] = 0.01 * t.n


@disturbance("start")
def sets_flags(t, x, loss):
    t.model.train(t.n % 2 == 0)


@disturbance("start")
def has_another_model(t, x, loss):
    t.model[1] = t.tg.nn.Tanh() if t.n % 2 else t.tg.nn.ReLU()


@disturbance("start")
def rebinds_a_parameter(t, x, loss):
    t.model[2].bias = t.tg.nn.Parameter(t.tg.zeros(4))


@disturbance("start")
def shares_memory(t, x, loss):
    t.weight.data = x.detach()[:3].repeat(2, 1)
    t.model[2].bias.data = t.weight.data[0, :1].expand(4).clone()


@disturbance("start")
def loads_a_state(t, x, loss):
    t.optimizer.load_state_dict(t.optimizer.state_dict())


@disturbance("step")
def looks_at_the_loss(t, x, loss):
    t.kept.append(loss.item())


class Nothing:
    moment = ""
