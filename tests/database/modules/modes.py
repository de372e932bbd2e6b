"""What is asked of a module. Each mode yields what it has found with each sample."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import torch

import tracegrad as tg

from ..comparison import difference
from ..compiled_calls import CALLS, scaled_arguments
from ..conversion import is_tensor, to_tracegrad
from ..counterparts import SEED, Absent
from ..gradients import cotangent, list_difference, requiring
from ..questions import Finding, Findings, attempt, compared, judged_error, raised
from ..steps import requiring_of
from .pairs import ModuleQuestion, Pair, converted, pairs
from .steps import step_of


def initial(question: ModuleQuestion) -> Findings:
    """What the constructor makes: keys of the state and their order, the text of `repr`, and numbers: of float32 to the
    last bit; of float64 PyTorch's vector instructions round a draw's product and sum at once, numpy's do not."""
    exact = question.dtype is torch.float32
    for pair, error, text in pairs(question, training=True):
        yield raised(error, text) if error is not None else compared(_initial_difference(pair, exact), text)


def _initial_difference(pair: Pair, exact: bool) -> str:
    theirs, own = pair.theirs, pair.own
    if repr(theirs) != repr(own):
        return f"repr {own!r}, not {theirs!r}"
    if [n for n, _ in theirs.named_parameters()] != [n for n, _ in own.named_parameters()]:
        return "other parameters"
    if [n for n, _ in theirs.named_modules()] != [n for n, _ in own.named_modules()]:
        return "other modules within"
    return "" if _is_lazy(theirs) else _state_difference(theirs, own, exact)


def _is_lazy(module: Any) -> bool:
    return any(isinstance(x, torch.nn.parameter.UninitializedTensorMixin) for x in module.state_dict().values())


def _state_difference(theirs: Any, own: Any, exact: bool = False) -> str:
    expected, got = dict(theirs.state_dict()), dict(own.state_dict())
    if list(expected) != list(got):
        return f"the state has {list(got)}, not {list(expected)}"
    for name, value in expected.items():
        problem = difference(value, got[name])
        if not problem and exact and is_tensor(value) and value.detach().tolist() != got[name].detach().tolist():
            problem = "other roundings"
        if problem:
            return f"{name}: {problem}"
    return ""


def train(question: ModuleQuestion) -> Findings:
    """The result in training, and what it has written into the state."""
    yield from _results(question, training=True)


def evaluation(question: ModuleQuestion) -> Findings:
    """The result in evaluation, and that the state is as it was."""
    yield from _results(question, training=False)


def _results(question: ModuleQuestion, training: bool) -> Findings:
    for pair, error, text in pairs(question, training):
        if error is not None:
            yield raised(error, text)
            continue
        expected, refused = attempt(_called, torch, pair.theirs, pair.torch_call)
        got, error = attempt(_called, tg, pair.own, pair.call)
        if refused is not None or error is not None:
            yield judged_error(refused, error, str(pair))
            continue
        yield compared(difference(expected, got) or _state_difference(pair.theirs, pair.own), str(pair))


def _called(library: Any, module: Any, call: Any) -> Any:
    library.manual_seed(SEED)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return module(*call[0], **call[1])


def gradient(question: ModuleQuestion) -> Findings:
    """The gradients of inputs and parameters by `backward`, in training and in evaluation."""
    for training in (True, False):
        for pair, error, text in pairs(question, training, requires_grad=True):
            if error is not None:
                yield raised(error, text)
                continue
            expected, refused = attempt(_gradients, torch, pair.theirs, pair.torch_call)
            if refused is not None:
                continue
            got, error = attempt(_gradients, tg, pair.own, pair.call)
            yield raised(error, str(pair)) if error else compared(list_difference(expected, got, True), str(pair))


def _gradients(library: Any, module: Any, call: Any) -> list[Any]:
    library.manual_seed(SEED)
    outputs = requiring([module(*call[0], **call[1])])
    if outputs:
        library.autograd.backward(outputs, [cotangent(library, x, i) for i, x in enumerate(outputs)])
    return [x.grad for x in (*requiring([call[0], call[1]]), *module.parameters())]


def state(question: ModuleQuestion) -> Findings:
    """PyTorch's state loaded into a module with other numbers, which then gives PyTorch's result; and the other way."""
    for pair, error, text in pairs(question, training=False):
        if error is None:
            problem, error = attempt(_exchanged, pair)
        yield raised(error, text) if error is not None else compared(problem, text)


def _exchanged(pair: Pair) -> str:
    if _is_lazy(pair.theirs):
        _called(torch, pair.theirs, pair.torch_call)
    with tg.no_grad():
        for x in [*pair.own.parameters(), *pair.own.buffers()]:
            if not tg.nn.parameter.is_lazy(x):
                x.zero_()
    keys = pair.own.load_state_dict(to_tracegrad(dict(pair.theirs.state_dict()), {}))
    if keys.missing_keys or keys.unexpected_keys:
        return f"keys {keys}"
    if problem := _state_difference(pair.theirs, pair.own, exact=True):
        return problem
    back = {name: torch.from_numpy(x.detach().numpy().copy()) for name, x in pair.own.state_dict().items()}
    pair.theirs.load_state_dict(back)
    return difference(*(_called(*of) for of in ((torch, pair.theirs, pair.torch_call), (tg, pair.own, pair.call))))


def compiled(question: ModuleQuestion) -> Findings:
    """Compiled calls with `backward`, in training and in evaluation, beside eager ones of a module of its own."""
    ways: set[str] = set()
    for training in (True, False):
        for sample in question.samples(training, requires_grad=True):
            pair, error = attempt(Pair, question, sample, training)
            other, again = attempt(Pair, question, sample, training)
            if error is None and again is None:
                yield _compiled(pair, other, ways)


def _compiled(pair: Pair, other: Pair, ways: set[str]) -> Finding:
    plain, step = step_of(other.own), tg.compile(step_of(pair.own))
    outputs, refused = attempt(lambda: requiring_of([_called(tg, other.own, other.call)]))
    if refused is not None:
        return judged_error(None, refused, str(pair))
    _called(tg, pair.own, pair.call)  # what counts calls has counted as many; lazy parameters are there
    pair.call = (*pair.call, [cotangent(tg, x, i) for i, x in enumerate(outputs)])
    for call in range(CALLS):
        answers = []
        for function in (plain, step):
            tg.manual_seed(call)
            answers.append(attempt(function, *scaled_arguments(*pair.call, 1.0 - call % 2 / 1024)))
        (expected, refused), (got, error) = answers
        if refused is not None or error is not None:
            finding = judged_error(refused, error, f"call {call + 1} of {pair}")
            if finding.outcome != "right":
                return finding
            continue
        problem = difference(expected[0], got[0])
        problem = problem or next((p for p in map(list_difference, expected[1:], got[1:], (True, True)) if p), "")
        if problem := problem or _state_difference(other.own, pair.own):
            return Finding("wrong", f"{problem} ({step.way}) in call {call + 1} of {pair}")
    ways.add(step.way)  # of the last call: earlier ones are recorded
    return Finding("right", " and ".join(sorted(ways)))


def errors(question: ModuleQuestion) -> Findings:
    """What PyTorch refuses: the exception's class and the words that the database asks for."""
    info = question.info
    for training in (True, False):
        torch.manual_seed(0)
        for each in info.module_error_inputs_func(info, "cpu", torch.float64, False, training):
            sample = each.module_error_input
            _, expected = attempt(_built_and_called, torch, info.module_cls, sample.constructor_input, sample, training)
            if expected is None:
                continue
            _, error = attempt(_built_and_called, tg, question.ours(), sample.constructor_input, sample, training)
            yield worded(each, expected, error)


def worded(each: Any, expected: Exception, error: Exception | None) -> Finding:
    """Whether an exception has the class of PyTorch's and the words that the database asks for."""
    finding = judged_error(expected, error, f"{str(expected)[:80]!r}")
    if finding.outcome != "right" or isinstance(error, Absent):
        return finding
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the database's expressions have brackets in brackets
        if not re.search(each.error_regex, str(expected)) or re.search(each.error_regex, str(error)):
            return finding
    return Finding("wrong", f"{str(error)[:120]!r}, not {str(expected)[:120]!r}")


def _built_and_called(library: Any, module: Any, made: Any, sample: Any, training: bool) -> Any:
    call = sample.forward_input
    given = [made.args, made.kwargs, *((call.args, call.kwargs) if call is not None else ())]
    given = converted(given, {}) if library is tg else given
    built = module(*given[0], **given[1]).to(library.float64).train(training)
    return built(*given[2], **given[3]) if call is not None else built


MODES: dict[str, Callable[[ModuleQuestion], Findings]] = {
    "initial": initial,
    "state": state,
    "train": train,
    "eval": evaluation,
    "gradient": gradient,
    "compiled": compiled,
    "errors": errors,
}
