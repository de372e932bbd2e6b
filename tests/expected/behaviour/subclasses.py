"""Subclasses of Tensor, and other classes with ``__torch_function__``, in functions, methods, operators and modules."""

import re

# ruff: noqa: E501 (one program is one line)
#: Names that stand for classes made anew for each program.
NAMES = "Sub Other Deep Logged Duck Mute Off Meta Named Copied heard Upper Both Twice".split()
_ANY = re.compile(rf"\b({'|'.join(NAMES)})\b")

OPERATORS = "+ - * / // % ** == != < <= > >= @".split()
FORMS = """
-X|abs(X)|X.add(1)|X.exp()|X.sum()|X.mean(0)|X.max(0)|X.max()|X.argmax()|X.sort()|X.topk(1)|X.split(1)|X.unbind()|X.chunk(2)|list(X)|X.T|X.mT|X.data
X[0]|X[1:]|X[None]|X[T([0,1])]|X[X > 1]|X.view(-1)|X.reshape(-1)|X.clone()|X.detach()|X.to(tg.float64)|X.long()|X.softmax(-1)|X.shape|X.dtype|X.size()
X.numpy()|X.tolist()|X.sum().item()|float(X.sum())|bool(X.sum() > 0)|len(X)|repr(X)|str(X)|f'{X.sum()}'|X.is_leaf|X.requires_grad|X.grad|X.dim()|1. in X
tg.add(X, 1)|tg.add(1, X)|tg.mul(X, other=2)|tg.exp(X)|tg.sum(X, 0)|tg.cat([X, X])|tg.stack([X, T([[0.,1.],[2.,3.]])])|tg.where(X > 1, X, 0.)|tg.matmul(X, X)
tg.zeros_like(X)|tg.full_like(X, 2.)|X.new_zeros(2)|X.new_tensor([1.])|tg.tensor(X)|tg.as_tensor(X)|tg.is_tensor(X)|tg.numel(X)|tg.equal(X, X)|tg.allclose(X, X)
tg.einsum('ij,jk->ik', X, X)|tg.max(X, 0)|tg.result_type(X, 1)|tg.is_floating_point(X)|tg.atleast_1d if False else tg.flatten(X)|tg.unbind(X)|tg.split(X, 1)
F.relu(X)|F.linear(X, X)|F.softmax(X, -1)|F.mse_loss(X, X + 1)|F.cross_entropy(X, T([0, 1]))|F.layer_norm(X, (2,))|F.dropout(X, 0.)|F.gelu(X)|F.sigmoid(X)|F.normalize(X)
nn.ReLU()(X)|nn.Tanh()(X)|nn.MSELoss()(X, X * 0)|nn.Flatten()(X)|nn.LayerNorm(2)(X)|nn.Sequential(nn.ReLU(), nn.Softmax(-1))(X)|nn.Dropout(0.)(X)|nn.Identity()(X)
X.add_(1)|X.mul_(X)|X.zero_()|X.copy_(T([5.,6.]))|r = X; r += 1; r|r = X; r *= 2; r|r = X; r[0] = 7; r|r = X; r[0, 0] += 1; r|X.t_()|X.unsqueeze_(0)|X.fill_(2.)
T([[1.,1.],[1.,1.]]) + X|T([[1.,1.],[1.,1.]]) @ X|T([[1.,1.],[1.,1.]]).add(X)|T([[1.,1.],[1.,1.]]).mul_(X)|r = T([[1.,1.],[1.,1.]]); r += X; r|T([3.,4.])[X[0].long() - 1]
r = T([[1.,1.],[1.,1.]]); r[0] = X[0]; r|T([[1.,1.],[1.,1.]]).copy_(X)|T([[1.,1.],[1.,1.]]).type_as(X)|T([1.,1.]).expand_as(X)|nn.Parameter(T([1.,1.])) * X
X.as_subclass(tg.Tensor)|X.as_subclass(tg.Tensor) + 1|X + X.as_subclass(tg.Tensor)|isinstance(X + 1, tg.Tensor)|nn.Parameter(X)|nn.Parameter(X) * 2|isinstance(nn.Parameter(X), nn.Parameter)
tg.no_grad()(lambda: X * 2)()|[type(r).__name__ for r in X]|X.requires_grad_() is not None|X.contiguous().is_contiguous()|hash(X) != 0|X.to(tg.float32)
"""  # fmt: skip

GRADIENTS = """
x = X.requires_grad_(); (x * x).sum().backward(); x.grad|x = X.requires_grad_(); tg.autograd.grad((x * x).sum(), x)[0]|x = X.requires_grad_(); (x * 2).grad_fn is None
w = T([[1.,2.],[3.,4.]], requires_grad=True); (w * X).sum().backward(); w.grad|w = T([[1.,2.],[3.,4.]], requires_grad=True); y = w.as_subclass(Sub); y.sum().backward(); w.grad
w = T([1.,2.], requires_grad=True); w.as_subclass(Sub).grad_fn.name()|w = T([1.,2.], requires_grad=True); (w.as_subclass(Sub) * 2).grad_fn.name()
x = X.requires_grad_(); [type(g).__name__ for g in [x.grad]]|seen = []; x = X.requires_grad_(); x.register_hook(lambda g: seen.append(type(g).__name__)); (x * 3).sum().backward(); seen
l = nn.Linear(2, 1); l(X).sum().backward(); type(l.weight.grad).__name__|l = nn.Linear(2, 1, bias=False); l.weight = nn.Parameter(X); l(T([1., 2.]))
l = nn.Linear(2, 2, bias=False); l.weight = nn.Parameter(X); o = tg.optim.SGD(l.parameters(), lr=0.5); l(T([1., 2.])).sum().backward(); o.step(); l.weight
l = nn.Linear(2, 2, bias=False); l.weight = nn.Parameter(X); [type(p).__name__ for p in l.parameters()], list(l.state_dict())
x = X.requires_grad_(); y = x * 2; y.retain_grad(); y.sum().backward(); y.grad|x = X.requires_grad_(); y = x.detach(); (type(y).__name__, y.requires_grad)
x = X.requires_grad_(); y = x * 1; y.add_(1); y.sum().backward(); x.grad|x = X.requires_grad_(); x.add_(1)|x = X.requires_grad_(); (x * x).sum().backward(); x.grad.zero_()
"""  # fmt: skip

SINGLE = """
Sub([1., 2.])|Sub([1, 2]).dtype|Sub(2, 3).shape|Sub()|Sub(T([1, 2]))|Sub(T([1, 2])).dtype|Sub(5.)|Sub('a')|Sub(None)|Sub([1, 2], requires_grad=True)|Sub([1, 2], 3)|Sub(np.ones(2))
Sub(data=[1.])|Sub(range(3))|Sub((1, 2))|Sub(Sub([1.]))|Sub(Deep([1.]))|Deep(Sub([1.]))|tg.Tensor(Sub([1.]))|Sub(2, device='cpu').shape|Sub(tg.Size([2, 1])).shape|Sub(True)
Meta([1., 2.], 5).extra|Meta([1., 2.], 5) + 1|hasattr(Meta([1., 2.], 5) + 1, 'extra')|Meta([1., 2.])|Named([1.])|tg.Tensor.__new__(Sub, [1.])|tg.Tensor(Sub([1.]), 2)
T([1.]).as_subclass(int)|T([1.]).as_subclass(3)|T([1.]).as_subclass(Off) + 1|T([1.]).as_subclass(Deep)|Sub.as_subclass(T([1.]), Sub)|x = T([1., 2.]); x.as_subclass(Sub).add_(1); x
tg.Tensor._make_subclass(Sub, T([1.]))|tg.Tensor._make_subclass(Sub, T([1.]), True)|tg.Tensor._make_subclass(int, T([1.]))|x = T([1.]); tg.Tensor._make_subclass(Sub, x).add_(1); x
x = Sub([1.]); x.tag = 3; hasattr(x + 1, 'tag')|x = Sub([1.]); x.tag = 3; hasattr(x[:], 'tag')|x = Sub([1.]); x.tag = 3; x.add_(1).tag|x = Sub([1.]); x.tag = 3; hasattr(x.detach(), 'tag')
import copy; copy.deepcopy(Sub([1.]))|import copy; x = Sub([1.]); x.tag = [3]; y = copy.copy(x); (type(y).__name__, y.tag is x.tag)|import copy; x = Sub([1.]); y = copy.copy(x); y.add_(1); x
import copy; x = Copied([1.]); x.tag = [3]; y = copy.deepcopy(x); (type(y).__name__, y.tag, y.tag is x.tag)|import copy; copy.deepcopy(nn.Parameter(Copied([1.])))
import io; f = io.BytesIO(); tg.save(Sub([1.]), f); f.seek(0); tg.load(f)|Sub([1.]).__reduce_ex__(2)[0] is not None|x = Sub([1.]); x.__torch_function__ == Sub.__torch_function__
Sub([1.]) + Other([2.])|tg.add(Sub([1.]), Other([2.]))|tg.cat([Sub([1.]), Other([2.])])|Sub([1.]).add_(Other([2.]))|F.mse_loss(Sub([1.]), Other([2.]))|Sub([1.]).mul(Other([2.]))
Sub([1.]) + Deep([2.])|Deep([1.]) + Sub([2.])|tg.add(Sub([1.]), Deep([2.]))|tg.cat([Sub([1.]), Deep([2.]), T([1.])])|F.mse_loss(Deep([1.]), Sub([2.]))|r = Sub([1.]); r += Deep([2.]); r
Off([1.]) + Sub([2.])|Sub([1.]) + Off([2.])|Off([1.]) + 1|Off([1.]).detach()|Off([1.]).add_(1)|tg.stack([Off([1.]), Off([2.])])|Off([1.])[0]|nn.Parameter(Off([1.]))|repr(Off([1.]))
Logged([1.]) + 1; heard()|1 - Logged([1.]); heard()|2 ** Logged([1.]); heard()|Logged([1.]) // 2; heard()|Logged([1.]) @ Logged([1.]); heard()|Logged([1.]) == 1; heard()
Logged([1.]).add_(1); heard()|r = Logged([1.]); r += 1; heard()|r = Logged([1.]); r /= 2; heard()|r = Logged([1.]); r[0] = 2; heard()|Logged([1.])[0]; heard()|len(Logged([1.])); heard()
tg.exp(Logged([1.])); heard()|tg.cat([Logged([1.])]); heard()|F.relu(Logged([1.])); heard()|nn.Linear(1, 1)(Logged([1.])); heard()|F.mse_loss(Logged([1.]), Logged([2.])); heard()
nn.Sequential(nn.Linear(1, 1), nn.Tanh())(Logged([1.])); heard()|T([1.]) + Logged([1.]); heard()|T([1.]) - Logged([1.]); heard()|T([1.]).copy_(Logged([1.])); heard()
Logged([1.]).shape; heard()|Logged([1.]).T; heard()|Logged([1.]).requires_grad; heard()|Logged([1.]).size(); heard()|Logged([1.]).sum().item(); heard()|abs(Logged([1.])); heard()
Logged([1.]).where(T([True]), T([0.])); heard()|T([1., 2.])[Logged([0.]) > 1]; heard()|Logged([1.]).float(); heard()|x = Logged([1.]).requires_grad_(); x.sum().backward(); heard()
tg.zeros_like(Logged([1.])); heard()|tg.tensor(Logged([1.])); heard()|tg.einsum('i,i', Logged([1.]), Logged([1.])); heard()|Logged([1.]).data; heard()|~(Logged([1.]) > 0); heard()
x = Logged([1.]).requires_grad_(); tg.autograd.grad(x.sum(), x); heard()|tg.result_type(Logged([1.]), 1); heard()|Logged([1.]).max(0); heard()|Logged([1.]).norm(); heard()
tg.add(Duck(), 1)|tg.add(1, Duck())|tg.add(T([1.]), other=Duck())|T([1.]) + Duck()|Duck() + T([1.])|T([1.]).add(Duck())|tg.cat([Duck()])|tg.stack([T([1.]), Duck()])|F.relu(Duck())|tg.exp(Duck())
F.linear(T([1.]), Duck())|F.cross_entropy(Duck(), Duck())|nn.Linear(1, 1)(Duck())|tg.where(Duck(), 1, 2)|tg.zeros_like(Duck())|tg.tensor(Duck())|tg.is_tensor(Duck())|tg.max(Duck(), 0)|tg.sum(input=Duck())
tg.einsum('i,i', Duck(), Duck())|Sub([1.]) + Duck()|tg.add(Sub([1.]), Duck())|tg.allclose(Duck(), T([1.]))|nn.MSELoss()(Duck(), T([1.]))|nn.Sequential(nn.ReLU(), nn.Tanh())(T([1.])) * Duck()
tg.add(Mute(), 1)|T([1.]) + Mute()|T([1.]).mul(Mute())|tg.cat([Mute()])|F.relu(Mute())|tg.add(Mute(), Duck())|tg.add(Duck(), Mute())|Sub([1.]) + Mute()|F.cross_entropy(Mute(), Mute())
with tg._C.DisableTorchFunctionSubclass(): r = Sub([1.]) + 1; r|with tg._C.DisableTorchFunction(): r = tg.exp(Sub([1.])); r|with tg._C.DisableTorchFunctionSubclass(): r = tg.cat([Sub([1.])]); r
with tg._C.DisableTorchFunctionSubclass(): r = Sub([1.]).T; r|with tg._C.DisableTorchFunctionSubclass(): r = Sub([1.]); r|with tg._C.DisableTorchFunctionSubclass(): r = tg.add(Duck(), 1); r
tg._C._disabled_torch_function_impl(tg.add, (Sub,), (Sub([1.]), 1))|Sub.__torch_function__(tg.add, (Sub,), (Sub([1.]), 1))|Sub.__torch_function__(tg.add, (Other,), (Sub([1.]), 1))
tg.Tensor.__torch_function__(tg.add, (Sub,), (Sub([1.]), 1))|tg.Tensor.__torch_function__(tg.add, (tg.Tensor,), (T([1.]), 1))|Deep.__torch_function__(tg.add, (Sub,), (Sub([1.]), 1))
tg.overrides.has_torch_function((Sub([1.]),))|tg.overrides.has_torch_function((T([1.]), 3))|tg.overrides.has_torch_function((nn.Parameter(T([1.])),))|tg.overrides.has_torch_function((Duck(),))
tg.overrides.is_tensor_like(Sub([1.]))|tg.overrides.is_tensor_like(T([1.]))|tg.overrides.is_tensor_like(3)|tg.overrides.is_tensor_like(Duck())|tg.overrides.has_torch_function((Off([1.]),))
tg.overrides.handle_torch_function(tg.exp, (Duck(),), Duck())|tg.overrides.handle_torch_function(tg.exp, (Sub([0.]),), Sub([0.]))|tg.overrides.handle_torch_function(tg.exp, (3,), 3)
tg.overrides.handle_torch_function(tg.exp, (T([0.]),), T([0.]))|tg.overrides.wrap_torch_function(lambda x: (x,))(lambda x: x)(T([1.]))|tg.overrides.wrap_torch_function(lambda x: (x,))(lambda x: x)(Duck())
tg.overrides.is_tensor_method_or_property(tg.Tensor.add)|tg.overrides.is_tensor_method_or_property(tg.add)|tg.overrides.is_tensor_method_or_property(tg.Tensor.shape.__get__)
l = nn.Linear(2, 1); l.weight = nn.Parameter(Sub([[1., 2.]])); l.double(); l.weight|l = nn.Linear(2, 1); l.register_buffer('b', Sub([1.])); l.double(); l.b|l = nn.Linear(1, 1); l.register_buffer('b', Sub([1.])); l.state_dict()['b']
l = nn.Linear(2, 1); l.weight = nn.Parameter(Sub([[1., 2.]])); nn.utils.parameters_to_vector([l.weight])|l = nn.Linear(2, 1); l.weight = nn.Parameter(Sub([[1., 2.]])); l.state_dict()['weight']|nn.init.zeros_(Sub([1.]))
tg.utils.data.default_collate([Sub([1.]), Sub([2.])])|tg.utils.data.TensorDataset(Sub([[1.], [2.]]))[0]|nn.ParameterList([Sub([1.])])[0]|nn.utils.clip_grad_norm_([nn.Parameter(Sub([1.]))], 1.)
np.exp(Sub([1.]))|Sub([1.]) + np.ones(1)|np.ones(1) / Sub([1.])|np.asarray(Sub([1.]))|sum([Sub([1.]), Sub([2.])])|max(Sub(T([2.])).sum(), Sub([1.]).sum())|x = Sub([1., 2.]); a, b = x; [a, b]
tg.Tensor.add(Sub([1.]), 1)|tg.Tensor.exp(Sub([0.]))|tg.Tensor.__add__(Sub([0.]), 1)|tg.Tensor.__getitem__(Sub([0.]), 0)|x = Sub([1.]); x.grad = T([1.]); x.grad|x = Sub([1.]); x.data = tg.ones(3); x|x = Sub([1.]); x.requires_grad = True; x
l = nn.Linear(1, 1); l.weight = T([1.])|l = nn.Linear(1, 1); l.weight = None; l.weight|nn.Parameter(Sub([1.]), requires_grad=False).requires_grad|nn.Parameter(Sub(T([1])))|nn.Parameter(Sub(T([1])), requires_grad=False)
Upper([1., 2.]).add(1)|Upper([1., 2.]) * 2|Upper([1., 2.]).T|Upper([1., 2.]) + 1|Both([1.]) + 1|Both([1.]).T|1 - Both([1.])|[type(r).__name__ for r in Both([1.])]|Both([1.]).shape|Both([1.]).add_(1)|tg.exp(Both([0.]))
Twice.apply(Sub([1.]).requires_grad_())|x = Sub([1.]).requires_grad_(); Twice.apply(x).sum().backward(); x.grad|Twice.apply(Sub([1.]))|x = Sub([1.]); x.numpy()[0] = 5; x|[10, 20, 30][Sub(T([1]))[0]]|x = Sub([1.]); x.nothing
tg.add in tg.overrides.get_overridable_functions()[tg]|tg.Tensor.add in tg.overrides.get_overridable_functions()[tg.Tensor]|tg.zeros in tg.overrides.get_overridable_functions()[tg]
"""  # fmt: skip


def _forms(text):
    return [form.strip() for line in text.strip().split("\n") for form in line.split("|")]


def programs():
    for operator in OPERATORS:
        for left, right in (("X", "X"), ("X", "2"), ("2", "X"), ("T([[1.,2.],[3.,4.]])", "X"), ("X", "np.float32(2)")):
            if not (operator == "@" and "2" in (left, right)) and not (operator == "@" and "np" in right):
                yield f"{left} {operator} {right}".replace("X", "Sub([[1.,2.],[3.,4.]])")
    for form in _forms(FORMS) + _forms(GRADIENTS):
        yield form.replace("X", "Sub([[1.,2.],[3.,4.]])")
    for form in _forms(FORMS)[::4]:
        yield form.replace("X", "T([[1.,2.],[3.,4.]]).as_subclass(Deep)")
    yield from _forms(SINGLE)


def names(tg, program):
    """The classes that a program names."""
    return _classes(tg) if _ANY.search(program) else {}


def _classes(tg):
    calls = []

    def heard():
        """What `Logged` was asked for since the last time."""
        taken = list(calls)
        calls.clear()
        return taken

    class Sub(tg.Tensor):
        pass

    class Other(tg.Tensor):
        pass

    class Deep(Sub):
        pass

    class Off(tg.Tensor):
        __torch_function__ = tg._C._disabled_torch_function_impl

    class Logged(tg.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append([func.__name__, *(kind.__name__ for kind in types)])
            return super().__torch_function__(func, types, args, kwargs)

    class Duck:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return f"{func.__name__} of {', '.join(kind.__name__ for kind in types)}"

    class Mute:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return NotImplemented

    class Meta(tg.Tensor):
        @staticmethod
        def __new__(cls, data, extra):
            return super().__new__(cls, data)

        def __init__(self, data, extra):
            super().__init__()
            self.extra = extra

    class Named(tg.Tensor):
        def __init__(self, data):
            super().__init__(data)

    class Copied(tg.Tensor):
        def new_empty(self, *size):
            return super().new_empty(*size).as_subclass(Copied)

    class Upper(tg.Tensor):
        def add(self, other):
            return super().add(other)

        def __mul__(self, other):
            return super().__mul__(other)

        @property
        def T(self):
            return super().T

    class Both(Sub):  # its bases have a say, it has none
        __torch_function__ = tg._C._disabled_torch_function_impl

    class Twice(tg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return {name: value for name, value in locals().items() if name in NAMES}
