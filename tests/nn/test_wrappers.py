"""Modules whose ``__getattr__`` leads to another module, as wrappers write it."""

import pytest


def wrapper_class(tg):
    class Wrapper(tg.nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def __getattr__(self, name):
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

        def forward(self, x):
            return self.inner(x) * 2

    return Wrapper


def test_a_wrapper_leads_to_what_it_wraps(tg):
    inner = tg.nn.Linear(2, 3)
    wrapped = wrapper_class(tg)(inner)
    assert wrapped.in_features == 2 and wrapped.weight is inner.weight
    assert list(wrapped.state_dict()) == ["inner.weight", "inner.bias"]
    with pytest.raises(AttributeError, match="'Linear' object has no attribute 'more'"):
        wrapped.more  # noqa: B018


def test_a_wrapper_is_compiled(tg):
    wrapped = wrapper_class(tg)(tg.nn.Linear(2, 3))
    step = tg.compile(lambda x: (wrapped(x) * wrapped.weight.sum()).sum() + wrapped.out_features)
    for i in range(4):
        x = tg.full((2, 2), float(i))
        assert step(x).item() == pytest.approx((wrapped(x) * wrapped.weight.sum()).sum().item() + 3, rel=1e-5)


def test_a_module_is_assigned_after_init_only(tg):
    class Early(tg.nn.Module):
        def __init__(self):
            self.inner = tg.nn.Linear(2, 2)

    with pytest.raises(AttributeError, match=r"cannot assign module before Module.__init__\(\) call"):
        Early()
