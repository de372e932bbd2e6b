"""Tensors beside numpy's arrays, in operators both ways and in numpy's functions."""

OPERATORS = "+ - * / // % ** == < >= @ & |".split(" ")
ARRAYS = [
    "np.array([1,2,3],np.float32)", "np.array([1.,2.,3.])", "np.array([1,2,3])", "np.array([True,False,True])",
    "np.array([1,2,3],np.uint8)",
]  # fmt: skip
TENSORS = ["T([1.,2.,3.])", "T([1.,2.,3.],requires_grad=True)", "T([1,2,3])"]
FUNCTIONS = (
    "np.exp(X)|np.sin(X)|np.add(X,X)|np.add(X,1)|np.multiply(np.ones(3),X)|np.sqrt(X).dtype|np.maximum(X,2)|np.abs(X)"
    "|np.negative(X)|np.asarray(X)|np.array(X)|np.asarray(X,dtype=np.float64)|np.array(X,dtype=np.int64)|np.dot(X,X)"
    "|np.concatenate([X,X])|np.stack([X,X])|np.where(np.array([True,False,True]),X,0)|np.allclose(X,X)"
    "|np.array_equal(X,X)|list(X)|np.ones(3)[T([0,2])]|np.float32(2)*X|np.float64(2)*X|X*np.float64(2)|np.floor(X)"
    "|tg.from_numpy(np.exp(np.asarray(X)))|tg.tensor(np.asarray(X))|X.numpy()|X.detach().numpy()"
).split("|")


def programs():
    for tensor in TENSORS:
        for array in ARRAYS:
            for operator in OPERATORS:
                yield f"{tensor} {operator} {array}"
                yield f"{array} {operator} {tensor}"
            for operator in "+ - * / // **".split():
                yield f"r={tensor}; r {operator}= {array}; r"
                yield f"r={array}; r {operator}= {tensor}; r"
        yield from (form.replace("X", tensor) for form in FUNCTIONS)
