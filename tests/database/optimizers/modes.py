"""What is asked of an optimizer. Each mode yields what it has found with each configuration."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

import tracegrad as tg

from ..comparison import difference
from ..conversion import replaced, short, to_tracegrad
from ..counterparts import counterpart
from ..modules.modes import worded
from ..questions import Finding, Findings, attempt, compared, judged_error, raised
from .problems import Problem, step_of

STEPS = 6
#: Of an optimizer that makes iterations in a step; after more of them roundings lead the way.
STEPS_WITH_CLOSURE = 2


@dataclass
class OptimizerQuestion:
    """An entry of the database."""

    info: Any

    @property
    def name(self) -> str:
        return str(self.info.optim_cls.__name__)

    def configurations(self) -> Iterator[tuple[dict[str, Any], str]]:
        """The options of each configuration, then with each of the implementations that PyTorch has on a processor."""
        for each in self.info.optim_inputs_func("cpu"):
            for flag in ("", *self.info.supported_impls):
                if flag != "fused" or "cpu" in self.info.supports_fused_on:
                    options = {**each.kwargs, **({flag: True} if flag else {})}
                    yield options, ", ".join(f"{k}={short(v)}" for k, v in options.items())

    def problem(self, library: Any, dtype: str = "float64", sparse: bool | None = None) -> Problem:
        only = self.info.only_supports_sparse_grads
        return Problem(library, dtype, only if sparse is None else sparse, self.name == "Muon")


class Run:
    """An optimizer of one library on a problem of its own."""

    def __init__(self, question: OptimizerQuestion, library: Any, options: dict[str, Any], **of: Any) -> None:
        grouped = of.pop("grouped", False)
        self.problem = question.problem(library, **of)
        if library is tg:
            options = to_tracegrad(options, {})
        given = self.problem.groups() if grouped else self.problem.parameters
        self.optimizer = getattr(library.optim, question.name)(given, **options)
        self.closure = question.info.step_requires_closure
        self.step = step_of(self.problem, self.optimizer, self.closure)

    def steps(self, count: int = 0, after: Callable[[Any], None] | None = None) -> list[Any]:
        """The losses of some steps."""
        losses = []
        for _ in range(count or (STEPS_WITH_CLOSURE if self.closure else STEPS)):
            losses.append(self.step(self.problem.x, self.problem.y))
            if after is not None:
                after(losses[-1])
        return losses

    def outcome(self) -> list[Any]:
        """The parameters' numbers, and the state, sparse tensors of it as dense ones."""
        state = self.optimizer.state_dict()
        dense = {i: {k: _dense(v) for k, v in entry.items()} for i, entry in state["state"].items()}
        return [[p.detach() for p in self.problem.parameters], {**state, "state": dense}]


def _dense(value: Any) -> Any:
    return value.to_dense() if getattr(value, "is_sparse", False) else value


def _both(question: OptimizerQuestion, options: dict[str, Any], text: str, **of: Any) -> Finding:
    def run(library: Any) -> Any:
        one = Run(question, library, options, **of)
        return [one.steps(), *one.outcome()]

    expected, refused = attempt(run, torch)
    got, error = attempt(run, tg)
    if refused is not None or error is not None:
        return judged_error(refused, error, text)
    return compared(difference(expected, got), text)


def values(question: OptimizerQuestion) -> Findings:
    """Losses, parameters and state after some steps, with one group of parameters and with two."""
    for options, text in question.configurations():
        yield _both(question, options, text)
        if question.info.supports_param_groups and not question.info.only_supports_sparse_grads:
            yield _both(question, options, f"two groups, {text}", grouped=True)


def complex_numbers(question: OptimizerQuestion) -> Findings:
    """The same with complex parameters."""
    if question.info.supports_complex and not question.info.only_supports_sparse_grads:
        for options, text in question.configurations():
            yield _both(question, options, f"complex, {text}", dtype="complex128")


def sparse(question: OptimizerQuestion) -> Findings:
    """The same with sparse gradients, also where they are refused."""
    for options, text in question.configurations():
        yield _both(question, options, f"sparse, {text}", sparse=True)


def state(question: OptimizerQuestion) -> Findings:
    """PyTorch's state after some steps goes on in tracegrad, and the other way."""
    for options, text in question.configurations():
        one, refused = attempt(Run, question, torch, options)
        if refused is None:
            _, refused = attempt(one.steps, 1 if question.info.step_requires_closure else 3)
        if refused is None:
            problem, error = attempt(_continued, question, one, options)
            yield raised(error, text) if error is not None else compared(problem, text)


def _continued(question: OptimizerQuestion, one: Run, options: dict[str, Any]) -> str:
    again, own, back = (Run(question, library, options) for library in (torch, tg, torch))
    again.optimizer.load_state_dict(copy.deepcopy(one.optimizer.state_dict()))  # which casts numbers of the state
    _copy(one, again, lambda x, memo: x)
    own.optimizer.load_state_dict(to_tracegrad(one.optimizer.state_dict(), {}))
    _copy(one, own, to_tracegrad)
    back.optimizer.load_state_dict(_to_torch(own.optimizer.state_dict()))
    _copy(own, back, lambda x, memo: _to_torch(x))
    expected = [again.steps(again.closure or 3), *again.outcome()]
    for run in (own, back):
        if problem := difference(expected, [run.steps(run.closure or 3), *run.outcome()]):
            return f"{'' if run is own else 'taken back: '}{problem}"
    return ""


def _copy(source: Run, target: Run, convert: Any) -> None:
    library = target.problem.library
    with library.no_grad():
        for old, new in zip(source.problem.parameters, target.problem.parameters, strict=True):
            new.copy_(convert(old.detach(), {}))


def _to_torch(value: Any) -> Any:
    return replaced(value, lambda x: torch.from_numpy(x.detach().numpy().copy()))


def schedules(question: OptimizerQuestion) -> Findings:
    """With the database's schedules of the learning rate."""
    (options, _), *_ = question.configurations()
    for number, makers in enumerate(question.info.scheduler_inputs):
        answers = [attempt(_scheduled, question, library, options, makers) for library in (torch, tg)]
        (expected, refused), (got, error) = answers
        if refused is not None or error is not None:
            yield judged_error(refused, error, f"schedules {number}")
        else:
            yield compared(difference(expected, got), f"schedules {number}")


def _scheduled(question: OptimizerQuestion, library: Any, options: dict[str, Any], makers: Any) -> Any:
    options = options if "lr" in options or not question.info.supports_param_groups else {**options, "lr": 0.05}
    run = Run(question, library, options)
    made = [(maker if library is torch else counterpart(maker))(run.optimizer) for maker in makers]

    def after(loss: Any) -> None:
        for schedule in made:
            schedule.step(*([loss] if type(schedule).__name__ == "ReduceLROnPlateau" else []))

    return [run.steps(3 if run.closure else 25, after), *run.outcome(), [schedule.get_last_lr() for schedule in made]]


def compiled(question: OptimizerQuestion) -> Findings:
    """The compiled step beside an eager one."""
    ways: set[str] = set()
    for options, text in question.configurations():
        plain, refused = attempt(Run, question, tg, options)
        if refused is not None:
            continue  # `values` says whether this is right
        other = Run(question, tg, options)
        other.step = tg.compile(other.step)
        expected, refused = attempt(plain.steps)
        got, error = attempt(other.steps)
        if refused is not None or error is not None:
            yield judged_error(refused, error, text)
            continue
        problem = difference([expected, *plain.outcome()], [got, *other.outcome()])
        if not problem:
            ways.add(other.step.way)
        yield Finding("wrong", f"{problem} for {text}") if problem else Finding("right", " and ".join(sorted(ways)))


def errors(question: OptimizerQuestion) -> Findings:
    """What PyTorch refuses: the exception's class and the words that the database asks for; warnings, too."""
    torch.manual_seed(0)
    for each in question.info.optim_error_inputs_func("cpu", torch.float64):
        given = each.optimizer_error_input
        expected = _refusal(torch, question, each, given.params, given.kwargs)
        if expected is not None:
            memo: dict[int, Any] = {}
            parameter = functools.partial(_parameter, memo=memo)
            params = None if given.params is None else replaced(given.params, parameter)
            yield worded(each, expected, _refusal(tg, question, each, params, to_tracegrad(given.kwargs, memo)))


def _parameter(tensor: Any, memo: dict[int, Any]) -> Any:
    """As `to_tracegrad`, with parameters for parameters; one object stays one object."""
    if id(tensor) not in memo:
        made = _plain(tensor.detach())
        memo[id(tensor)] = (tg.nn.Parameter(made) if isinstance(tensor, torch.nn.Parameter) else made, tensor)
        if tensor.grad is not None:
            memo[id(tensor)][0].grad = _plain(tensor.grad)
    return memo[id(tensor)][0]


def _plain(tensor: Any) -> Any:
    if tensor.layout is not torch.sparse_coo:
        return to_tracegrad(tensor, {})
    parts = (to_tracegrad(x, {}) for x in (tensor._indices(), tensor._values()))
    return tg.sparse_coo_tensor(*parts, tuple(tensor.shape))


def _refusal(library: Any, question: OptimizerQuestion, each: Any, params: Any, kwargs: Any) -> Exception | None:
    """The exception, or the warning as an exception where the database asks for a warning."""
    if params is None:
        params = question.problem(library).parameters
    at_step = each.error_on.name == "STEP_ERROR"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error" if issubclass(each.error_type, Warning) else "ignore")
            optimizer = getattr(library.optim, question.name)(params, **kwargs)
            if at_step:
                for group in optimizer.param_groups:
                    for p in (x for x in group["params"] if x.grad is None):
                        p.grad = library.ones_like(p)
                optimizer.step()
    except (Exception, Warning) as error:
        return error
    return None


MODES: dict[str, Callable[[OptimizerQuestion], Findings]] = {
    "values": values,
    "complex": complex_numbers,
    "sparse": sparse,
    "state": state,
    "schedules": schedules,
    "compiled": compiled,
    "errors": errors,
}
