"""``to`` of tensors and modules with any combination of arguments: what PyTorch 2.13 answers, or which error."""

import pytest

#: By what PyTorch answers: the type of the result (`same`: the tensor itself), or the error's class.
ANSWERS = """
x.to() -> float32 same
x.to(None) -> float32 same
x.to('cpu') -> float32 same
x.to(device='cpu') -> float32 same
x.to('cpu',T.float64) -> float64
x.to(T.float64,'cpu') -> TypeError
x.to(T.float64,True) -> float64
x.to(T.float64,True,True) -> float64
x.to(T.float64,True,True,True) -> TypeError
x.to('cpu',T.float64,True,True) -> float64
x.to('cpu',True) -> TypeError
x.to('cpu',None,True) -> float32 same
x.to(i) -> int64
x.to(tensor=i) -> int64
x.to(other=i) -> TypeError
x.to(i,True,False) -> int64
x.to(i,'cpu') -> TypeError
x.to(dtype=T.float64) -> float64
x.to(dtype=T.float64,device='cpu') -> float64
x.to('cpu',dtype=T.float64) -> float64
x.to(T.float64,dtype=T.float64) -> TypeError
x.to('cpu',device='cpu') -> TypeError
x.to(T.float64,device='cpu') -> TypeError
x.to('cpu',bad=1) -> TypeError
x.to(bad=1) -> TypeError
x.to(T.int8,True,False,memory_format=None,x=2) -> TypeError
x.to(T.int8,memory_format=T.contiguous_format) -> int8
x.to(T.int8,non_blocking=True,copy=True) -> int8
x.to(copy=True) -> float32
x.to(non_blocking=1) -> TypeError
x.to(copy=1) -> TypeError
x.to('cpu',T.float64,1) -> TypeError
x.to(0.5) -> float64
x.to([1]) -> TypeError
x.to(True) -> bool
x.to(None,T.float64) -> float64
x.to(None,None) -> float32 same
x.to(device=None,dtype=T.float64) -> float64
x.to(dtype=None) -> float32 same
x.to(float) -> float64
x.to(int) -> int64
x.to(bool) -> bool
x.to(dtype=float) -> float64
x.to('cpu',float) -> float64
x.to(T.device('cpu'),T.int32) -> int32
x.to(memory_format=3) -> TypeError
x.to('cpu',memory_format='a') -> TypeError
m.to() -> float32
m.to(None) -> float32
m.to('cpu') -> float32
m.to(device='cpu') -> float32
m.to('cpu',T.float64) -> float64
m.to(T.float64,'cpu') -> TypeError
m.to(T.float64,True) -> float64
m.to(T.float64,True,True) -> RuntimeError
m.to(x.double()) -> float64
m.to(tensor=x.double()) -> float64
m.to(other=x) -> TypeError
m.to('cpu',bad=1) -> TypeError
m.to(dtype=T.float32,copy=True) -> RuntimeError
m.to(copy=False) -> RuntimeError
m.to(non_blocking=True) -> float32
m.to(0.5) -> float64
m.to(T.int8) -> TypeError
m.to(dtype=T.float32,device='cpu',non_blocking=True) -> float32
m.to(memory_format=T.channels_last) -> float32
m.to('cpu',T.float32,True) -> float32
m.to('cpu',device='cpu') -> TypeError
m.to(float) -> float64
"""
CASES = [tuple(line.split(" -> ")) for line in ANSWERS.strip().splitlines()]


def answer(tg, expression):
    names = {"T": tg, "x": tg.ones(2), "i": tg.ones(2, dtype=tg.int64), "m": tg.nn.Linear(2, 2)}
    try:
        out = eval(expression, names)
    except Exception as error:
        return type(error).__name__
    dtype = out.weight.dtype if isinstance(out, tg.nn.Module) else out.dtype
    return str(dtype).rpartition(".")[2] + " same" * (out is names["x"])


@pytest.mark.long(fast=1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("expression", "wanted"), CASES)
def test_answers(tg, expression, wanted):
    assert answer(tg, expression) == wanted
