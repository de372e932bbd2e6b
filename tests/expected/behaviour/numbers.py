"""Python's and numpy's numbers as data and as operands: the element types that they lead to, and what is too large."""

SCALARS = [
    "np.bool_(True)", "np.int8(3)", "np.int32(3)", "np.int64(3)", "np.uint8(3)", "np.float16(1.5)", "np.float32(1.5)",
    "np.float64(1.5)", "True", "3", "1.5",
]  # fmt: skip
DATA = (
    "T(S)|T([S])|T([[S],[S]])|T((S,))|tg.as_tensor(S)|tg.as_tensor([S])|tg.full((2,),S)|T([1,S])|T([1.0,S])|T([S,1.5])"
    "|T([True,S])|T([[1],[S]])|T([S,np.float64(2)])|T([S,np.int32(2)])|T([np.float32(2),S])|T([T(1),S])"
    "|T([S,T(1.,dtype=tg.float64)])|T([S],dtype=tg.float64)|tg.zeros(2).fill_(S)|tg.where(T([True,False]),S,T([1.,2.]))"
    "|tg.clamp(T([1.,2.]),max=S)|tg.full_like(T([1,2]),S)|tg.FloatTensor([S])|T([1.,2.]).masked_fill(T([True,False]),S)"
).split("|")
#: PyTorch takes no np.bool_ there; here it is a truth value as any other.
BESIDE_INTEGERS = ("T([1,S])", "T([[1],[S]])", "T([S,np.int32(2)])", "T([T(1),S])")
TENSORS = [
    "T([1.,2.])", "T([1.,2.],dtype=tg.float64)", "T([1,2])", "T([1,2],dtype=tg.int32)", "T([True,False])",
]  # fmt: skip
OPERATIONS = (
    "X + S|S + X|X * S|S / X|X // S|X % S|X ** S|X == S|S < X|X.add(S)|tg.mul(X,S)|x=X; x += S; x|X.mul_(S)"
).split("|")
LISTS = (
    "T([T(1.,dtype=tg.float64)])|T([T(1),T(2)])|T([T(1),T(2.)])|T([T([1,2]),T([3,4])])|T([T([1.],dtype=tg.float64),"
    "T([2.])])|T([np.array([1,2]),np.array([3,4])])|T([np.array([1.,2.]),np.array([3,4])])|T([np.array([1,2]),[3,4]])"
    "|T([[3,4],np.array([1,2])])|T([[3.,4],np.array([1,2])])|T([np.array([1,2],np.int32)])|T([np.mean([1.,2.])])"
    "|T([np.array([1,2],np.float32)])|T([np.mean([1.,2.]),np.mean([1.])])|T([True,2])|T([1,2.5])|T([])|T([[]])"
    "|T([[],[]])|T(())|T([T(True)])|T([T(1,dtype=tg.int32),2])|T([2.5,T(1,dtype=tg.int32)])|T([T(1),2.5])|T(range(3))"
    "|T([range(3),range(3)])|T(np.array([1,2],np.uint8))|T(np.array([1.],np.float16))|T('a')|T(['a'])|T(None)|T([None])"
    "|T({1:2})|T([1,[2]])|T([1.,[2]])|T([[1],2])|T([[1,2],[3]])|T([[1],[]])|T([T([1,2]),T([3])])"
    "|T(None,dtype=tg.float32)|T([T([1.,2.])])|T([tg.ones(1,1)])|T([1],dtype=tg.bool)"
    "|T([2**63])|T(2**63)|T([2**63-1])|T(-2**63)|T([-2**63-1])|T([2.0,2**63])|T([2**63,2.0])|T(2**64)|T([2**70])"
    "|T([2**63],dtype=tg.float32)|T([2**31],dtype=tg.int32)|T(2**31,dtype=tg.int32)|T([300.7],dtype=tg.int32)"
    "|T([1e300])|T(1e300)|T([nan],dtype=tg.int32)|T([inf],dtype=tg.int32)|T([1.5],dtype=tg.int64)|tg.full((2,),2**63)"
    "|tg.full((2,),2**31,dtype=tg.int32)|tg.full((2,),1.5,dtype=tg.int64)|tg.full((1,),1e39)|tg.full((1,),inf)"
    "|tg.full_like(T([1],dtype=tg.int32),2**31)|T([1,2])+2**63|T([1,2])+2**70|T([1,2],dtype=tg.int32)+2**31"
    "|T([1,2],dtype=tg.int32)*2**33|T([1.,2.])*2**63|T([1.])*1e300|T([1,2]).fill_(2**63)|T([1.]).fill_(1e300)"
    "|T([1,2],dtype=tg.int32).fill_(2**31)|T([1,2]).fill_(1.5)|T([1,2]).fill_(1e300)|T([1,2]).fill_(nan)"
    "|T([1.]).fill_(inf)|T([True]).fill_(2)|x=T([1,2]); x[0]=1.5; x|x=T([1,2],dtype=tg.int32); x[0]=2**31; x"
    "|x=T([True,False]); x[0]=2.5; x|x=T([1.,2]); x[0]=True; x|T([1]).masked_fill(T([True]),2**63)"
    "|T([1],dtype=tg.int32).masked_fill(T([True]),2**31)|T([1.]).masked_fill(T([True]),1e300)"
    "|T([1.]).index_fill(0,T([0]),1e300)|T([1]).index_fill(0,T([0]),1.5)|T([1.]).scatter(0,T([0]),1e300)"
    "|tg.arange(np.float64(3))|tg.arange(np.int32(3))|tg.arange(0,1,np.float32(.25))|tg.arange(T(3))|tg.arange(T(3.))"
    "|tg.full((2,),T(2))|tg.full((2,),T(2.,dtype=tg.float64))|tg.FloatTensor(tg.ones(2,3).shape).shape"
    "|tg.Tensor(tg.ones(2,3).shape).shape|tg.LongTensor(tg.ones(2,3).shape).shape|tg.FloatTensor((2,3))"
    "|tg.FloatTensor(2,3).shape|tg.FloatTensor([2,3])|tg.LongTensor([2.5])|tg.FloatTensor(T([1.,2.]))"
    "|tg.FloatTensor(T([1,2]))|tg.LongTensor(T([1,2]))|tg.Tensor(T([1,2]))|tg.Tensor([1,2])|tg.Tensor(2).shape"
    "|tg.Tensor()|tg.FloatTensor()|tg.Tensor(2.5)|tg.FloatTensor(np.array([1,2],np.float32))|tg.Tensor(range(3))"
    "|tg.Tensor(np.array([1,2],np.float32))|tg.LongTensor(np.int64(2)).shape|tg.Tensor((2,3))|tg.FloatTensor(range(3))"
    "|tg.IntTensor([2**31])|tg.BoolTensor([2])|tg.FloatTensor('a')|T([1,2]).new(tg.ones(2,3).shape).shape"
    "|T([1,2]).new([3.5])|T([1,2]).new(2,3).shape|T([1.]).new_tensor([1,2])|T([1]).new_full((2,),1.5)|tg.zeros(2.0)"
    "|tg.zeros(np.int64(2))|tg.zeros((np.int64(2),T(3)))|tg.zeros('a')|tg.zeros(True)"
).split("|")


def programs():
    for scalar in SCALARS:
        forms = [form for form in DATA if scalar != "np.bool_(True)" or form not in BESIDE_INTEGERS]
        yield from (form.replace("S", scalar) for form in forms)
    for scalar in SCALARS:
        for operand in TENSORS:
            yield from (form.replace("S", scalar).replace("X", operand) for form in OPERATIONS)
    yield from LISTS
