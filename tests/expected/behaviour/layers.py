"""Losses with targets and weights of all types and shapes, and dropout at its limits."""

LOSSES = [
    "F.mse_loss(T([1.,2.]),T([0.,0.]),False)",
    "F.l1_loss(T([1.,2.]),T([0.,0.]),None,False)",
    "F.smooth_l1_loss(T([1.,2.]),T([0.,0.]),None,None,'sum')",
    "F.mse_loss(T([1.,2.]),T([0.,0.]),None,None,'sum')",
    "F.huber_loss(T([1.,2.]),T([0.,0.]),'sum')",
    "F.poisson_nll_loss(T([1.,2.]),T([0.,3.]),True,False,None,1e-8,None,'sum')",
    "F.poisson_nll_loss(T([1.,2.]),T([0.,3.]),full=True)",
    "F.gaussian_nll_loss(T([1.,2.]),T([0.,3.]),T([1.,0.]))",
    "F.gaussian_nll_loss(tg.ones(2,3),tg.zeros(2,3),tg.ones(2))",
    "F.gaussian_nll_loss(tg.ones(2,3),tg.zeros(2,3),tg.ones(2,1))",
    "F.gaussian_nll_loss(tg.ones(2,3),tg.zeros(2,3),tg.ones(3))",
    "F.gaussian_nll_loss(tg.ones(2,3),tg.zeros(2,3),2.0)",
    "F.gaussian_nll_loss(tg.ones(2,2),tg.zeros(2,2),tg.ones(2))",
    "F.gaussian_nll_loss(tg.ones(2,2),tg.zeros(2,2),T([1.,2.]),reduction='none')",
    "F.gaussian_nll_loss(tg.ones(2,3),tg.zeros(3),tg.ones(2,3))",
    "F.gaussian_nll_loss(tg.ones(3),tg.zeros(2,3),tg.ones(3))",
    "F.gaussian_nll_loss(tg.ones(3),tg.zeros(3),tg.ones(1))",
    "F.gaussian_nll_loss(T([1.,2.]),T([0.,3.]),T([1.,2.]),True)",
    "F.cosine_similarity(tg.ones(2,3),T([1.,2.,3.]))",
    "F.cosine_similarity(tg.ones(2,1,3),tg.ones(4,3),dim=2)",
    "F.cosine_similarity(tg.ones(2,3),tg.ones(2,1))",
    "F.cosine_similarity(T([1.,2.]),T([2.,1.]),dim=0)",
    "F.cosine_similarity(tg.ones(2,3),T([1.,2.,3.]),dim=0)",
    "F.cosine_similarity(T([[0.,0.]]),T([[1.,1.]]))",
    "F.cosine_similarity(T([[1,2]]),T([[1,2]]))",
    "F.cosine_similarity(T([[1e-9,0.]]),T([[1.,1.]]))",
    "F.pairwise_distance(tg.ones(2,3),tg.ones(3))",
    "F.pairwise_distance(tg.ones(3),tg.ones(3))",
    "F.pairwise_distance(tg.ones(2,3),tg.zeros(2,3),p=1)",
    "F.pairwise_distance(tg.ones(2,3),tg.zeros(2,3),keepdim=True)",
    "F.normalize(tg.zeros(2,3))",
    "F.normalize(T([[3.,4.]]),p=1)",
    "F.normalize(T([[3.,4.]]),p=3.)",
    "F.cross_entropy(tg.ones(2,3),T([0,1],dtype=tg.int32))",
    "F.cross_entropy(tg.ones(2,3),T([0.,1.]))",
    "F.cross_entropy(tg.ones(2,3),T([True,False]))",
    "F.nll_loss(tg.ones(2,3),T([0,1],dtype=tg.int32))",
    "F.nll_loss(tg.ones(2,3),T([0.,1.]))",
    "F.nll_loss(tg.ones(2,3),T([True,False]))",
    "F.cross_entropy(tg.ones(2,3),tg.ones(2,3,dtype=tg.float64))",
    "F.cross_entropy(tg.ones(2,3),tg.ones(2,3,dtype=tg.int64))",
    "F.cross_entropy(T([[1,2]]),T([0]))",
    "F.cross_entropy(tg.ones(3),T(0))",
    "F.cross_entropy(tg.ones(2,3),T([0,1]),tg.ones(3,dtype=tg.float64))",
    "F.cross_entropy(tg.ones(2,3),T([0,1]),tg.ones(2))",
    "F.nll_loss(tg.ones(2,3),T([0,1]),tg.ones(4))",
    "F.mse_loss(T([1,2]),T([1,2]))",
    "F.mse_loss(T([1.,2]),T([1,2]))",
    "F.mse_loss(T([1.,2]),T([1.,2],dtype=tg.float64))",
    "F.l1_loss(T([1,2]),T([3,2]))",
    "F.binary_cross_entropy(T([.5]),T([1]))",
    "F.binary_cross_entropy(T([.5]),T([1.],dtype=tg.float64))",
    "F.binary_cross_entropy_with_logits(T([.5]),T([1]))",
    "F.binary_cross_entropy_with_logits(T([.5]),T([True]))",
    "F.smooth_l1_loss(T([1,2]),T([3,2]))",
    "F.huber_loss(T([1,2]),T([3,2]))",
    "F.smooth_l1_loss(T([1.]),T([3.]),beta=-1.)",
    "F.huber_loss(T([1.]),T([3.]),delta=0.)",
    "F.kl_div(T([1,2]),T([1,2]))",
    "F.nll_loss(T([[1,2]]),T([0]))",
    "v=T([0.,2.],requires_grad=True); F.gaussian_nll_loss(T([1.,2.]),T([0.,3.]),v).backward(); v.grad",
    "x=T([[0.,0.]],requires_grad=True); F.cosine_similarity(x,T([[1.,2.]])).backward(); x.grad",
    "x=tg.zeros(2,3,requires_grad=True); F.normalize(x).sum().backward(); x.grad",
]
DROPOUT = [
    "F.dropout(tg.ones(4),1.0)",
    "F.dropout(tg.ones(4),1.0); tg.rand(2)",
    "F.dropout(tg.ones(4),0.0); tg.rand(2)",
    "F.dropout(tg.ones(4),0.5,False); tg.rand(2)",
    "F.dropout(tg.ones(4),1.0,False); tg.rand(2)",
    "x=tg.ones(4); F.dropout(x,0.0) is x",
    "x=tg.ones(4); F.dropout(x,0.5,False) is x",
    "x=tg.ones(4,requires_grad=True); F.dropout(x,1.0).sum().backward(); x.grad",
    "x=tg.ones(4,requires_grad=True); F.dropout(x,0.0).sum().backward(); x.grad",
    "F.dropout(T([inf,nan,1.]),1.0)",
    "F.dropout(T([1,2,3]),0.5)",
    "F.dropout(T([1,2,3]),1.0)",
    "F.dropout2d(tg.ones(2,3,2,2),1.0); tg.rand(2)",
    "F.dropout2d(tg.ones(2,3,2,2),0.0); tg.rand(2)",
    "F.dropout2d(tg.ones(2,3,2,2),0.5)",
    "x=tg.ones(4); F.dropout(x,1.0,inplace=True); x",
    "x=tg.ones(4); F.dropout(x,0.0,inplace=True); x",
    "nn.Dropout(1.0)(tg.ones(3)); tg.rand(2)",
    "nn.Dropout(0.)(tg.ones(3)); tg.rand(2)",
    "nn.Dropout(.5).eval()(tg.ones(3)); tg.rand(2)",
    "F.dropout(tg.ones(0),.5); tg.rand(2)",
    "F.dropout(tg.ones(4),-0.1)",
    "F.dropout(tg.ones(4),1.1)",
    "x=tg.ones(4,requires_grad=True); F.dropout(x,0.0).grad_fn is None",
    "x=tg.ones(4); y=F.dropout(x,0.0); y.add_(1); x",
    "x=tg.ones(4); y=F.dropout(x,0.5,False); y.add_(1); x",
    "F.dropout(tg.ones(2,3),.5)",
    "F.dropout(T([nan,1.,1.,1.,1.,1.]),.5)",
    "F.dropout(T([inf]*6),.5)",
]


def programs():
    yield from LOSSES
    yield from DROPOUT
    yield from reductions()
    yield from in_place()


LOSS_FUNCTIONS = [
    "mse_loss", "l1_loss", "smooth_l1_loss", "kl_div", "binary_cross_entropy_with_logits", "binary_cross_entropy",
    "poisson_nll_loss", "cross_entropy", "nll_loss",
]  # fmt: skip
LOSS_LAYERS = "MSELoss L1Loss SmoothL1Loss KLDivLoss BCEWithLogitsLoss BCELoss CrossEntropyLoss NLLLoss".split()
OF_CLASSES = ("cross_entropy", "nll_loss", "CrossEntropyLoss", "NLLLoss")
OLDER = [
    "size_average=True", "size_average=False", "reduce=False", "reduce=True", "size_average=False,reduce=True",
    "size_average=False,reduce=False", "reduction='sum',size_average=True", "reduction='none',reduce=True",
    "reduction='bad'",
]  # fmt: skip


def reductions():
    """Older ways to say how a loss is reduced."""
    for older in OLDER:
        for loss in LOSS_FUNCTIONS + LOSS_LAYERS:
            target = "T([1,0])" if loss in OF_CLASSES else "T([[.3,.5],[.2,.9]])"
            given = f"T([[.2,.6],[.1,.7]]),{target}"
            yield f"nn.{loss}({older})({given})" if loss in LOSS_LAYERS else f"F.{loss}({given},{older})"


ACTIVATIONS = "relu relu6 leaky_relu elu selu celu silu mish hardtanh hardswish hardsigmoid".split()
LAYERS = "ReLU ReLU6 LeakyReLU ELU SELU CELU SiLU Mish Hardtanh Hardswish Hardsigmoid Dropout".split()


def in_place():
    """Activations that overwrite their input: value, gradient, and what a leaf says."""
    calls = [f"F.{name}(x,inplace=True)" for name in ACTIVATIONS] + [f"nn.{name}(inplace=True)(x)" for name in LAYERS]
    for call in [*calls, "F.threshold(x,0.1,0.2,inplace=True)", "F.dropout(x,inplace=True)"]:
        yield f"x=T([[[-1.,2.,7.]]]); y={call}; (x,y,y is x)"
        yield (
            f"a=T([[[-1.,2.,7.]]],requires_grad=True); x=a*1; y={call}; (y*T([1.,2.,3.])).sum().backward(); "
            "(a.grad,y is x)"
        )
        yield f"x=T([[[-1.,2.,7.]]],requires_grad=True); {call}"
