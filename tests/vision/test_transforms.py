"""Transforms: tensors beside Pillow, what is drawn and when, conversions, errors."""

import math
import random

import numpy as np
import pytest
from image_samples import Image, levels, photograph

from tracegrad.vision import transforms as T
from tracegrad.vision.transforms import functional as F

BILINEAR = T.InterpolationMode.BILINEAR
INSIDE = (slice(8, -8), slice(10, -10))  # away from the edges, at which Pillow and `grid_sample` differ

#: Functions that Pillow and tensors share: how far their levels may be apart, and where.
SHARED = {
    "resize": (lambda i: F.resize(i, [12, 20]), 1, ()),
    "resize, shorter side": (lambda i: F.resize(i, 12), 1, ()),
    "resize, at most": (lambda i: F.resize(i, 20, max_size=25), 1, ()),
    "resize, larger": (lambda i: F.resize(i, [50, 45]), 1, ()),
    "resize, bicubic": (lambda i: F.resize(i, [12, 20], T.InterpolationMode.BICUBIC), 2, ()),
    "crop": (lambda i: F.crop(i, 3, 4, 10, 11), 0, ()),
    "crop, beyond": (lambda i: F.crop(i, -3, 20, 12, 20), 0, ()),
    "crop, outside": (lambda i: F.crop(i, 40, -50, 5, 6), 0, ()),
    "center_crop": (lambda i: F.center_crop(i, [11, 14]), 0, ()),
    "center_crop, larger": (lambda i: F.center_crop(i, [31, 15]), 0, ()),
    "resized_crop": (lambda i: F.resized_crop(i, 2, 3, 15, 20, [8, 9]), 1, ()),
    "pad": (lambda i: F.pad(i, [1, 2, 3, 4], fill=7), 0, ()),
    "pad, edge": (lambda i: F.pad(i, [2, 3], padding_mode="edge"), 0, ()),
    "pad, reflect": (lambda i: F.pad(i, 4, padding_mode="reflect"), 0, ()),
    "pad, symmetric": (lambda i: F.pad(i, (4, 1), padding_mode="symmetric"), 0, ()),
    "pad, less": (lambda i: F.pad(i, [-2, 3, -1, 2], padding_mode="edge"), 0, ()),
    "hflip": (F.hflip, 0, ()),
    "vflip": (F.vflip, 0, ()),
    "five_crop": (lambda i: F.five_crop(i, 9)[3], 0, ()),
    "ten_crop": (lambda i: F.ten_crop(i, (9, 7))[6], 0, ()),
    "rotate, nearest": (lambda i: F.rotate(i, 90.0), 0, ()),
    "rotate": (lambda i: F.rotate(i, 25.0, BILINEAR), 1, INSIDE),
    "rotate, expanded": (lambda i: F.rotate(i, 90.0, expand=True), 0, ()),
    "rotate, around": (lambda i: F.rotate(i, 10.0, BILINEAR, center=[10, 12]), 1, INSIDE),
    "affine": (lambda i: F.affine(i, 10.0, [2, -1], 1.1, [5.0, 3.0], BILINEAR), 1, INSIDE),
    "affine, moved": (lambda i: F.affine(i, 0.0, [3, -2], 1.0, 0.0), 0, ()),
    "brightness": (lambda i: F.adjust_brightness(i, 1.4), 1, ()),
    "contrast": (lambda i: F.adjust_contrast(i, 0.6), 1, ()),
    "saturation": (lambda i: F.adjust_saturation(i, 1.7), 1, ()),
    "gamma": (lambda i: F.adjust_gamma(i, 0.7, 0.9), 1, ()),
    "gray": (F.rgb_to_grayscale, 1, ()),
    "gray, three": (lambda i: F.rgb_to_grayscale(i, 3), 1, ()),
    "blur": (lambda i: F.gaussian_blur(i, [5, 3], [1.0, 0.8]), 0, ()),
    "invert": (F.invert, 0, ()),
    "posterize": (lambda i: F.posterize(i, 3), 0, ()),
    "solarize": (lambda i: F.solarize(i, 100), 0, ()),
}


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("name", SHARED)
def test_tensors_beside_pillow(name, channels):
    function, most, where = SHARED[name]
    image = photograph(channels=channels)
    expected, found = levels(function(image))[where], levels(function(F.pil_to_tensor(image)))[where]
    assert expected.shape == found.shape and np.abs(expected - found).max() <= most


def test_hue_beside_pillow():
    """Pillow has 256 hues, a tensor all of them: whole turns and thirds of one are exact in both."""
    image = photograph()
    tensor = F.pil_to_tensor(image)
    third = levels(F.adjust_hue(tensor, 1 / 3))
    assert np.abs(third - levels(tensor)[:, :, [2, 0, 1]]).max() <= 1
    assert np.abs(third - levels(F.adjust_hue(image, 1 / 3))).max() <= 12
    assert np.abs(levels(F.adjust_hue(tensor, 0.0)) - levels(tensor)).max() <= 1


def test_batches_and_real_numbers(tg):
    images = tg.stack([F.to_tensor(photograph()), F.to_tensor(photograph()).flip(-1)])
    for function in (
        lambda i: F.resize(i, [9, 8]),
        lambda i: F.rotate(i, 20.0, BILINEAR),
        F.hflip,
        lambda i: F.gaussian_blur(i, 3),
        lambda i: F.adjust_hue(i, 0.2),
        lambda i: F.pad(i, 2),
    ):
        whole = function(images)
        assert whole.dtype == tg.float32
        for i in range(2):
            assert tg.allclose(whole[i], function(images[i]), atol=1e-6)


def test_outside_is_filled(tg):
    image = tg.ones(3, 8, 8)
    turned = F.rotate(image, 45.0, fill=[0.1, 0.2, 0.3])
    assert turned[:, 0, 0].tolist() == pytest.approx([0.1, 0.2, 0.3]) and turned[:, 4, 4].tolist() == [1, 1, 1]
    assert F.rotate(image, 45.0)[:, 0, 0].tolist() == [0, 0, 0]


# -------------------------------------------------------------------------------------------------------- conversions


def test_to_tensor(tg):
    image = photograph(5, 6)
    tensor = F.to_tensor(image)
    assert tensor.dtype == tg.float32 and tensor.shape == (3, 5, 6) and tensor.is_contiguous()
    assert tensor.tolist() == (np.asarray(image).transpose(2, 0, 1).astype(np.float32) / np.float32(255)).tolist()
    assert F.to_tensor(np.ones((2, 3), np.float64)).dtype == tg.float64
    assert F.to_tensor(image.convert("1")).unique().tolist() == [0, 1]
    assert F.to_tensor(Image.new("I", (2, 1), 70000)).tolist() == [[[70000, 70000]]]
    assert F.to_tensor(Image.new("F", (2, 1), 0.5)).tolist() == [[[0.5, 0.5]]]
    tensor.zero_()
    assert np.asarray(image).any()  # memory of its own


@pytest.mark.parametrize("mode", ["L", "RGB", "RGBA", "LA", "I", "F", "CMYK", "HSV"])
def test_there_and_back(mode):
    image = photograph(channels=1 if mode == "LA" else 3).convert(mode)
    back = F.to_pil_image(F.pil_to_tensor(image), mode=mode)
    assert back.mode == mode and np.array_equal(np.asarray(back), np.asarray(image))


def test_to_pil_image(tg):
    assert np.asarray(F.to_pil_image(tg.tensor([[0.0, 0.5], [1.0, 0.999]]))).tolist() == [[0, 127], [255, 254]]
    assert F.to_pil_image(np.zeros((2, 2, 3), np.uint8)).mode == "RGB"
    for wrong, kind, phrase in (
        (tg.ones(5, 2, 2), ValueError, "pic should not have > 4 channels. Got 5 channels."),
        (tg.ones(2), ValueError, "pic should be 2/3 dimensional. Got 1 dimensions."),
        ([1], TypeError, "pic should be Tensor or ndarray. Got <class 'list'>."),
        (np.zeros((2, 2), np.int64), TypeError, "Input type int64 is not supported"),
    ):
        with pytest.raises(kind, match=phrase):
            F.to_pil_image(wrong)


CONVERTED = [
    ("uint8", "float32", 255, 1.0),
    ("float32", "uint8", 1.0, 255),
    ("uint8", "int16", 255, 32640),
    ("int16", "uint8", 32767, 255),
    ("uint8", "int32", 1, 2**23),
    ("float32", "float64", 0.5, 0.5),
]


@pytest.mark.parametrize("one, other, given, expected", CONVERTED)
def test_types_of_images(tg, one, other, given, expected):
    out = F.convert_image_dtype(tg.tensor([given], dtype=getattr(tg, one)), getattr(tg, other))
    assert out.dtype == getattr(tg, other) and out.item() == expected


def test_normalize(tg):
    x = tg.rand(2, 3, 4, 4)
    means, deviations = (0.1, 0.2, 0.3), (0.5, 2.0, 4.0)
    expected = (x - tg.tensor(means).view(3, 1, 1)) / tg.tensor(deviations).view(3, 1, 1)
    assert tg.equal(F.normalize(x, means, deviations), expected)
    assert F.normalize(x, means, deviations, inplace=True) is x and tg.equal(x, expected)
    with pytest.raises(ValueError, match="std evaluated to zero"):
        F.normalize(x, means, (1.0, 0.0, 1.0))
    with pytest.raises(TypeError, match="Input tensor should be a float tensor"):
        F.normalize(tg.ones(1, 2, 2, dtype=tg.int64), [0], [1])


# ------------------------------------------------------------------------------------------------- what is drawn when


def uniform(tg, low, high):
    return tg.empty(1).uniform_(low, high).item()


def crop_of(tg, image):
    top = tg.randint(0, 24 - 10 + 1, size=(1,)).item()
    return F.crop(image, top, tg.randint(0, 32 - 12 + 1, size=(1,)).item(), 10, 12)


def resized_crop_of(tg, image):
    while True:
        area = 24 * 32 * uniform(tg, 0.08, 1.0)
        aspect = math.exp(uniform(tg, *np.log(np.array([3 / 4, 4 / 3], np.float32)).tolist()))
        width, height = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if 0 < width <= 32 and 0 < height <= 24:
            top = tg.randint(0, 24 - height + 1, size=(1,)).item()
            return F.resized_crop(image, top, tg.randint(0, 32 - width + 1, size=(1,)).item(), height, width, [8, 8])


def jittered(tg, image):
    order = tg.randperm(4).tolist()
    factors = [uniform(tg, 0.6, 1.4), uniform(tg, 0.7, 1.3), uniform(tg, 0.5, 1.5), uniform(tg, -0.1, 0.1)]
    functions = (F.adjust_brightness, F.adjust_contrast, F.adjust_saturation, F.adjust_hue)
    for i in order:
        image = functions[i](image, factors[i])
    return image


def affine_of(tg, image):
    angle = uniform(tg, -20.0, 20.0)
    moved = [round(uniform(tg, -most, most)) for most in (3.2, 4.8)]
    scale = uniform(tg, 0.8, 1.2)
    return F.affine(image, angle, moved, scale, [uniform(tg, -5.0, 5.0), 0.0], fill=0)


DRAWN = {
    "RandomHorizontalFlip": (T.RandomHorizontalFlip(), lambda tg, i: F.hflip(i) if tg.rand(1) < 0.5 else i),
    "RandomVerticalFlip": (T.RandomVerticalFlip(0.3), lambda tg, i: F.vflip(i) if tg.rand(1) < 0.3 else i),
    "RandomGrayscale": (T.RandomGrayscale(0.4), lambda tg, i: F.rgb_to_grayscale(i, 3) if tg.rand(1) < 0.4 else i),
    "RandomInvert": (T.RandomInvert(), lambda tg, i: F.invert(i) if tg.rand(1) < 0.5 else i),
    "RandomCrop": (T.RandomCrop((10, 12)), crop_of),
    "RandomCrop, all": (T.RandomCrop((24, 32)), lambda tg, i: i),
    "RandomResizedCrop": (T.RandomResizedCrop(8), resized_crop_of),
    "RandomRotation": (T.RandomRotation(30), lambda tg, i: F.rotate(i, uniform(tg, -30.0, 30.0), fill=0)),
    "RandomAffine": (T.RandomAffine(20, (0.1, 0.2), (0.8, 1.2), 5), affine_of),
    "ColorJitter": (T.ColorJitter(0.4, 0.3, 0.5, 0.1), jittered),
    "GaussianBlur": (T.GaussianBlur(3), lambda tg, i: F.gaussian_blur(i, [3, 3], [uniform(tg, 0.1, 2.0)] * 2)),
    "RandomApply": (T.RandomApply([F.hflip], 0.3), lambda tg, i: i if tg.rand(1) > 0.3 else F.hflip(i)),
    "RandomChoice": (T.RandomChoice([F.hflip, F.vflip]), lambda tg, i: random.choices([F.hflip, F.vflip])[0](i)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_what_is_drawn(tg, name):
    transform, by_hand = DRAWN[name]
    results = []
    for function in (transform, lambda image: by_hand(tg, image)):
        tg.manual_seed(3)
        random.seed(3)
        seen = [levels(function(photograph())) for _ in range(8)]
        results.append((seen, tg.rand(1).item(), random.random()))
    assert all(np.array_equal(a, b) for a, b in zip(results[0][0], results[1][0], strict=True))
    assert results[0][1:] == results[1][1:]


@pytest.mark.parametrize("value", [0, "random", (0.1, 0.2, 0.3)])
def test_erasing(tg, value):
    tg.manual_seed(1)
    image = tg.full((3, 20, 30), 0.5)
    erased = T.RandomErasing(1.0, value=value)(image)
    changed = (erased != image).all(dim=0)
    rows, columns = (changed.any(dim=d).sum().item() for d in (1, 0))
    assert changed.sum().item() == rows * columns > 0 and (image == 0.5).all() and rows < 20 and columns < 30
    if value == 0:
        tg.manual_seed(1)
        tg.rand(1)
        area = 600 * uniform(tg, 0.02, 0.33)
        aspect = math.exp(uniform(tg, *np.log(np.array([0.3, 3.3], np.float32)).tolist()))
        assert (rows, columns) == (round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect)))


# --------------------------------------------------------------------------------------------- texts, refusals, steps

REPRS = {
    "Compose(\n    ToTensor()\n    Normalize(mean=0.5, std=0.5)\n)": T.Compose([T.ToTensor(), T.Normalize(0.5, 0.5)]),
    "Resize(size=32, interpolation=bilinear, max_size=None, antialias=True)": T.Resize(32),
    "CenterCrop(size=(5, 5))": T.CenterCrop(5),
    "RandomCrop(size=(32, 32), padding=4)": T.RandomCrop(32, padding=4),
    "RandomHorizontalFlip(p=0.5)": T.RandomHorizontalFlip(),
    "RandomRotation(degrees=[-10.0, 10.0], interpolation=nearest, expand=False, fill=0)": T.RandomRotation(10),
    "RandomAffine(degrees=[-3.0, 3.0], translate=(0.1, 0.1))": T.RandomAffine(3, (0.1, 0.1)),
    "Pad(padding=2, fill=0, padding_mode=constant)": T.Pad(2),
    "Grayscale(num_output_channels=1)": T.Grayscale(),
    "ColorJitter(brightness=(0.5, 1.5), contrast=None, saturation=None, hue=(-0.1, 0.1))": T.ColorJitter(0.5, hue=0.1),
    "GaussianBlur(kernel_size=(3, 3), sigma=(0.1, 2.0))": T.GaussianBlur(3),
    "ToPILImage()": T.ToPILImage(),
}  # fmt: skip


@pytest.mark.parametrize("text", REPRS)
def test_descriptions(text):
    assert repr(REPRS[text]) == text


REFUSED = {
    "crop size": (lambda tg: T.RandomCrop(40)(photograph()), ValueError, r"Required crop size \(40, 40\) is larger"),
    "five": (lambda tg: F.five_crop(photograph(), 30), ValueError, "Requested crop size .* is bigger than input size"),
    "jitter": (lambda tg: T.ColorJitter(-1), ValueError, "brightness is a single number, it must be non negative"),
    "hue": (lambda tg: T.ColorJitter(hue=0.7), ValueError, "hue values should be between"),
    "hue factor": (lambda tg: F.adjust_hue(photograph(), 0.6), ValueError, r"hue_factor \(0.6\) is not in"),
    "kernel": (lambda tg: T.GaussianBlur(4), ValueError, "Kernel size value should be an odd and positive number"),
    "sizes": (lambda tg: T.CenterCrop((1, 2, 3)), ValueError, "Please provide only two dimensions"),
    "lambda": (lambda tg: T.Lambda(3), TypeError, "Argument lambd should be callable"),
    "padding": (lambda tg: T.Pad((1, 2, 3)), ValueError, "Padding must be an int or a 1, 2, or 4 element tuple"),
    "mode": (lambda tg: T.Pad(1, padding_mode="x"), ValueError, "Padding mode should be either"),
    "a list": (lambda tg: F.to_tensor([1]), TypeError, "pic should be PIL Image or ndarray. Got <class 'list'>"),
    "a tensor": (lambda tg: F.to_tensor(tg.ones(2)), TypeError, "pic should be PIL Image or ndarray"),
    "angle": (lambda tg: T.RandomRotation(-3), ValueError, "If degrees is a single number, it must be positive"),
    "no image": (lambda tg: F.resize("image", 3), TypeError, "Unexpected type <class 'str'>"),
    "erasing": (lambda tg: T.RandomErasing(p=2), ValueError, "Random erasing probability should be between 0 and 1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(tg, name):
    call, kind, phrase = REFUSED[name]
    with pytest.raises(kind, match=phrase):
        call(tg)


def test_transforms_in_compiled_steps(tg):
    """Random transforms of tensors draw anew in each call, compiled as they do eager."""
    transform = T.Compose([T.RandomHorizontalFlip(), T.Normalize([0.5], [0.5]), T.RandomCrop(6, padding=1)])
    images = [tg.rand(1, 8, 8, generator=tg.Generator().manual_seed(i)) for i in range(6)]

    def results(step):
        tg.manual_seed(2)
        return [step(image).tolist() for image in images]

    eager = results(transform)
    assert results(tg.compile(lambda image: transform(image))) == eager
    with tg.deferred():
        assert results(transform) == eager
