"""Unknown keywords, and what is no generator or no order of a norm: PyTorch's classes of errors, or its result."""

import pytest

ANSWERS = """
T.empty(2,bad=1) -> TypeError
T.empty_like(x,bad=1) -> TypeError
T.ones(2,bad=1) -> TypeError
T.ones_like(x,bad=1) -> TypeError
T.rand(2,bad=1) -> TypeError
T.rand_like(x,bad=1) -> TypeError
T.randn(2,bad=1) -> TypeError
T.randn_like(x,bad=1) -> TypeError
T.zeros(2,bad=1) -> TypeError
T.zeros_like(x,bad=1) -> TypeError
x.new_empty((2,),bad=1) -> TypeError
x.new_empty_strided((2,),(1,),bad=1) -> TypeError
x.new_full((2,),1,bad=1) -> TypeError
x.new_ones((2,),bad=1) -> TypeError
x.new_tensor([1],bad=1) -> TypeError
x.new_zeros((2,),bad=1) -> TypeError
x.resize_(4,bad=1) -> TypeError
x.uniform_(bad=1) -> TypeError
x.view(4,bad=1) -> TypeError
T.view_copy(x,(4,),bad=1) -> TypeError
nn.init.normal(x,bad=1) -> TypeError
nn.init.constant(x,1,bad=1) -> TypeError
T.full((2,),1,bad=1) -> TypeError
T.tensor([1],bad=1) -> TypeError
T.arange(3,bad=1) -> TypeError
T.eye(2,bad=1) -> TypeError
T.linspace(0,1,3,bad=1) -> TypeError
T.randint(3,(2,),bad=1) -> TypeError
T.randperm(3,bad=1) -> TypeError
T.normal(0.,1.,(2,),bad=1) -> TypeError
T.full_like(x,1,bad=1) -> TypeError
nn.init.xavier_uniform(x,bad=1) -> TypeError
x.cpu(bad=1) -> TypeError
x.type(T.float32,bad=1) -> TypeError
x.cuda(bad=1) -> TypeError
T.autograd.Variable(x,bad=1) -> TypeError
x.requires_grad_(bad=1) -> TypeError
T.as_tensor([1],bad=1) -> TypeError
T.rand(1,generator=5) -> TypeError
T.Generator().manual_seed(2.7) -> RuntimeError
T.Generator().manual_seed('a') -> RuntimeError
T.randn(2,generator='a') -> TypeError
T.randperm(3,generator=5) -> TypeError
T.normal(0.,1.,(2,),generator=5) -> TypeError
x.uniform_(generator=5) -> TypeError
nn.init.normal_(T.ones(2),generator=5) -> TypeError
T.bernoulli(T.ones(2),generator=5) -> TypeError
x.random_(generator=5) -> TypeError
x.exponential_(generator=5) -> TypeError
x.geometric_(0.5,generator=5) -> TypeError
x.cauchy_(generator=5) -> TypeError
x.log_normal_(generator=5) -> TypeError
x.bernoulli_(0.5,generator=5) -> TypeError
T.poisson(x,generator=5) -> TypeError
T.multinomial(x,1,generator=5) -> TypeError
T.randint(3,(2,),generator=5) -> TypeError
T.utils.data.DataLoader([1],generator=5) -> DataLoader
T.utils.data.random_split([1,2],[1,1],generator=5) -> TypeError
x.norm(p='bad') -> RuntimeError
T.norm(x,p='x',dim=0) -> RuntimeError
x.norm(p=[1]) -> TypeError
T.norm(x,p=[1]) -> TypeError
T.linalg.vector_norm(x,'x') -> TypeError
T.linalg.norm(x,'x') -> RuntimeError
T.linalg.matrix_norm(x,'x') -> RuntimeError
nn.functional.normalize(x,p='a') -> RuntimeError
T.cdist(x,x,p='a') -> TypeError
T.dist(x,x,'a') -> TypeError
T.Size([T.tensor(2)]) -> Size
T.Size([True]) -> Size
T.Size(3) -> TypeError
T.Size([2**70]) -> Size
"""
CASES = [tuple(line.split(" -> ")) for line in ANSWERS.strip().splitlines()]


@pytest.mark.long(fast=1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("expression", "wanted"), CASES)
def test_answers(tg, expression, wanted):
    try:
        found = type(eval(expression, {"T": tg, "x": tg.ones(2, 2), "nn": tg.nn})).__name__
    except Exception as error:
        found = type(error).__name__
    assert found == wanted
