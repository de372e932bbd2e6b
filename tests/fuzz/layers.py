"""Windows, recurrences, attention, and the short, unsigned and complex types among what programs compute."""

from __future__ import annotations

import tracegrad as tg

from .expressions import of_dtypes, one_operand, writer

ROW = "{x}.reshape(1, 1, -1)"
IMAGE = "{x}.reshape(1, 1, {x}.shape[0], -1)"
# Kernels are parts of the operand, so that they have gradients, too.
WINDOWS = """
F.conv1d({row}, {row}[..., :2].tanh(), padding=1)|F.conv1d({row}, {row}[..., :1], stride=2)|F.avg_pool1d({row}, 2, 1, 1)
F.conv_transpose1d({row}, {row}[..., :2].tanh(), stride=2)|F.conv1d({row}, {row}[..., :2].tanh(), padding='same', dilation=2)
F.adaptive_avg_pool1d({row}, 2)|F.interpolate({row}, size=3, mode='linear')|F.lp_pool1d({row} * {row} + 0.5, 2, 1, 1)
F.conv1d({row}.expand(2, 2, -1), {row}[..., :1].tanh().expand(2, 1, -1), groups=2)|F.interpolate({row}, scale_factor=2)
"""
IMAGES = """
F.conv2d({image}, {image}[..., :1, :2].tanh(), padding=(0, 1))|F.conv2d({image}, {image}[..., :1, :1], stride=(1, 2))
F.conv_transpose2d({image}, {image}[..., :1, :2].tanh(), stride=2)|F.avg_pool2d({image}, (1, 2), 1, (0, 1))
F.conv3d({image}[None], {image}[None][..., :1, :1, :1].tanh())[0]|F.avg_pool3d({image}[None], 1)[0]
F.unfold({image}, 1)|F.pad({image}, (1, 0, 0, 0), mode='replicate')|F.adaptive_avg_pool2d({image}, (1, 2))
F.interpolate({image}, size=(2, 3), mode='bilinear')|F.conv_transpose3d({image}[None], {image}[None][..., :1, :1, :1].tanh())[0]
"""
LARGEST = "F.max_pool1d({row}, 2, 1, 1)|F.adaptive_max_pool1d({row}, 1)|F.max_pool2d({image}, 1)|F.max_pool2d({image}, (1, 2), 1, (0, 1))"
ATTENTION = """
F.scaled_dot_product_attention({x} * 0.5, {x}, {x})|F.scaled_dot_product_attention({x}[None], {x}[None], {x}[None], is_causal=True)
F.scaled_dot_product_attention({x}[None], {x}.sin()[None], {x}[None], attn_mask=tg.full(({x}.shape[-2],) * 2, 0.3, dtype={x}.dtype))
"""
SHORT = """
({x}.half() * 0.5).double()|({x}.bfloat16() + 1).double()|{x}.to(tg.float16).sum().double()|({x}.to(tg.bfloat16) * {x}.bfloat16()).float()
({x}.to(tg.float16) - {x}.half().sum()).float()|({x}.to(tg.float16) * 2).to(tg.float32)|{x}.to(tg.bfloat16).neg().to({x}.dtype)
({x} * 4).clamp(-9, 9).to(tg.int8).double()|({x}.abs() * 4).clamp(0, 9).to(tg.uint8).double()|({x} * 2).clamp(-9, 9).to(tg.int16).float()
"""
SMALL = """
({x}.to(tg.int8) + 1).long()|({x}.abs().to(tg.uint8) // 2).long()|({x}.to(tg.int16) * 3).double()|{x}.to(tg.uint8).sum()
({x}.to(tg.int8) & 3).int()|{x}.to(tg.int16).float()|({x}.to(tg.uint8) + {x}.to(tg.int8)).long()|{x}.to(tg.uint8).clamp(1, 3).double()
"""
COMPLEX = """
({x}.float() * (1 + 2j)).real|tg.complex({x}.float(), {x}.float().sin()).abs().square()|({x}.to(tg.complex64) * 1j).imag
tg.view_as_real(tg.polar({x}.double() * 0.5, {x}.double()))[..., 1]|({x}.to(tg.complex128) * {x}.to(tg.complex128).conj()).real
"""


NORMS = """
F.group_norm({row}, 1, eps=0.1)|F.group_norm({image}, 1, eps=0.1)|F.instance_norm({row}, eps=0.1)|F.local_response_norm({row}, 2)
F.batch_norm({row}.transpose(0, 2), None, None, training=True, eps=0.1)|F.kl_div(F.log_softmax({x}, -1), {x}.softmax(-1), reduction='sum')
F.binary_cross_entropy_with_logits({x}, {x}.sigmoid())|F.huber_loss({x}, {x}.sin() + 0.2137)|F.cosine_similarity({x}, {x} * {x} + 0.5, -1)
F.pad({row}, (1, 1), mode='circular')|F.pixel_shuffle({image}.expand(1, 4, -1, -1), 2)|F.fold(F.unfold({image}, 1), {image}.shape[2:], 1)
"""


def spread(templates: str) -> str:
    return templates.replace("{row}", ROW).replace("{image}", IMAGE)


for _weight, _writer in (
    (5, one_operand(spread(WINDOWS), 1)),
    (5, one_operand(spread(IMAGES), 1)),
    (3, one_operand(spread(NORMS), 1)),
    (2, one_operand(spread(LARGEST), 1, exact=True, keeps=True)),
    (3, one_operand(ATTENTION, 2)),
    (3, one_operand(SHORT, exact=True, keeps=True)),
    (3, of_dtypes(SMALL, tg.int64, tg.int32)),
    (3, one_operand(COMPLEX)),
):
    writer(_weight)(_writer)

FIRST = """
class First(nn.Module):
    def __init__(self, layer, calls):
        super().__init__()
        self.layer, self.calls = layer, calls

    def forward(self, x):
        found = self.layer(*[x] * self.calls)
        return found[0] if isinstance(found, tuple) else found
"""[1:-1]
#: Layers by templates ({n}: features of the input, {k}: another number), and the least number of the input's axes.
ROWS = """
nn.Sequential(nn.Unflatten(-1, (1, {n})), nn.Conv1d(1, {k}, 2, padding=1), nn.Tanh(), nn.Flatten(1))
nn.Sequential(nn.Unflatten(-1, (1, {n})), nn.Conv1d(1, 2, 1), nn.AvgPool1d(1), nn.Sigmoid())
nn.Sequential(nn.Unflatten(-1, (1, 1, {n})), nn.Conv2d(1, {k}, (1, 2), padding=(0, 1)), nn.Tanh(), nn.Flatten(1))
nn.Sequential(nn.Unflatten(-1, (1, {n})), nn.ConvTranspose1d(1, {k}, 2), nn.GELU())
First(nn.RNN({n}, {k}), 1)|First(nn.LSTM({n}, {k}, 2), 1)|First(nn.GRU({n}, {k}, bidirectional=True), 1)|nn.GRUCell({n}, {k})
First(nn.LSTMCell({n}, {k}), 1)|nn.RNNCell({n}, {k})|First(nn.MultiheadAttention({n}, 1), 3)|First(nn.LSTM({n}, {k}, dropout=0.3, num_layers=2), 1)
nn.TransformerEncoderLayer({n}, 1, 3, dropout=0.2, layer_norm_eps=0.1)|nn.Sequential(nn.GroupNorm(1, {n}, eps=0.1), nn.Tanh())
First(nn.TransformerDecoderLayer({n}, 1, 3, dropout=0.2, layer_norm_eps=0.1), 2)|First(nn.Bilinear({n}, {n}, {k}), 2)
nn.Sequential(nn.Unflatten(-1, (1, 1, 1, {n})), nn.Conv3d(1, {k}, (1, 1, 2), padding=(0, 0, 1)), nn.Tanh(), nn.Flatten(1))
nn.Sequential(nn.Unflatten(-1, (1, 1, {n})), nn.ConvTranspose2d(1, {k}, (1, 2)), nn.Sigmoid(), nn.Flatten(1))
"""
