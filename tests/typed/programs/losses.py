import tracegrad as torch
import tracegrad.nn as nn
import tracegrad.nn.functional as F
from tracegrad import Tensor


class Focal(nn.Module):
    def __init__(self, gamma: float = 2.0, weight: Tensor | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.gamma, self.reduction = gamma, reduction
        self.register_buffer("weight", weight)

    def forward(self, logits: Tensor, target: Tensor) -> Tensor:
        ce = F.cross_entropy(logits, target, reduction="none", label_smoothing=0.1)
        loss = (1 - torch.exp(-ce)) ** self.gamma * ce
        if self.reduction == "mean":
            return loss.mean()
        return loss.sum() if self.reduction == "sum" else loss


losses: dict[str, nn.Module] = {
    "ce": nn.CrossEntropyLoss(weight=torch.ones(3)),
    "mse": nn.MSELoss(),
    "nll": nn.NLLLoss(ignore_index=-100),
    "focal": Focal(),
}
x, t = torch.randn(4, 3, requires_grad=True), torch.tensor([0, 1, 2, 0])
for name in ("ce", "focal"):
    value = losses[name](x, t)
    print(name, value.item())
bce = F.binary_cross_entropy_with_logits(x[:, 0], t.float(), pos_weight=torch.tensor(2.0))
huber = F.huber_loss(x[:, 0], t.float(), delta=0.5)
kl = F.kl_div(F.log_softmax(x, dim=1), F.softmax(x, dim=1), reduction="batchmean")
cos = F.cosine_similarity(x, x, dim=-1)
trip = nn.TripletMarginLoss(margin=1.0)(x, x, x)
n = F.normalize(x, p=2, dim=1)
d = torch.cdist(x, x, p=2.0)
pooled = F.max_pool2d(torch.randn(1, 1, 4, 4), 2)
ad = F.adaptive_avg_pool2d(torch.randn(1, 1, 4, 4), (1, 1))
pad = F.pad(x, (1, 1), mode="constant", value=0.0)
up = F.interpolate(torch.randn(1, 1, 4, 4), scale_factor=2, mode="bilinear", align_corners=False)
up2 = F.interpolate(torch.randn(1, 1, 4, 4), size=(8, 8))
drop = F.dropout(x, p=0.5, training=True)
g = F.gelu(x, approximate="tanh")
sdpa = F.scaled_dot_product_attention(
    torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4), torch.randn(1, 2, 3, 4), is_causal=True
)
ln = F.layer_norm(x, (3,))
emb = F.embedding(t, torch.randn(3, 2))
conv = F.conv2d(torch.randn(1, 1, 5, 5), torch.randn(2, 1, 3, 3), padding=1, stride=(2, 2))
mha = nn.MultiheadAttention(8, 2, batch_first=True)
out, weights = mha(torch.randn(1, 3, 8), torch.randn(1, 3, 8), torch.randn(1, 3, 8), need_weights=True)
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d_model=8, nhead=2, batch_first=True), num_layers=2)
mem: Tensor = enc(torch.randn(1, 3, 8), src_key_padding_mask=torch.zeros(1, 3, dtype=torch.bool))
