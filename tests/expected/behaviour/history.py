"""Retained gradients and hooks across writes in place, and tensors of inference mode."""

WRITES = (
    "y.mul_(3)|y.add_(1)|y.exp_()|y[0]=5.|y[0].mul_(2)|y.zero_()|y.copy_(T([4.,5.]))|y.relu_()|y*=y|y.detach().mul_(2)"
    "|y=y*2|y.view(2,1).mul_(3)|y.mul_(x)|y.mul_(3); y.add_(2)|y[:1].copy_(x[1:])|F.relu(y,inplace=True)"
    "|with tg.no_grad(): y.add_(1)"
).split("|")
AFTER = "(y*y).sum().backward(); [y.grad, x.grad, y.retains_grad]"
VIEWS = "y[:1]|y.view(2,1)|y.t()|y[1]".split("|")

NORMAL, INFERENCE = "w=T([1.,2.],requires_grad=True)", "with tg.inference_mode(): z=T([3.,4.])"
USES = (
    "(w*z).requires_grad|(w+z).requires_grad|tg.exp(w+z)|w@z|F.mse_loss(w,z)|F.relu(w+z)|tg.cat([w,z]).requires_grad"
    "|z*2|(z*2).is_inference()|z[:1].is_inference()|z.clone().is_inference()|z.detach().is_inference()"
    "|z.data.is_inference()|z.is_inference()|tg.is_inference(w)|z._version|z.requires_grad_()|z.requires_grad_(False)"
    "|z.add_(1)|z.zero_()|z.normal_()|z.fill_(2)|z.copy_(w)|z.unsqueeze_(0)|z.tolist()|z.sum().item()|w.detach().copy_(z)"
    "|(w/z).sum()|(z/w).sum()|tg.where(z>0,w,z).requires_grad|w.pow(z)|F.linear(z.view(1,2),w.view(1,2))"
    "|F.linear(w.view(1,2),z.view(1,2))|F.softmax(w,0)*z|tg.maximum(w,z)|w.index_select(0,z.long()-3)|w[z.long()-3]"
    "|z.clone().requires_grad_().sum().requires_grad|F.layer_norm(w,(2,),z)|tg.dot(w,z)|w.masked_fill(z>3,0.)"
).split("|")
INSIDE = (
    "tg.ones(2)|w*2|w[:1]|w.detach()|w.view(2,1)|tg.ones(2).add_(1)|tg.ones(2,requires_grad=True)|tg.zeros(2)[:1]"
    "|tg.arange(3)|tg.randn(2)|tg.eye(2)|w.clone()|tg.cat([w,w])|tg.tensor(3.)|tg.ones(2).double()|w.t()|w.sum()"
).split("|")


def programs():
    yield from _retained()
    for use in USES:
        yield f"{NORMAL}; {INFERENCE}; {use}"
    for made in INSIDE:
        yield f"{NORMAL}; with tg.inference_mode(): r={made}; r.is_inference()"
    yield f"{NORMAL}; with tg.inference_mode(): v=w.detach(); v.add_(1); [w, v._version]"
    yield f"{NORMAL}; n=tg.ones(2); with tg.inference_mode(): n.add_(1); [n, n._version, n.is_inference()]"
    yield f"{INFERENCE}; with tg.inference_mode(): z.add_(1); z"
    yield f"{INFERENCE}; with tg.inference_mode(): z.requires_grad_(); z.requires_grad"
    yield "with tg.no_grad(): z=tg.ones(2); z.is_inference()"
    yield "with tg.inference_mode(False): z=tg.ones(2); z.is_inference()"
    yield "with tg.inference_mode(): l=nn.Linear(2,1); [p.is_inference() for p in l.parameters()]"
    yield "with tg.inference_mode(): l=nn.Linear(2,1); l(tg.ones(1,2,requires_grad=True))"


def _retained():
    start = "x=T([1.,2.],requires_grad=True); y=x*2"
    for write in WRITES:
        yield f"{start}; y.retain_grad(); {write}; {AFTER}"
        yield f"{start}; y.retain_grad(); y.retain_grad(); {write}; {AFTER}"
        yield f"{start}; {write}; y.retain_grad(); {AFTER}"
        yield f"{start}; h=[]; y.register_hook(h.append); {write}; (y*y).sum().backward(); [len(h), x.grad]"
        for view in VIEWS:
            yield f"{start}; v={view}; v.retain_grad(); {write}; v.sum().backward(); [v.grad, x.grad]"
    yield f"{start}; y.retain_grad(); y.sum().backward(retain_graph=True); y.sum().backward(); y.grad"
