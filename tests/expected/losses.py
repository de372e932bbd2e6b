"""Loss expressions whose values and gradients are stored."""

import numpy as np

ARRAYS = {
    "x": np.array([[0.5, -1.25, 2.0], [-0.75, 3.5, -2.5], [0.0, 1.0, 0.25], [20.0, -30.0, 5.0]], dtype=np.float32),
    "y": np.array([[1.5, -1.0, 2.0], [-2.0, 3.0, 0.5], [0.0, 0.0, 1.25], [19.5, -31.0, 8.0]], dtype=np.float32),
    "p": np.array([[0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [1.0, 0.0, 0.0], [0.9, 0.05, 0.05]], dtype=np.float32),
    "w": np.array([1.0, 0.5, 2.0], dtype=np.float32),
    "t": np.array([2, 1, 0, 2]),
    "ignored": np.array([2, -100, 0, 1]),
    "ones": np.array([[1, 0, 0], [0, 1, 1], [0, 0, 1], [1, 1, 0]]),
}

REDUCED = [
    "nn.MSELoss({r})(x, y)",
    "nn.L1Loss({r})(x, y)",
    "nn.SmoothL1Loss({r})(x, y)",
    "nn.CrossEntropyLoss({r})(x, t)",
    "nn.NLLLoss({r})(F.log_softmax(x, 1), t)",
    "nn.BCELoss({r})(x.sigmoid(), ones.float())",
    "nn.BCEWithLogitsLoss({r})(x, ones.float())",
    "nn.CrossEntropyLoss(weight=w.detach(), {r})(x, t)",
    "nn.NLLLoss(weight=w.detach(), {r})(F.log_softmax(x, 1), t)",
    "nn.CrossEntropyLoss(label_smoothing=0.1, {r})(x, t)",
    "nn.CrossEntropyLoss({r})(x, ignored)",
]
OTHERS = [
    "nn.SmoothL1Loss(beta=0.5)(x, y)",
    "nn.CrossEntropyLoss(ignore_index=1)(x, t)",
    "nn.CrossEntropyLoss()(x, p.detach())",
    "nn.CrossEntropyLoss(label_smoothing=0.2)(x, p.detach())",
    "nn.CrossEntropyLoss(weight=w.detach(), label_smoothing=0.1)(x, t)",
    "nn.CrossEntropyLoss(weight=w.detach())(x, p.detach())",
    "nn.CrossEntropyLoss(weight=w.detach(), ignore_index=2)(x, t)",
    "nn.CrossEntropyLoss()(x[0], t[0])",
    "nn.CrossEntropyLoss()(x.view(2, 3, 2), tg.tensor([[0, 2], [1, 1]]))",
    "nn.CrossEntropyLoss()(x, p)",
    "nn.NLLLoss(ignore_index=0)(F.log_softmax(x, 1), t)",
    "nn.BCEWithLogitsLoss(pos_weight=w.detach())(x, ones.float())",
    "nn.BCEWithLogitsLoss(weight=w.detach())(x, p.detach())",
    "nn.BCEWithLogitsLoss()(x, p)",
    "nn.BCELoss(weight=w.detach())(x.sigmoid(), p.detach())",
    "nn.BCELoss()(p, ones.float())",
    "F.mse_loss(x, y)",
    "F.l1_loss(x, y)",
    "F.smooth_l1_loss(x, y)",
    "F.cross_entropy(x, t)",
    "F.cross_entropy(x, t, weight=w.detach(), reduction='sum')",
    "F.nll_loss(x, t)",
    "F.binary_cross_entropy(x.sigmoid(), p.detach())",
    "F.binary_cross_entropy_with_logits(x, p.detach())",
    "F.mse_loss(x, y, reduction='none')",
    "F.mse_loss(x, x)",
    "F.kl_div(F.log_softmax(x, 1), p.detach(), reduction='batchmean')",
    "F.huber_loss(x, y)",
]
EXPRESSIONS = [
    loss.format(r=f"reduction='{reduction}'") for loss in REDUCED for reduction in ("mean", "sum", "none")
] + OTHERS
