"""Calls of layers and functions with operands of wrong shapes and types, and the class and words of what is raised."""

#: nn layers (as text) by the shapes of inputs that they are called with; some of the calls are right.
LAYERS = {
    "Linear(3, 2)": ["()", "(2,)", "(4, 2)", "(3, 4)", "(0, 2)"],
    "Conv1d(3, 2, 2)": ["()", "(3,)", "(3, 1)", "(2, 5)", "(1, 2, 5)", "(1, 3, 1)", "(1, 1, 3, 5)"],
    "Conv2d(3, 2, 2)": ["()", "(3,)", "(3, 4)", "(2, 5, 5)", "(1, 2, 5, 5)", "(1, 3, 1, 5)", "(1, 1, 3, 5, 5)"],
    "ConvTranspose1d(3, 2, 2)": ["(3,)", "(2, 5)", "(1, 2, 5)", "(1, 1, 3, 5)"],
    "ConvTranspose2d(3, 2, 2)": ["(3, 4)", "(2, 5, 5)", "(1, 2, 5, 5)", "(1, 1, 3, 5, 5)"],
    "MaxPool1d(2)": ["()", "(3,)", "(2, 1)", "(1, 2, 1)", "(1, 1, 2, 4)"],
    "MaxPool2d(2)": ["()", "(3, 4)", "(2, 1, 4)", "(1, 2, 4, 1)", "(1, 1, 1, 4, 4)"],
    "AvgPool1d(2)": ["(3,)", "(2, 1)", "(1, 2, 1)", "(1, 1, 2, 4)"],
    "AvgPool2d(2)": ["(3, 4)", "(2, 1, 4)", "(1, 2, 4, 1)", "(1, 1, 1, 4, 4)"],
    "AdaptiveAvgPool1d(2)": ["()", "(3,)", "(1, 1, 3, 4)", "(2, 0)"],
    "AdaptiveAvgPool2d(2)": ["(3,)", "(3, 4)", "(1, 1, 1, 3, 4)", "(1, 2, 0, 3)"],
    "AdaptiveMaxPool1d(2)": ["(3,)", "(1, 1, 3, 4)"],
    "AdaptiveMaxPool2d(2)": ["(3, 4)", "(1, 1, 1, 3, 4)"],
    "BatchNorm1d(3)": ["()", "(3,)", "(2, 4)", "(2, 4, 5)", "(1, 3)", "(1, 3, 1)", "(2, 3, 4, 5)", "(0, 3)"],
    "BatchNorm2d(3)": ["(3,)", "(2, 3)", "(2, 3, 4)", "(2, 4, 5, 5)", "(1, 3, 1, 1)", "(1, 2, 3, 4, 5)"],
    "BatchNorm3d(3)": ["(2, 3)", "(2, 3, 4, 5)", "(1, 2, 4, 5, 6)", "(1, 3, 1, 1, 1)"],
    "BatchNorm1d(3).eval()": ["(3,)", "(2, 4)", "(2, 3, 4, 5)"],
    "BatchNorm1d(3, affine=False)": ["(2, 4)", "(1, 3)"],
    "LayerNorm(3)": ["()", "(2,)", "(2, 4)", "(3, 4)"],
    "LayerNorm((2, 3))": ["()", "(3,)", "(3, 2)", "(4, 3, 2)"],
    "RMSNorm(3)": ["()", "(2,)", "(2, 4)"],
    "Embedding(3, 2)": ["()", "(2,)"],
    "PReLU(3)": ["()", "(3,)", "(2, 4)", "(2, 4, 3)"],
    "GLU()": ["()", "(3,)", "(2, 3)"],
    "Softmax(2)": ["()", "(3,)", "(2, 3)"],
    "LogSoftmax(-3)": ["(3,)", "(2, 3)"],
    "Flatten()": ["()", "(3,)"],
    "Flatten(1, 5)": ["(2, 3)"],
    "Unflatten(1, (2, 2))": ["(2,)", "(2, 3)"],
    "ReflectionPad1d(2)": ["(3,)", "(2, 1)", "(2, 2)", "(1, 1, 1, 4)"],
    "ReflectionPad2d(2)": ["(3, 4)", "(1, 2, 4)", "(1, 2, 2, 4)"],
    "ZeroPad2d(-3)": ["(1, 2, 4, 4)"],
    "RNN(3, 2)": ["()", "(3,)", "(4, 2)", "(4, 1, 2)", "(1, 4, 1, 3)"],
    "LSTM(3, 2)": ["()", "(3,)", "(4, 2)", "(4, 1, 2)", "(1, 4, 1, 3)"],
    "GRU(3, 2)": ["(3,)", "(4, 2)", "(4, 1, 2)", "(1, 4, 1, 3)"],
    "RNNCell(3, 2)": ["()", "(2,)", "(4, 2)", "(1, 4, 3)"],
    "LSTMCell(3, 2)": ["()", "(2,)", "(4, 2)", "(1, 4, 3)"],
    "GRUCell(3, 2)": ["(2,)", "(4, 2)", "(1, 4, 3)"],
    "Dropout(0.5)": ["()"],
    "Unfold(2)": ["(3,)", "(2, 3, 4)", "(1, 2, 1, 4)"],
    "Fold((4, 4), 2)": ["(3,)", "(1, 3, 9)", "(1, 4, 8)"],
}  # fmt: skip
#: Losses by the shapes of input and target.
LOSSES = {
    "MSELoss()": ["(2,), (3,)", "(2, 3), (4, 3)"],
    "L1Loss()": ["(2,), (3,)"],
    "SmoothL1Loss()": ["(2,), (3,)"],
    "HuberLoss()": ["(2,), (3,)"],
    "BCELoss()": ["(2,), (3,)", "(2, 1), (2,)"],
    "BCEWithLogitsLoss()": ["(2,), (3,)", "(2, 1), (2,)"],
    "KLDivLoss(reduction='batchmean')": ["(2,), (3,)"],
    "CrossEntropyLoss()": ["(), ()", "(2, 3), (3,)", "(2, 3), (2, 4)", "(2, 3, 4), (2, 3)", "(3,), (2,)"],
    "NLLLoss()": ["(), ()", "(2, 3), (2, 3)"],
}
DTYPES = ["long", "double", "bool"]
#: Layers that are called with a right shape and another type.
TYPED = {
    "Linear(3, 2)": "(2, 3)", "Conv1d(3, 2, 2)": "(1, 3, 4)", "Conv2d(3, 2, 2)": "(1, 3, 4, 4)",
    "ConvTranspose1d(3, 2, 2)": "(1, 3, 4)", "MaxPool1d(2)": "(1, 3, 4)", "MaxPool2d(2)": "(1, 3, 4, 4)",
    "AvgPool1d(2)": "(1, 3, 4)", "AvgPool2d(2)": "(1, 3, 4, 4)", "AdaptiveAvgPool2d(2)": "(1, 3, 4, 4)",
    "BatchNorm1d(3)": "(2, 3)", "LayerNorm(3)": "(2, 3)", "RMSNorm(3)": "(2, 3)",
    "PReLU()": "(2, 3)", "GELU()": "(2, 3)", "SiLU()": "(2, 3)", "ELU()": "(2, 3)", "SELU()": "(2, 3)",
    "Softplus()": "(2, 3)", "LogSigmoid()": "(2, 3)", "Softmax(1)": "(2, 3)", "LogSoftmax(1)": "(2, 3)",
    "LeakyReLU()": "(2, 3)", "Hardtanh()": "(2, 3)", "Hardswish()": "(2, 3)", "Hardsigmoid()": "(2, 3)",
    "Mish()": "(2, 3)", "Tanh()": "(2, 3)", "Sigmoid()": "(2, 3)", "ReLU()": "(2, 3)", "GLU()": "(2, 4)",
    "Dropout(0.5)": "(2, 3)", "RNN(3, 2)": "(4, 1, 3)", "LSTM(3, 2)": "(4, 1, 3)", "GRU(3, 2)": "(4, 1, 3)",
    "LSTMCell(3, 2)": "(4, 3)", "Embedding(3, 2)": "(2,)",
}  # fmt: skip
CALLS = [
    "F.layer_norm(tg.tensor(1.0), ())", "F.layer_norm(tg.tensor(1.0), (1,))", "F.layer_norm(x, (2,), v)",
    "F.layer_norm(x, 3)", "F.layer_norm(x, (3,), tg.ones(2))", "F.layer_norm(x, (3,), None, tg.ones(2))",
    "tg.tensor(1.0).permute()", "tg.tensor(1.0).permute(0)", "x.permute()", "x.permute(0)", "x.permute(0, 0)",
    "x.permute(0, 5)", "x.view(4)", "x.view(-1, -1)", "x.view(-2, 3)", "x.reshape(4)", "x.transpose(0, 2)",
    "x.t().t().view(7)", "b.t()", "x.squeeze(3)", "x.unsqueeze(5)", "x.expand(3, 3)", "x.expand(3)", "x.repeat(2)",
    "x.flatten(1, 0)", "x.unflatten(1, (2, 2))", "x.chunk(0)", "x.split(0)", "x.split([1, 2])", "x.narrow(0, 1, 5)",
    "x.narrow(3, 0, 1)", "x.select(0, 5)", "x.select(3, 0)", "x.unbind(3)", "tg.cat([x, b])", "tg.cat([x, v])",
    "tg.cat([x, x], 3)", "tg.stack([x, v])", "tg.stack([])", "tg.cat([x, 1])", "tg.cat(x)", "x.index_select(0, i)",
    "x.index_select(3, j)", "x.index_select(0, v)", "x.gather(0, j)", "x.gather(0, x)", "x.gather(3, i)",
    "x.scatter(0, i, 'a')", "x.scatter(0, x, 1.0)", "x.scatter_add(0, j, x)", "x.masked_fill(x, 1.0)",
    "x.masked_fill(m, v)", "x.masked_select(x)", "x[5]", "x[0, 0, 0]", "x[v]", "x['a']", "x[m[0]]", "x.sum(3)",
    "x.mean(3)", "x.max(3)", "x.prod(3)", "x.std(3)", "x.argmax(3)", "x.sort(3)", "x.topk(5)", "x.topk(1, 3)",
    "x.cumsum(3)", "x.softmax(3)", "tg.softmax(x, 3)", "x.norm(dim=3)", "x.logsumexp(3)", "x.median(3)", "x.all(3)",
    "x.sum((0, 0))", "x.flip(3)", "x.roll(1, 3)", "tg.mm(x, x)", "tg.mm(x, v)", "tg.mv(x, tg.ones(2))",
    "tg.dot(v, tg.ones(2))", "tg.dot(x, x)", "tg.bmm(x, x)", "tg.bmm(b, b)", "x @ x", "x @ tg.ones(2)",
    "tg.matmul(x, tg.tensor(1.0))", "tg.addmm(x, x, x)", "tg.addmv(v, x, v)", "tg.baddbmm(b, b, b)", "tg.outer(x, v)",
    "tg.einsum('ij,jk', x, x)", "tg.einsum('ii', x)", "tg.trace(v)", "tg.diag(b)", "tg.triu(v)",
    "tg.linspace(0, 1, -1)", "tg.arange(0, 1, 0)", "tg.arange(1, 0)", "tg.eye(-1)", "tg.zeros(-1)",
    "tg.full((2,), 'a')", "tg.randint(0, 0, (2,))", "tg.randperm(-1)", "tg.multinomial(-v, 1)",
    "tg.multinomial(v, 5)", "tg.bernoulli(v + 1)", "tg.where(x, x, x)", "tg.where(m, x, v[:2])", "tg.clamp(x)",
    "tg.clamp(x, 'a')", "tg.lerp(x, v, i)", "x.add_(b)", "v.add_(x)", "j.add_(0.5)", "j.div_(2)", "j.mean()",
    "j.softmax(0)", "j.log_softmax(0)", "j.std()", "j.norm()", "m - m", "-m", "m.sum().log()", "x ** 'a'", "x & x",
    "~x", "x.long() << 1.5", "x.item()", "bool(x)", "len(tg.tensor(1.0))", "iter(tg.tensor(1.0))",
    "tg.tensor(1.0)[0]", "tg.tensor([[1, 2], [3]])", "x.backward()", "x.sum().backward()",
    "x.requires_grad_().numpy()", "j.requires_grad_()", "tg.ones(2, requires_grad=True).add_(1)",
    "tg.ones(2, requires_grad=True)[0].add_(1)", "tg.randn(2).to(tg.float33)", "x.to('a')", "x.type('a')",
    "F.one_hot(x)", "F.one_hot(-j)", "F.one_hot(j, 2)", "F.embedding(x, x)", "F.embedding(j, v)",
    "F.embedding(j + 5, x)", "F.dropout(x, 2.0)", "F.dropout(x, -1.0)", "F.pad(x, (1,))",
    "F.pad(x, (1, 1, 1, 1, 1, 1))", "F.pad(x, (1, 1), mode='reflect')", "F.pad(x, (1, 1), mode='a')",
    "F.cross_entropy(x, j)", "F.cross_entropy(x, j[:2] + 5)", "F.cross_entropy(x, j[:2].float())",
    "F.cross_entropy(x, v)", "F.nll_loss(x, j)", "F.nll_loss(x, v)", "F.binary_cross_entropy(x * 5, x)",
    "F.binary_cross_entropy(x, v)", "F.mse_loss(x, v[:2])", "F.mse_loss(j, j)", "F.l1_loss(j, j)",
    "F.smooth_l1_loss(x, x, beta=-1)", "F.huber_loss(x, x, delta=0)", "F.kl_div(j, j)",
    "F.mse_loss(x, x, reduction='a')", "F.cross_entropy(x, j[:2], reduction='a')", "F.gelu(x, approximate='a')",
    "F.glu(v)", "F.glu(x, 3)", "F.prelu(x, v[:2])", "F.prelu(x, j)", "F.softmax(x, 3)", "F.threshold(x, 0.1)",
    "F.linear(x, x[:, :2])", "F.linear(x, x, v)", "F.linear(x, b)", "F.conv1d(x, x)", "F.conv2d(b, b)",
    "F.conv1d(b, b[:, :1])", "F.max_pool1d(x, 5)", "F.max_pool2d(b, 0)", "F.max_pool2d(b, 2, padding=2)",
    "F.avg_pool1d(b, 2, padding=2)", "F.avg_pool2d(b, 0)", "F.normalize(j)", "F.cosine_similarity(x, v[:2])",
    "F.pairwise_distance(x, v[:2])", "F.batch_norm(x, None, None)", "F.batch_norm(x, v, v)",
    "F.batch_norm(x, v[:2], v[:2])", "F.batch_norm(x[:1], None, None, training=True)",
    "F.batch_norm(x, None, None, v[:2], training=True)", "F.scaled_dot_product_attention(x, b, b)",
    "F.scaled_dot_product_attention(b, b[..., :2], b)", "F.normalize(x, dim=3)", "tg.cdist(x, x[:, :2])",
    "tg.cdist(v, v)", "tg.isclose(x, x, rtol=-1)", "tg.cumsum(x)", "tg.add(x)", "tg.sum()", "tg.zeros()",
    "tg.manual_seed('a')", "x.add(1, 2, 3)", "x.sum(dim='a')", "x.foo", "tg.foo", "tg.nn.Foo", "F.foo", "tg.tensor()",
    "tg.stack(x, 'a')", "x.view('a')", "x.reshape(1.5)", "tg.meshgrid(x, v)", "tg.cartesian_prod(x)",
    "tg.repeat_interleave(x, -1)", "x.repeat_interleave(j, 0)", "x.unfold(0, 5, 1)", "x.unfold(0, 1, 0)",
    "x.as_strided((5,), (9,))", "tg.take_along_dim(x, j, 0)", "x.take(j + 50)", "x.index_add(0, j, x)",
    "x.index_copy(0, j, x)", "x.index_fill(0, i, 1.0)", "x.index_add(0, v, x)", "x.diagonal(0, 0, 0)",
    "x.bernoulli(2.0)", "tg.normal(0.0, -1.0, (2,))", "x.uniform_(1, 0)", "x.normal_(0, -1)", "x.exponential_(-1.0)",
    "x.random_(5, 2)", "nn.Linear(2)", "nn.Linear(-1, 2)", "nn.Conv1d(3, 2, 0)", "nn.Conv1d(3, 2, 2, groups=2)",
    "nn.Conv2d(3, 2, 2, padding_mode='a')", "nn.Conv1d(3, 2, 2, padding='a')",
    "nn.Conv1d(3, 2, 2, stride=2, padding='same')", "nn.Dropout(2)", "nn.Embedding(3, 2, padding_idx=5)",
    "nn.MultiheadAttention(3, 2)", "nn.LSTM(3, 2, dropout=2)", "nn.LSTM(3, 0)", "nn.LSTM(3, 2, num_layers=0)",
    "nn.RNN(3, 2, nonlinearity='a')", "nn.Module()(x)", "nn.Sequential(1)", "nn.ModuleList([1])",
    "nn.ModuleDict({'a': 1})", "nn.ParameterList([1])[0]", "nn.Sequential()[0]", "nn.ModuleList()[0]",
    "nn.Parameter(j)", "nn.Parameter(1)", "nn.init.normal_(1)", "nn.init.xavier_uniform_(v)",
    "nn.init.kaiming_uniform_(v)", "nn.init.orthogonal_(v)", "nn.init.calculate_gain('a')",
    "nn.init.kaiming_normal_(x, mode='a')", "nn.init.eye_(v)", "nn.Linear(3, 2).load_state_dict({})",
    "nn.Linear(3, 2).load_state_dict({'weight': x, 'bias': v, 'a': v})", "nn.Linear(3, 2).foo",
    "nn.Linear(3, 2).get_parameter('a')", "nn.Linear(3, 2).get_submodule('a')",
    "nn.Linear(3, 2).register_buffer('weight', v)", "nn.Linear(3, 2).register_parameter('a.b', None)",
    "nn.Linear(3, 2).register_parameter('a', v)", "nn.Linear(3, 2).register_buffer('a', 1)",
    "nn.Linear(3, 2).add_module('a', 1)", "nn.Linear(3, 2).add_module('', nn.ReLU())",
    "nn.Linear(3, 2).register_module('a.b', nn.ReLU())", "nn.Linear(3, 2)()", "nn.utils.clip_grad_norm_(1, 1)",
    "nn.utils.rnn.pad_sequence([])", "nn.utils.rnn.pad_sequence([x, b])",
    "nn.utils.rnn.pack_padded_sequence(b, [1, 2, 3])", "nn.utils.rnn.pack_padded_sequence(b, [3, 2])",
    "nn.utils.parameters_to_vector(1)", "tg.optim.SGD([x], lr=-1)", "tg.optim.SGD([], lr=0.1)",
    "tg.optim.SGD(x, lr=0.1)", "tg.optim.SGD([1], lr=0.1)", "tg.optim.SGD([x], lr=0.1, momentum=-1)",
    "tg.optim.SGD([x], lr=0.1, nesterov=True)", "tg.optim.SGD([x], lr=0.1, weight_decay=-1)",
    "tg.optim.Adam([x], betas=(1.0, 0.9))", "tg.optim.Adam([x], eps=-1)", "tg.optim.Adam([x], lr=-1)",
    "tg.optim.Adam([x.requires_grad_() * 2])", "tg.optim.Adam([x, x])", "tg.autograd.grad(x.sum(), x)",
    "tg.autograd.grad(x.requires_grad_(), x)",
    "tg.autograd.grad(x.requires_grad_().sum(), tg.ones(2, requires_grad=True))", "tg.autograd.backward(1)",
]  # fmt: skip


def expressions():
    """All calls, as Python text in `tg`, `nn`, `F` and the operands."""
    found = [f"nn.{layer}(tg.ones({shape}))" for layer, shapes in LAYERS.items() for shape in shapes]
    for loss, pairs in LOSSES.items():
        for pair in pairs:
            shapes = eval(f"({pair},)")
            found.append(f"nn.{loss}(tg.ones({shapes[0]}) * 0.5, tg.ones({shapes[1]}))")
    found += [f"nn.{layer}(tg.ones({shape}).{dtype}())" for layer, shape in TYPED.items() for dtype in DTYPES]
    return found + CALLS


def operands(tg):
    """What the calls name."""
    x = tg.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    return {
        "tg": tg, "nn": tg.nn, "F": tg.nn.functional, "x": x, "v": tg.ones(3) * 0.5, "b": tg.ones(2, 3, 4),
        "i": tg.tensor([[0, 1, 0], [1, 0, 1]]), "j": tg.tensor([0, 1, 1]), "m": x > 0.3,
    }  # fmt: skip


def outcome(tg, expression):
    """[class, message] of what is raised, None where nothing is."""
    tg.manual_seed(0)
    try:
        eval(expression, operands(tg))
    except Exception as error:  # whatever is raised is the answer
        return [type(error).__name__, str(error)]
    return None


def outcomes(tg):
    """The outcome of each call, by its text."""
    return {expression: outcome(tg, expression) for expression in expressions()}


def make(tg):
    """What is stored: the class, and the first line of the message up to its first numbers that are a library's own."""
    found = {expression: result for expression, result in outcomes(tg).items() if result is not None}
    return {expression: [kind, key_phrase(message)] for expression, (kind, message) in found.items()}


def key_phrase(message):
    """The beginning of a message: its first line, without the library's name."""
    return plain(message).split("\n")[0][:60].rstrip(" .")


def plain(message):
    """A message without the library's name."""
    return message.replace("torch.", "").replace("tracegrad.", "")
