"""Pictures of several images, and networks: their structure is torchvision's."""

import numpy as np
import pytest
from image_samples import Image

from tracegrad.vision import get_image_backend, models, set_image_backend, utils


def test_grid(tg):
    images = tg.arange(5.0).view(5, 1, 1, 1).expand(5, 1, 2, 3) + 1
    grid = utils.make_grid(images, nrow=3, padding=1, pad_value=9)
    assert grid.shape == (3, 7, 13) and tg.equal(grid[0], grid[2]) and grid.dtype == tg.float32
    assert grid[0].tolist() == [
        [9] * 13,
        *[[9, 1, 1, 1, 9, 2, 2, 2, 9, 3, 3, 3, 9]] * 2,
        [9] * 13,
        *[[9, 4, 4, 4, 9, 5, 5, 5, 9, 9, 9, 9, 9]] * 2,
        [9] * 13,
    ]
    assert tg.equal(utils.make_grid(list(images), nrow=3, padding=1, pad_value=9), grid)


def test_grids_of_few(tg):
    image = tg.rand(1, 4, 5)
    for one in (image[0], image, image[None], [image]):
        assert tg.equal(utils.make_grid(one), image.expand(3, 4, 5))
    assert utils.make_grid(tg.rand(2, 3, 4, 5)).shape == (3, 8, 16)
    assert utils.make_grid(tg.rand(9, 3, 4, 5)).shape == (3, 14, 58)


def test_normalised_grids(tg):
    images = tg.tensor([[-1.0, 1.0], [2.0, 4.0]]).view(2, 1, 1, 2)
    seen = [
        utils.make_grid(images, padding=0, normalize=True, **options)[0].tolist()
        for options in ({}, {"scale_each": True}, {"value_range": (0.0, 2.0)})
    ]
    assert np.allclose(seen, [[[0, 0.4, 0.6, 1]], [[0, 1, 0, 1]], [[0, 0.5, 1, 1]]]) and images.min() == -1
    with pytest.raises(TypeError, match="value_range has to be a tuple"):
        utils.make_grid(images, normalize=True, value_range=[0, 1])
    with pytest.raises(TypeError, match="tensor or list of tensors expected"):
        utils.make_grid([images, 1])


def test_saved_images(tg, tmp_path):
    images = tg.rand(4, 3, 5, 6) * 1.2 - 0.1
    path = tmp_path / "grid.png"
    utils.save_image(images.requires_grad_(), path, nrow=2)
    expected = (utils.make_grid(images, nrow=2) * 255 + 0.5).clamp(0, 255).detach().numpy().astype(np.uint8)
    assert np.array_equal(np.asarray(Image.open(path)), expected.transpose(1, 2, 0))
    with open(tmp_path / "one", "wb") as file:
        utils.save_image(tg.zeros(1, 2, 2), file, format="PNG")
    assert Image.open(tmp_path / "one").size == (2, 2)


#: Parameters of the networks for 1000 classes, as their authors and torchvision's documentation count them.
SIZES = {
    "alexnet": 61_100_840, "vgg11": 132_863_336, "vgg16": 138_357_544, "vgg19_bn": 143_678_248,
    "resnet18": 11_689_512, "resnet34": 21_797_672, "resnet50": 25_557_032, "resnet101": 44_549_160,
    "resnet152": 60_192_808, "resnext50_32x4d": 25_028_904, "wide_resnet50_2": 68_883_240,
}  # fmt: skip


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.long(every=4)) for n in SIZES])
def test_sizes_of_models(name):
    assert sum(p.numel() for p in getattr(models, name)().parameters()) == SIZES[name]


def test_names_of_parameters(tg):
    names = list(models.resnet18(False, num_classes=3, pretrained=False).state_dict())  # the older forms
    assert len(names) == 122 and names[:6] == [
        "conv1.weight", "bn1.weight", "bn1.bias", "bn1.running_mean", "bn1.running_var", "bn1.num_batches_tracked",
    ]  # fmt: skip
    assert {"layer2.0.downsample.0.weight", "layer4.1.bn2.running_var", "fc.bias"} <= set(names)
    block = models.resnet.ResNet(models.resnet.Bottleneck, (1, 1, 1, 1), num_classes=2)
    assert {"layer1.0.conv3.weight", "layer1.0.downsample.1.bias"} <= set(block.state_dict())
    features = models.vgg.make_layers(models.vgg.cfgs["A"], batch_norm=True).state_dict()
    assert {"0.weight", "1.running_mean", "25.bias"} <= set(features)


@pytest.mark.long
def test_models_learn(tg):
    """A step of the smallest network, eager and compiled."""

    def losses(wrap):
        tg.manual_seed(0)
        model = models.ResNet(models.resnet.BasicBlock, (1, 1, 1, 1), num_classes=4)
        optimizer = tg.optim.SGD(model.parameters(), lr=0.01)
        x, y = tg.randn(4, 3, 32, 32), tg.arange(4)

        def step(x, y):
            optimizer.zero_grad()
            loss = tg.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            return loss

        step = wrap(step)
        return [step(x, y).item() for _ in range(4)]

    eager = losses(lambda step: step)
    assert eager[-1] < eager[0] and losses(tg.compile) == pytest.approx(eager, rel=1e-3)


ASKED = [{"pretrained": True}, {"weights": "DEFAULT"}, {"weights": models.ResNet18_Weights.DEFAULT}]


@pytest.mark.parametrize("ask", ASKED)
def test_there_are_no_weights(ask):
    with pytest.raises(RuntimeError, match=r"(?s)pretrained weights are not here.*weights=None.*load_state_dict"):
        models.resnet18(**ask)


def test_backends():
    set_image_backend("PIL")
    assert get_image_backend() == "PIL"
    with pytest.raises(ValueError, match="Invalid backend 'accimage'"):
        set_image_backend("accimage")
