"""Tensors in the hands of pandas, matplotlib, scipy, scikit-learn, einops: what PyTorch's tensors do there."""

import io
import subprocess
import sys
import warnings

import numpy as np
import pytest

# ------------------------------------------------------------------------------------------------------------- pandas


def test_columns_as_tensors(tg):
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"a": [1, 2, 3], "b": [1.0, 2.0, 3.0]}, index=[7, 8, 9])
    assert tg.tensor(table["a"]).dtype is tg.int64 and tg.tensor(table["b"]).dtype is tg.float64
    assert tg.tensor(table["a"]).tolist() == [1, 2, 3] and tg.tensor(table.values).shape == (3, 2)
    assert tg.tensor([table["a"], table["b"]]).dtype is tg.float64
    assert tg.tensor(table.index).tolist() == [7, 8, 9]
    v = tg.tensor([1.5, 2.5, 3.5])
    table["c"] = v
    assert table["c"].tolist() == v.tolist() and (v + table["b"].values).tolist() == [2.5, 4.5, 6.5]
    assert pandas.DataFrame(tg.ones(2, 2)).shape == (2, 2)
    assert tg.stack(list(pandas.Series([v, v]))).shape == (2, 3) and tg.tensor(pandas.Series([v[0], v[1]])).shape == (
        2,
    )
    with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"):
        pandas.Series(v.requires_grad_())


# --------------------------------------------------------------------------------------------------------- matplotlib


def test_pictures(tg):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, axes = pyplot.subplots()
    v, x = tg.tensor([1.0, 2.0, 4.0]), tg.tensor([[1.0, 2.0], [3.0, 4.0]])
    (line,) = axes.plot(v, v**2)
    assert type(line.get_ydata()) is np.ndarray and line.get_ydata().tolist() == [1, 4, 16]
    assert axes.imshow(x).get_array().tolist() == x.tolist()
    assert axes.hist(x)[0].tolist() == axes.hist(x.numpy())[0].tolist()  # columns are data sets of their own
    bars = axes.errorbar(v, v, yerr=v / 2)
    assert bars.lines[0].get_ydata().tolist() == v.tolist()
    axes.scatter(v, v, c=v)
    axes.fill_between(v, v, v * 2)
    axes.axhline(v[0])
    figure.savefig(io.BytesIO(), format="png")
    for draw in (axes.plot, axes.hist, axes.imshow):
        with pytest.raises((RuntimeError, TypeError), match="requires grad"):
            draw(x.clone().requires_grad_())
    pyplot.close(figure)


# -------------------------------------------------------------------------------------------------------------- scipy


def test_scipy(tg):
    linalg, optimize, sparse, stats = (
        pytest.importorskip(f"scipy.{name}") for name in ("linalg", "optimize", "sparse", "stats")
    )
    v, x = tg.tensor([1.0, 2.0, 3.0], dtype=tg.float64), tg.tensor([[2.0, 1.0], [1.0, 3.0]], dtype=tg.float64)
    np.testing.assert_allclose(stats.norm.pdf(v), stats.norm.pdf(v.numpy()))
    np.testing.assert_allclose(linalg.inv(x), np.linalg.inv(x.numpy()))
    assert sparse.csr_matrix(x).toarray().tolist() == x.tolist()
    places = sparse.coo_matrix(x.numpy())
    made = tg.sparse_coo_tensor(np.stack([places.row, places.col]), places.data, places.shape)
    assert made.to_dense().tolist() == x.tolist()

    def loss(values):
        p = tg.tensor(values, requires_grad=True)
        out = ((p - v) ** 2).sum()
        out.backward()
        return out.item(), p.grad.numpy()

    np.testing.assert_allclose(optimize.minimize(loss, np.zeros(3), jac=True).x, [1, 2, 3], atol=1e-6)


# ------------------------------------------------------------------------------------------------------- scikit-learn

ESTIMATOR = """
import warnings
import numpy as np
import tracegrad as tg
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

class Network(ClassifierMixin, BaseEstimator):
    def __init__(self, hidden=4, lr=0.1, steps=30, activation=tg.nn.functional.relu):
        self.hidden, self.lr, self.steps, self.activation = hidden, lr, steps, activation

    def fit(self, X, y):
        tg.manual_seed(0)
        self.classes_ = np.unique(y)
        self.net_ = tg.nn.ModuleList([tg.nn.Linear(X.shape[1], self.hidden), tg.nn.Linear(self.hidden, 2)])
        optimizer = tg.optim.Adam(self.net_.parameters(), lr=self.lr)
        X, y = tg.tensor(X, dtype=tg.float32), tg.tensor(y)
        for _ in range(self.steps):
            optimizer.zero_grad()
            tg.nn.functional.cross_entropy(self.scores(X), y).backward()
            optimizer.step()
        return self

    def scores(self, X):
        return self.net_[1](self.activation(self.net_[0](X)))

    def predict(self, X):
        return self.scores(tg.tensor(X, dtype=tg.float32)).argmax(1).numpy()

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = (X[:, 0] + X[:, 1] > 0).astype(int)
assert clone(Network(hidden=7)).hidden == 7 and clone(Network()).activation is tg.nn.functional.relu
one = cross_val_score(Network(), X, y, cv=3)
two = cross_val_score(Network(), X, y, cv=3, n_jobs=2)
search = GridSearchCV(make_pipeline(StandardScaler(), Network()), {"network__hidden": [2, 4]}, cv=2, n_jobs=2).fit(X, y)
assert one.tolist() == two.tolist() and search.best_score_ > 0.7, (one, two, search.best_score_)
print("trained", flush=True)
"""


@pytest.mark.long
def test_estimators_with_two_processes(tg, tmp_path):
    pytest.importorskip("sklearn")
    program = tmp_path / "program.py"
    program.write_text(ESTIMATOR, encoding="utf-8")
    out = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=300)
    assert "trained" in out.stdout, out.stderr[-3000:]


# ------------------------------------------------------------------------------------------------------------- einops


def test_einops(tg):
    einops = pytest.importorskip("einops")
    x = tg.arange(24.0).reshape(2, 3, 4)
    a = x.numpy()
    for pattern in ("a b c -> (a b) c", "a b c -> c a b", "a (b d) c -> a d (b c)"):
        sizes = {"d": 3} if "d" in pattern else {}
        assert einops.rearrange(x, pattern, **sizes).tolist() == einops.rearrange(a, pattern, **sizes).tolist()
    for operation in ("sum", "mean", "min", "max", "prod"):
        found = einops.reduce(x, "a b c -> b", operation)
        np.testing.assert_allclose(found.numpy(), einops.reduce(a, "a b c -> b", operation), rtol=1e-6)
    assert einops.repeat(x, "a b c -> a (b d) c", d=2).tolist() == einops.repeat(a, "a b c -> a (b d) c", d=2).tolist()
    np.testing.assert_allclose(einops.einsum(x, x, "a b c, a d c -> a b d").numpy(), a @ a.transpose(0, 2, 1))
    packed, shapes = einops.pack([x, x], "* c")
    assert packed.shape == (12, 4) and [part.shape for part in einops.unpack(packed, shapes, "* c")] == [x.shape] * 2
    assert einops.rearrange([x, x], "n a b c -> a n b c").shape == (2, 2, 3, 4)
    y = x.clone().requires_grad_()
    einops.reduce(y, "a b c -> c", "mean").sum().backward()
    assert y.grad.unique().numel() == 1


def test_einops_in_compiled_functions(tg):
    einops = pytest.importorskip("einops")

    def function(x):
        heads = einops.rearrange(x, "a (h d) c -> a h c d", d=3)
        return (heads**2).sum() + einops.reduce(x, "a b c -> c", "max").sum()

    compiled = tg.compile(function)
    for k in range(4):
        x = tg.arange(24.0).reshape(2, 3, 4) * k
        assert compiled(x).item() == pytest.approx(function(x).item(), rel=1e-6)


@pytest.mark.long(fast="first")
@pytest.mark.parametrize("order", ["einops, tracegrad", "tracegrad, einops"])
def test_einops_is_found_in_either_order(tg, order):
    pytest.importorskip("einops")
    program = f"import {order}; print(tuple(einops.rearrange(tracegrad.ones(2, 3), 'a b -> (a b)').shape))"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert out.stdout.strip() == "(6,)", out.stderr


# ------------------------------------------------------------------------------------------------ progress, notebooks


def test_progress_bars_and_displays(tg):
    tqdm = pytest.importorskip("tqdm")
    bar = tqdm.tqdm(tg.ones(3), file=io.StringIO())
    assert sum(float(x) for x in bar) == 3
    bar.set_postfix(loss=tg.tensor(2.5))
    assert not any(hasattr(tg.ones(2), f"_repr_{kind}_") for kind in ("html", "png", "svg", "mimebundle", "pretty"))
    pretty = pytest.importorskip("IPython.lib.pretty")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pretty.pretty([tg.ones(2), tg.nn.Linear(1, 1)]).startswith("[tensor([1., 1.]),")
