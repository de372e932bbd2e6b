"""What a program asks of a tensor besides its numbers is answered as in eager mode, whichever tensor comes next."""

import pytest

#: What may be asked of a tensor of four elements; each gives a number.
QUESTIONS = {
    "stride": lambda x: x.stride()[0] + 1,
    "storage_offset": lambda x: x.storage_offset() + 1,
    "is_contiguous": lambda x: 1 + x.is_contiguous(),
    "is_leaf": lambda x: 1 + x.is_leaf,
    "requires_grad": lambda x: 1 + x.requires_grad,
    "grad_fn is None": lambda x: 1 + (x.grad_fn is None),
    "if grad_fn is None": lambda x: 3 if x.grad_fn is None else 4,
    "grad_fn.name": lambda x: len(x.grad_fn.name()) if x.grad_fn is not None else 1,
    "type of grad_fn": lambda x: len(type(x.grad_fn).__name__),
    "grad_fn by text": lambda x: len(type(getattr(x, "grad_fn")).__name__),  # noqa: B009
    "grad_fn beside None": lambda x: len(type((x.grad_fn, None)[0]).__name__),
    "next_functions": lambda x: len(x.grad_fn.next_functions) + 1 if x.grad_fn is not None else 0.5,
    "_base": lambda x: 1 + (x._base is None),
    "_is_view": lambda x: 1 + x._is_view(),
    "_version": lambda x: 1 if x.is_inference() else x._version + 2,
    "output_nr": lambda x: x.output_nr + 1,
    "is_inference": lambda x: 1 + x.is_inference(),
    "grad is None": lambda x: 1 + (x.grad is None) if x.is_leaf else 5,
    "retains_grad": lambda x: 1 + x.retains_grad,
    "hooks": lambda x: 1 + bool(x._backward_hooks),
    "size of the storage": lambda x: x.untyped_storage().size(),
    "is_shared": lambda x: 1 + x.is_shared(),
    "class": lambda x: len(type(x).__name__),
    "attribute": lambda x: getattr(x, "note", 3),
    "hasattr": lambda x: 1 + hasattr(x, "note"),
    "dtype": lambda x: x.dtype.itemsize,
    "repr": lambda x: len(repr(x)),
    "owner of the memory": lambda x: 1 + x.detach().numpy().flags.owndata,
}


def _tensors(tg):
    base, w = tg.arange(64.0), tg.ones(4, requires_grad=True)
    with tg.inference_mode():
        of_inference = tg.ones(4)
    with tg.no_grad():
        view_without_history = w[1:2].expand(4)
    with_grad, retaining, noted, hooked = tg.ones(4, requires_grad=True), w * 3, tg.ones(4), w * 2
    with_grad.grad = tg.ones(4)
    retaining.retain_grad()
    noted.note = 1
    hooked.register_hook(lambda g: g)
    return [
        base[:4], base[4:8], base[:8:2], tg.ones(4), w.detach(), tg.ones(4).add_(1), tg.ones(4, dtype=tg.float64),
        tg.ones(4, requires_grad=True), tg.nn.Parameter(tg.ones(4)), with_grad, w * 2, w.exp(), w[:],
        *tg.stack([w, w]).unbind(0), (w * 2)[:1].expand(4), retaining, hooked, noted, of_inference,
        view_without_history, tg.ones(4).share_memory_(),
    ]  # fmt: skip


def _answers(tg, way, ask, is_argument):
    tensors, holder = _tensors(tg), [None]
    step = way((lambda x: x * ask(x)) if is_argument else (lambda x: x * ask(holder[0])))
    answers = []
    for tensor in [*tensors, *reversed(tensors)]:
        holder[0] = tensor
        try:
            result = step(tensor if is_argument else tg.ones(4))
            answers.append((result.tolist(), result.requires_grad))
        except (RuntimeError, TypeError, ValueError) as error:
            answers.append((type(error), str(error).splitlines()[0]))
    return answers


@pytest.mark.parametrize("is_argument", [True, False])
@pytest.mark.parametrize("question", QUESTIONS)
def test_answers_are_those_of_eager_mode(tg, question, is_argument):
    ask = QUESTIONS[question]
    assert _answers(tg, tg.compile, ask, is_argument) == _answers(tg, lambda step: step, ask, is_argument)


def test_whether_there_is_a_history_costs_no_replay(tg):
    step = tg.compile(lambda x: x * 2 if x.grad_fn is None else x * 3)
    for _ in range(4):
        step(tg.ones(4))
    assert step.specialisations and "replay" in step.explain()


NODES = {
    "returned": lambda x: (x * 2).grad_fn,
    "in a tuple": lambda x: ((x * 2).grad_fn, x),
    "by text": lambda x: getattr(x * 2, "grad_fn"),  # noqa: B009
    "of two": lambda x: (x * 2).grad_fn if x.sum() > 0 else x.grad_fn,
    "its name": lambda x: (x * 2).grad_fn.name(),
    "no node": lambda x: x.detach().grad_fn,
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_is_handed_out(tg, name):
    """The last that a function does may be to read it: nothing follows in its code but the end."""

    def shown(value):
        return value[0].name() if isinstance(value, tuple) else value.name() if hasattr(value, "name") else value

    compiled = tg.compile(NODES[name])
    for _ in range(4):
        x = tg.ones(3, requires_grad=True)
        assert shown(compiled(x)) == shown(NODES[name](x))
