"""Functions of ``nn.functional`` by family: expressions whose values and gradients are stored; drawn ones by seed."""

import numpy as np


def waves(*shape, turn=1.7, shift=0.0):
    return np.sin(np.arange(np.prod(shape)) * turn + shift).reshape(shape)


ARRAYS = {
    "row": waves(2, 6, 5),
    "image": waves(1, 4, 5, 6, turn=1.3),
    "volume": waves(1, 2, 3, 4, 3, turn=0.9),
    "w4": np.array([0.5, -1.0, 2.0, 1.5]),
    "w6": np.array([0.5, -1.0, 2.0, 1.5, 0.25, -0.75]),
    "grid": 1.3 * waves(1, 3, 4, 2, turn=2.1),
    "grid3": 1.3 * waves(1, 2, 3, 2, 3, turn=1.9),
    "theta": waves(2, 2, 3, turn=0.7),
    "theta3": waves(1, 3, 4, turn=0.7),
    "a": waves(5, 4, turn=0.8),
    "b": waves(5, 4, turn=1.1, shift=2),
    "c": waves(5, 4, turn=1.9, shift=1),
    "side": np.where(waves(5, turn=2.3) > 0, 1, -1),
    "sides": np.where(waves(5, 4, turn=2.3) > 0, 1, -1),
    "classes": np.array([3, 0, 1, 1, 2]),
    "labels": np.array([[0, 2, -1, 1], [3, -1, -1, -1], [1, 0, 2, 3], [-1, 0, 0, 0], [2, 2, -1, 1]]),
    "scores": waves(7, 3, 5, turn=1.2),
    "spelled": np.array([[1, 2, 2], [3, 3, 4], [4, 1, 2]]),
    "in_a_row": np.array([1, 2, 2, 3, 4, 1]),
    "times": np.array([7, 6, 5]),
    "sizes": np.array([3, 1, 2]),
    "table": waves(6, 3, turn=0.6),
    "places": np.array([0, 4, 4, 1, 5, 2, 2]),
    "bags": np.array([[0, 4, 4], [1, 5, 2]]),
    "starts": np.array([0, 2, 2, 5]),
    "starts_and_end": np.array([0, 2, 2, 7]),
    "shares": waves(7, turn=0.4),
    "z": np.array([-2.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.5, 0.75]),
}

_SIZES = [
    "size=(3, 9)",
    "size=(10, 12)",
    "scale_factor=(1.7, 0.6)",
    "scale_factor=(1.7, 0.6), recompute_scale_factor=True",
]
_NLL = "F.ctc_loss(F.log_softmax(scores, 2), {targets}, {lengths}, {options})"

FAMILIES = {
    "norms": [
        "F.group_norm(image, 2, w4, w4 * 2)", "F.group_norm(row, 3)", "F.group_norm(row[:, :, 0], 3, w6)",
        "F.instance_norm(image, None, None, w4, w4 - 1)", "F.instance_norm(row)",
        "F.instance_norm(image, w4.detach() * 1, w4.detach().abs() + 1, w4, None, False)",
        "F.local_response_norm(image, 3, 0.1, 0.5, 2.0)", "F.local_response_norm(row, 4, 0.1)",
        "nn.CrossMapLRN2d(4, 0.1)(image)", "nn.LocalResponseNorm(2)(volume)", "F.normalize(row, 3.0, 2)",
        "F.batch_norm(image, w4.detach() * 1, w4.detach().abs() + 1, w4, w4, True)",
        "F.batch_norm(image[:0], w4.detach() * 1, w4.detach().abs() + 1, w4, w4, True)",
    ],
    "resizing": [
        *(f"F.interpolate(image, {size}, mode='{mode}')" for size in _SIZES for mode in ("nearest", "nearest-exact")),
        *(
            f"F.interpolate(image, {size}, mode='{mode}', align_corners={corners})"
            for size in _SIZES for mode in ("bilinear", "bicubic") for corners in (False, True)
        ),
        "F.interpolate(row, 8, mode='linear')", "F.interpolate(row, scale_factor=2)", "F.interpolate(row, 150)",
        "F.interpolate(F.interpolate(row, 150), 40, mode='linear')",
        "F.interpolate(F.interpolate(row, 150), 300, mode='linear', align_corners=True)",
        "F.interpolate(volume, (4, 2, 6), mode='trilinear')", "F.interpolate(volume, scale_factor=(2, 1, 1.5))",
        "F.interpolate(image, (3, 4), mode='area')", "F.interpolate(row, scale_factor=0.5, mode='area')",
        *(
            f"F.interpolate(image, {size}, mode='{mode}', antialias=True)"
            for size in ("(2, 3)", "(9, 4)") for mode in ("bilinear", "bicubic", "lanczos")
        ),
        "F.interpolate(image, (2, 3), mode='bilinear', align_corners=True, antialias=True)",
        "nn.UpsamplingNearest2d(scale_factor=3)(image)", "nn.UpsamplingBilinear2d(size=(3, 7))(image)",
    ],
    "grids": [
        *(
            f"F.grid_sample(image, grid, '{mode}', '{padding}', {corners})"
            for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection")
            for corners in (False, True)
        ),
        "F.grid_sample(volume, grid3, 'bilinear', 'zeros', False)",
        "F.grid_sample(volume, grid3, 'nearest', 'reflection', True)",
        "F.affine_grid(theta, (2, 1, 3, 4), False)", "F.affine_grid(theta, (2, 1, 3, 1), True)",
        "F.affine_grid(theta3, (1, 1, 2, 3, 2), False)",
    ],
    "shuffles": [
        "F.pixel_shuffle(image, 2)", "F.pixel_unshuffle(image[:, :, 1:], 2)", "F.channel_shuffle(row, 3)",
        "F.pixel_shuffle(image[0], 2)", "nn.Softmax2d()(image)", "F.max_pool2d_with_indices(image, 2)[0]",
        "F.adaptive_max_pool2d_with_indices(image, 2)[0]",
        "F.fractional_max_pool2d(image, 2, output_size=(3, 4), _random_samples=(row[:, :4, :2].detach() ** 2))",
        "F.fractional_max_pool3d(volume, (1, 2, 1), output_ratio=0.7, _random_samples=volume[:, :, 0, 0].detach())",
    ],
    "margins": [
        "F.soft_margin_loss(a, sides)", "F.margin_ranking_loss(a, b, sides, 0.3)",
        "F.hinge_embedding_loss(a, sides, 0.7, reduction='sum')", "F.multi_margin_loss(a, classes)",
        "F.multi_margin_loss(a, classes, 2, 0.5, w4.detach(), reduction='none')",
        "F.multi_margin_loss(a[0], classes[0])",
        "F.multilabel_margin_loss(a, labels)", "F.multilabel_margin_loss(a, labels, reduction='none')",
        "F.multilabel_soft_margin_loss(a, (sides + 1) / 2, w4.detach())",
        "F.cosine_embedding_loss(a, b, side, 0.2, reduction='none')",
        "F.cosine_embedding_loss(a[0], b[0], side[0])", "F.triplet_margin_loss(a, b, c, 0.5, swap=True)",
        "F.triplet_margin_loss(a, b, c, p=1, reduction='none')",
        "F.triplet_margin_with_distance_loss(a, b, c, distance_function=nn.PairwiseDistance(3.0), swap=True)",
        "F.poisson_nll_loss(a, b ** 2 * 3, full=True)", "F.gaussian_nll_loss(a, b, c[:, :1] ** 2, full=True)",
        "F.mse_loss(a, b, weight=c.detach() ** 2)", "F.l1_loss(a, b, weight=c.detach() ** 2)",
        "F.huber_loss(a, b, delta=0.3, weight=c.detach() ** 2)", "nn.CosineSimilarity()(a, b)",
        "nn.PairwiseDistance(2, keepdim=True)(a, b)",
    ],
    "ctc": [
        _NLL.format(targets="spelled", lengths="times, sizes", options="reduction='none'"),
        _NLL.format(targets="spelled - 1", lengths="(7, 7, 2), (3, 3, 3)", options="4, 'mean', True"),
        _NLL.format(targets="spelled", lengths="(7, 0, 5), (0, 0, 3)", options="0, 'sum'"),
        _NLL.format(targets="in_a_row", lengths="(7, 6, 5), (3, 1, 2)", options=""),
        _NLL.format(targets="in_a_row", lengths="times, sizes", options=""),
        "F.ctc_loss(F.log_softmax(scores[:, 0], 1), spelled[0], (7,), (3,), reduction='none')",
        "nn.CTCLoss(zero_infinity=True)(F.log_softmax(scores, 2), spelled, times * 0 + 3, sizes)",
    ],
    "bags": [
        *(f"F.embedding_bag({given}, mode='{mode}')" for mode in ("sum", "mean", "max")
          for given in ("bags, table", "places, table, starts", "bags, table, padding_idx=4",
                        "places, table, starts_and_end, include_last_offset=True, padding_idx=-2")),
        "F.embedding_bag(places, table, starts, mode='sum', per_sample_weights=shares)",
        "F.embedding_bag(bags, table * 1, max_norm=0.5)",
        "F.embedding_bag(places[:0], table, starts[:1])",
    ],
    "activations": [
        "F.hardshrink(z, 0.25)", "F.softshrink(z, 0.25)", "F.rrelu(z, 0.1, 0.3)", "F.threshold_(z * 1, 0.25, -3.0)",
        "F.relu_(z * 1)", "F.elu_(z * 1, 0.7)", "F.selu_(z * 1)", "F.celu_(z * 1, 1.5)", "F.leaky_relu_(z * 1, 0.2)",
        "F.hardtanh_(z * 1, -0.3, 0.4)", "nn.Hardshrink()(z)", "nn.Softshrink(0.1)(z)", "nn.RReLU().eval()(z)",
        "nn.Threshold(0.1, 20)(z)", "F.prelu(z[0], w4[:1])",
    ],
}  # fmt: skip
EXPRESSIONS = [expression for family in FAMILIES.values() for expression in family]

#: Drawn after ``manual_seed(3)``, each twice.
DRAWN = [
    "F.dropout1d(row, 0.4)", "F.dropout1d(row[0], 0.4)", "F.dropout2d(image, 0.4)", "F.dropout3d(volume, 0.4)",
    "F.dropout3d(volume[0], 0.4)", "F.alpha_dropout(image, 0.3, True)", "F.feature_alpha_dropout(image, 0.3, True)",
    "F.rrelu(image, training=True)", "F.gumbel_softmax(row, 0.7)", "F.gumbel_softmax(row, hard=True, dim=1)",
    "F.fractional_max_pool2d(image, 2, output_ratio=(0.5, 0.7))", "F.fractional_max_pool3d(volume, (1, 2, 1), 2)",
    "nn.Dropout2d()(image)", "nn.AlphaDropout(0.2)(row)", "nn.FeatureAlphaDropout(0.2)(row)", "nn.RReLU()(row)",
    "F.rrelu_(image * 1, training=True)",
]  # fmt: skip
FLOATING = ("row", "image", "volume")


def drawn(tg, expression, wrap=lambda step: step, calls=2):
    """Values and gradients of an expression that draws, call by call."""
    names = {name: tg.tensor(ARRAYS[name], requires_grad=True) for name in FLOATING}

    def step(row, image, volume):
        out = eval(expression, {"F": tg.nn.functional, "nn": tg.nn, "row": row, "image": image, "volume": volume})
        grads = tg.autograd.grad((out * out).sum(), (row, image, volume), allow_unused=True)
        return [out.detach(), *(g for g in grads if g is not None)]

    run, found = wrap(step), []
    tg.manual_seed(3)
    for _ in range(calls):
        found += [np.array(x.numpy()) for x in run(*names.values())]
    return found


def make(tg, run_all):
    stored = run_all(tg, EXPRESSIONS, ARRAYS)
    for expression in DRAWN:
        stored.update({f"{expression}|{i}": x for i, x in enumerate(drawn(tg, expression))})
    return stored
