"""Numbers, types and names among arguments: what PyTorch makes of them.  python tests/expected/argument_forms.py

Written with PyTorch: for each expression [dtype, shape, numbers], or the class of its error.
"""

import json
from itertools import product
from pathlib import Path

STORED = Path(__file__).with_suffix(".json")

#: Operands by name: tensors of each kind of type, with axes and without.
OPERANDS = {
    "f": "torch.tensor([[0.5, -1.25], [2.0, 3.0]])",
    "d": "torch.tensor([[1.5, 0.25], [-2.0, 1.0]], dtype=torch.float64)",
    "h": "torch.tensor([[0.37, -1.1], [2.2, 9.5]], dtype=torch.float16)",
    "g": "torch.tensor([[0.37, -1.1], [2.2, 9.5]], dtype=torch.bfloat16)",
    "i": "torch.tensor([[3, -2], [1, 4]])",
    "u": "torch.tensor([[200, 2], [0, 77]], dtype=torch.uint8)",
    "s": "torch.tensor([[100, -2], [-99, 5]], dtype=torch.int8)",
    "b": "torch.tensor([[True, False], [False, True]])",
    "c": "torch.tensor([[1 + 2j, 0.5], [-1j, 2]])",
    "f0": "torch.tensor(1.5)",
    "d0": "torch.tensor(2.5, dtype=torch.float64)",
    "i0": "torch.tensor(3)",
    "n": "torch.tensor([1, 0])",
    "t": "torch.arange(12.0).reshape(2, 3, 2)",
}
FACTORS = ("2", "-1", "1.5", "True", "2j")


def sums():
    """The factor of a sum has no say in its type, and is one of that type."""
    for (x, y), factor in product(product("fdhiubc", ("f", "d", "g", "i", "s", "b", "f0", "d0", "i0")), FACTORS):
        name = ("add", "sub", "rsub")[(len(x + y) + ord(x) + ord(y[0]) + len(factor)) % 3]
        yield f"torch.{name}({x}, {y}, alpha={factor})"
    for x, y, factor in product("fihub", ("2", "1.5", "True"), ("2", "1.5")):
        yield from (f"torch.add({x}, {y}, {factor})", f"{x}.sub({y}, {factor})", f"torch.rsub({x}, {y}, {factor})")
    for name, x, factor in product(("addcmul", "addcdiv"), "fhic", ("2", "2.9", "-0.5", "1j")):
        yield from (f"{x}.{name}({x}, i, value={factor})", f"torch.{name}(i, {x}, f, value={factor})")
    for x, factor in product("fiu", ("2", "2.5")):
        yield f"{x}.index_add(0, n, {x}, alpha={factor})"


def types():
    """A dtype may be one of Python's types, and what is none is refused."""
    calls = [
        *("sum(f, dtype={})", "nansum(f, dtype={})", "nanmean(f, dtype={})", "prod(f, dtype={})", "mean(f, dtype={})"),
        *("linalg.vector_norm(f, dtype={})", "linalg.norm(f, dtype={})", "linalg.matrix_norm(f, dtype={})"),
        *(
            "softmax(f, 1, dtype={})",
            "log_softmax(f, 1, dtype={})",
            "cumsum(f, 1, dtype={})",
            "fft.fftfreq(3, dtype={})",
        ),
        *("hann_window(4, dtype={})", "hamming_window(4, dtype={})", "kaiser_window(4, dtype={})", "eye(2, dtype={})"),
        *("full_like(f, 2, dtype={})", "can_cast({}, torch.int32)", "promote_types({}, torch.int32)"),
    ]
    for call, given in product(calls, ("float", "torch.float64", "'x'")):
        yield f"torch.{call.format(given)}"
    yield from (
        "d.view(float)",
        "d.view(int)",
        "u.view(bool)",
        "torch.nansum(f, dtype=bool)",
        "torch.nansum(f, dtype=int)",
    )
    for name, extra in product(("hann_window", "bartlett_window", "fft.fftfreq"), ("layout=torch.strided", "layout=3")):
        yield f"torch.{name}(4, {extra})"
    yield from ("torch.blackman_window(4, pin_memory=False)", "torch.fft.rfftfreq(-1)", "torch.fft.fftfreq(-1)")
    for name, ends in product(("linspace", "logspace"), ("1j, 2, 3", "0, 1j, 1", "0, 1j, 3, dtype=torch.float64")):
        yield f"torch.{name}({ends})"


def names():
    """Numbers in front of tensors that are named, and other names of arguments."""
    for name, named in (("pow", "exponent"), ("float_power", "exponent"), ("xlogy", "other"), ("remainder", "other")):
        yield from (f"torch.{name}(2.5, {named}=f)", f"torch.{name}(2.5, {named}=2)")
    yield from ("torch.isin(i, test_element=3)", "torch.isin(element=3, test_elements=i)", "f.clone().copy_(other=d)")
    yield from ("torch.linalg.lstsq(f, b=f)[0]", "torch.embedding(f, n)", "torch.embedding(weight=f, indices=n)")
    yield from ("torch.layer_norm(f, (2,), None, None, 1e-5, False)", "torch.linalg.vecdot(f, d)")
    for call in ("1.5, tensor=i", "scalar=1.5, tensor=i", "tensor=i, other=1.5", "scalar1=1, scalar2=1.5"):
        yield f"torch.zeros(1, dtype=torch.result_type({call}))"


def lists():
    """Axes that are none, and shapes, ranges and numbers that do not fit."""
    for name, dim in product(("all", "any", "sum", "mean", "amax"), ("[]", "()", "[], True")):
        yield f"torch.{name}({'b' if name[0] == 'a' and name[1] != 'm' else 'f'}, {dim})"
    for tensors, dim in product(("[f, n]", "[n, f]", "[f, n, f]", "[f, f0]", "[t, f]"), (0, 1)):
        yield from (
            f"torch.cat({tensors}, {dim})",
            f"torch.hstack({tensors})",
            f"torch.concatenate({tensors}, axis={dim})",
        )
    yield from (f"torch.round({x}, decimals={n})" for x, n in product("fhg", (-1, 2, 5, 7)))
    yield from (f"torch.histogram(f, 2, range={r})" for r in ([0.5], [0.0, 1.0], [0.0, 1.0, 2.0]))
    yield from ("torch.linalg.norm(f, 1j)", "torch.linalg.vector_norm(f, 1j)", "torch.renorm(f, 1j, 0, 1.0)")
    for call in ("lu_unpack(3, n)", "lu_unpack(f, 3)", "ormqr(f, 2.5, f)", "linalg.householder_product(f, tau=True)"):
        yield f"torch.{call}"


def written():
    """Complex numbers are written nowhere but among complex ones, whatever the index is."""
    for x, key, value in product("fihbc", ("0", "n", "b", "..., 1", "[0, 1], [1, 0]"), ("1j", "2 + 0j")):
        yield f"{x}.__setitem__(({key}), {value}) or {x}"


#: In-place methods by what they take, for tensors of shape (3, 2).
WRITERS = {
    "": "abs_ acos_ ceil_ conj_physical_ digamma_ erfinv_ exp_ fill_diagonal_ floor_ frac_ lgamma_ log_ logical_not_ "
    "nan_to_num_ neg_ reciprocal_ relu_ round_ rsqrt_ sgn_ sigmoid_ sign_ sin_ sinc_ sqrt_ square_ tanh_ trunc_ zero_ "
    "squeeze_ t_ tril_ triu_",
    "2": "add_ clamp_ div_ eq_ fill_ fill_diagonal_ floor_divide_ fmod_ mul_ ne_ pow_ remainder_ sub_ mvlgamma_ tril_",
    "0": "cumprod_ cumsum_ triu_ unsqueeze_ polygamma_",
    "w": "add_ atan2_ copy_ copysign_ hypot_ logaddexp_ lt_ mul_ nextafter_ xlogy_ div_",
    "w, w": "addcdiv_ addcmul_",
    "w, 0.5": "lerp_",
    "2, 0, 1.0": "renorm_",
    "torch.ones(3, 4), torch.ones(4, 2)": "addmm_",
    "torch.ones(3), torch.ones(2)": "addr_",
    "w > 2, 7.5": "masked_fill_",
    "w > 2, w": "masked_scatter_",
    "0, n, 7.5": "index_fill_",
    "1, n, 7.5": "index_fill_",
    "0, n, w[:2]": "index_add_ index_copy_",
    "0, m, w": "scatter_ scatter_add_ gather",
    "(n,), w[:2]": "index_put_",
    "(n,), w[:2], True": "index_put_",
    "(n, n), w[:2, 0]": "index_put_",
    "(w > 2,), w[0, 0]": "index_put_",
    "n, w[0]": "put_",
    **{
        f"({key}), {value}": "__setitem__"
        for key, value in product(
            ("0", "slice(None)", "...", "n", "w > 2", "slice(None), n", "n, n", "[2, 0]", "slice(1, 2)", "..., 1"),
            ("9.0", "w[0, :1]"),
        )
    },
}


def repeated():
    """Writes to axes that show an element again and again: only what fills and what goes through indices may."""
    views = {
        "torch.arange(2.0).add(0.5).expand(3, 2)": "w",
        "torch.arange(3.0).add(0.5).reshape(3, 1).expand(3, 2)": "w",
        "torch.tensor(1.5).expand(3, 2)": "w",
        "torch.arange(2.0).expand(1, 2)[:1].expand(0, 2)": "w[:0]",
        "torch.arange(8.0).reshape(1, 4, 2)[:, ::2].expand(3, 2, 2)[:, 1]": "w",
    }
    others = {"w": "(torch.arange(6.0).reshape(3, 2) + 0.25)", "m": "torch.zeros(3, 2, dtype=torch.int64)"}
    for (arguments, methods), (view, w) in product(WRITERS.items(), views.items()):
        for method in methods.split():
            given = arguments.replace("w", w).replace("m", others["m"]).replace("w", others["w"])
            yield f"(lambda x: (x.{method}({given}), x)[1])({view})"


#: Functions of axes, with what stands before these, and their name.
OF_AXES = (
    *("flip(t, dims", "fliplr(f", "roll(t, 1, dims", "roll(t, shifts=1, dims", "permute(t, dims", "tile(t, dims"),
    *("sum(t, dim", "mean(t, dim", "amax(t, dim", "amin(t, dim", "aminmax(t, dim", "std(t, dim", "var(t, dim"),
    *("all(t, dim", "any(t, dim", "logsumexp(t, dim", "nansum(t, dim", "nanmean(t, dim", "count_nonzero(t, dim"),
    *("squeeze(t, dim", "unflatten(t, 1, sizes", "rot90(f, 1, dims", "movedim(t, 0, destination", "norm(t, 2, dim"),
    *("fft.fftn(t, dim", "fft.fft2(t, dim", "fft.ifftn(t, dim", "fft.rfftn(t, dim", "fft.fftshift(t, dim"),
    *("fft.ifftshift(t, dim", "fft.fftn(t, s", "linalg.norm(t, dim", "linalg.vector_norm(t, 2, dim"),
    *("linalg.matrix_norm(t, dim", "linalg.tensorinv(f, ind", "linalg.tensorsolve(f, f, dims", "tensordot(f, f, dims"),
    *(
        "reshape(t, shape",
        "broadcast_to(f0, size",
        "zeros(size",
        "empty(size",
        "full(fill_value=1, size",
        "prod(t, dim",
    ),
    *("var_mean(t, dim", "std_mean(t, dim", "gradient(f, dim", "trapezoid(f, dim", "diff(f, dim", "median(t, dim"),
    *("repeat_interleave(n, repeats", "as_strided(t, (2,), stride", "as_strided(t, stride=(1,), size", "cumsum(t, dim"),
    *("nn.functional.layer_norm(t, normalized_shape", "nn.functional.pad(t, pad", "nn.functional.fold(f, output_size"),
    *("nn.functional.rms_norm(t, normalized_shape", "nn.functional.avg_pool2d(t, kernel_size", "ones(size"),
    *("nn.functional.interpolate(t, size", "nn.functional.adaptive_avg_pool2d(t, output_size", "split(t, 1, dim"),
    *("nn.functional.max_pool1d(t, kernel_size", "nn.functional.unfold(t[None], kernel_size", "unbind(t, dim"),
    *(
        "nn.functional.normalize(t, 2.0, dim",
        "special.logsumexp(t, dim",
        "quantile(t, 0.5, dim",
        "renorm(t, 2, 0, maxnorm",
    ),
)
#: Methods of the same kind.
METHODS_OF_AXES = (
    *("t.flip(dims", "t.permute(dims", "t.repeat(repeats", "t.tile(dims", "t.expand(size", "f0.expand(size"),
    *("t.reshape(shape", "t.view(size", "t.sum(dim", "t.squeeze(dim", "t.roll(1, dims", "t.sum_to_size(size"),
    *("t.new_zeros(size", "t.new_ones(size", "t.new_full(fill_value=1, size", "t.new_empty(size", "t.resize_(size"),
    *("t.as_strided((2,), stride", "t.movedim(0, destination", "t.rot90(1, dims"),
    *(
        "t.broadcast_to(size",
        "t.amax(dim",
        "t.norm(2, dim",
        "t.var(dim",
        "t.std(dim",
        "t.count_nonzero(dim",
        "t.mean(dim",
    ),
)


def single_numbers():
    """A number where several are asked for: taken by some functions by place, by fewer by name."""
    for call, given in product((*(f"torch.{c}" for c in OF_AXES), *METHODS_OF_AXES), ("0", "1", "-1", "(1,)", "[0]")):
        between = ", " if ", " in call else "("
        head = call.rpartition(between)[0]
        for form in (f"{call}={given})", f"{head}{between}{given})")[: 1 if "=" in head else 2]:
            yield f"torch.zeros_like({form})" if "empty" in form else form
    yield from (f"torch.round({x}, decimals={n})" for x, n in product("iusb", (1, 2)))


#: Calls whose results are stored in tensors of other types; behind | how many results there are.
WITH_OUT = (
    "abs(f) add(f,f) addmm(f,f,f) all(b) amax(f,0) any(b) argmax(f) argmin(f) bitwise_not(i) bucketize(f,n) "
    "cat([f,f]) ceil(f) column_stack([f,f]) cos(i) cross(t[0].t(),t[1].t(),1) div(i,i) float_power(f,2) "
    "gather(i,0,i*0) histc(f,2) hstack([f,f]) index_select(f,0,n) inverse(f) lerp(f,f,0.5) log_softmax(f,0) "
    "lu_solve(f,*torch.linalg.lu_factor(f)) matmul(f,f) mean(f,0) mm(f,f) mul(i,f) narrow_copy(f,0,0,1) "
    "nonzero(f) norm(f) ormqr(f,f[0],f) pow(f,2) prod(f,0) searchsorted(n.sort()[0],i) sigmoid(i) softmax(f,0) "
    "stack([f,f]) sum(f,0) t_copy(f) transpose_copy(f,0,1) tril(f) vstack([f,f]) where(b,f,f) view_copy(f,(4,)) "
    "linalg.cross(t[0].t(),t[1].t(),dim=1) linalg.det(f) linalg.cholesky(torch.eye(2)) linalg.eigvalsh(f) "
    "linalg.inv(f) linalg.matrix_norm(f) linalg.multi_dot([f,f]) linalg.norm(f) linalg.solve(f,f) "
    "linalg.svdvals(f) linalg.solve_triangular(f,f,upper=True) linalg.vecdot(f,f) linalg.vector_norm(f) "
    "fft.fft(f) fft.irfft(c) fft.hfft(c) special.expit(i) max(f,0)|2 min(f,0)|2 sort(f)|2 topk(f,1)|2 "
    "kthvalue(f,1)|2 linalg.qr(f)|2 linalg.slogdet(f)|2 linalg.lu(f)|3 linalg.svd(f)|3 linalg.eigh(f)|2 "
    "linalg.inv_ex(f)|2 linalg.lu_factor(f)|2 aminmax(f,dim=0)|2"
)


def out_types():
    """Results are stored in tensors of their own type, or of others that hold them."""
    wanted = {"max(f,0)": 1, "min(f,0)": 1, "sort(f)": 1, "topk(f,1)": 1, "kthvalue(f,1)": 1}
    for call, dtype in product(WITH_OUT.split(), ("float64", "float16", "int32", "complex128", "bool", "uint8")):
        call, _, count = call.partition("|")
        places = [f"torch.empty(0, dtype=torch.{dtype})"]
        if count:
            integers = wanted.get(call, -1)
            places += [
                f"torch.empty(0, dtype=torch.{'int64' if i == integers else 'float32'})" for i in range(1, int(count))
            ]
        out = f"({', '.join(places)})" if count else places[0]
        yield f"torch.{call[:-1]}, out={out})" + ("[0].dtype" if count else ".dtype")


def powers():
    """Integers beside numbers of floating point, in `ldexp` and `arange`."""
    for x, y in product(("f", "d", "h", "g", "c", "f0", "d0"), ("i", "u", "s", "i0", "n", "f", "d0")):
        if x + y not in ("cu", "cs"):  # complex powers of PyTorch's are off in the sixth digit
            yield f"torch.ldexp({x}, {y})"
    yield from (f"torch.ldexp(torch.tensor([2.0**-20, -0.0, 3.0]), torch.tensor({k}))" for k in ("130", "-127", "2000"))
    yield from (f"torch.arange(3, dtype=torch.{d})" for d in ("complex64", "float16", "uint8", "bfloat16", "float64"))


GROUPS = (out_types, powers, sums, types, names, lists, written, repeated, single_numbers)


def expressions():
    return list(dict.fromkeys(expression for group in GROUPS for expression in group()))


def outcome(torch, expression):
    """[dtype, shape, numbers as text] of what the expression gives, or the name of its error's class."""
    operands = {name: eval(text, {"torch": torch}) for name, text in OPERANDS.items()}
    try:
        value = eval(expression, {"torch": torch, **operands})
    except Exception as error:
        return type(error).__name__
    if not isinstance(value, torch.Tensor):
        return type(value).__name__ if isinstance(value, tuple) else str(value).rpartition(".")[2]
    wide = torch.complex128 if value.is_complex() else torch.float64
    return [str(value.dtype).rpartition(".")[2], list(value.shape), str(value.to(wide).reshape(-1).tolist())]


if __name__ == "__main__":
    import torch

    rows = [f"{json.dumps(e)}:{json.dumps(outcome(torch, e))}" for e in expressions()]
    STORED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
