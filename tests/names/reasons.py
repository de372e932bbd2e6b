"""Why names of PyTorch's are absent, and why of some that are there nothing is asked: names and a reason each."""

from __future__ import annotations

from fnmatch import fnmatchcase

from tracegrad.tracing.unknown_names import INSTEAD

PRIVATE = "a helper of PyTorch's own modules, which is no part of its documentation"
PIPES = "part of data pipes, which are not here"
REMOVED = "removed from PyTorch: calling it raises"
MEMORY = "about the memory of PyTorch's tensors; numpy has that of these"

#: By place and name; what users are told of others is in `tracing.unknown_names`.
ABSENT = {
    **dict.fromkeys(
        "BroadcastingList1 BroadcastingList2 BroadcastingList3 TYPE_CHECKING assert_int_or_pair boolean_dispatch "
        "reproducibility_notes sparse_support_notes tf32_notes GRID_SAMPLE_INTERPOLATION_MODES "
        "GRID_SAMPLE_PADDING_MODES common_notes debug_unwrap swap_in_optimizer_params_and_state".split(),
        PRIVATE,
    ),
    **dict.fromkeys(
        "DataChunk argument_validation guaranteed_datapipes_determinism non_deterministic runtime_validation "
        "runtime_validation_disabled".split(),
        PIPES,
    ),
    **dict.fromkeys("reinforce resize resize_as".split(), REMOVED),
    **dict.fromkeys("const_data_ptr dim_order is_set_to storage_type".split(), MEMORY),
    **dict.fromkeys("index name volatile".split(), "not documented, and nothing to compute with"),
    "output_nr": "which result of its node a tensor is: nodes here tell it of their edges, `next_functions`",
    "grad_dtype": "gradients have the dtype of their tensors",
    "map2_": "not documented: calls Python for each element; map_() takes one other tensor",
    "module_load": "for subclasses that are swapped while a module loads; load_state_dict() copies",
    "LinearCrossEntropyOptions": "new in 2.13 and a prototype",
    "rearrange": "of PyTorch's first-class dimensions; the package einops works with these tensors",
    "enforce_grad_layout_policy": "about strides of gradients, which follow those of the parameters here",
}


def absence(name: str) -> str:
    """Why a name is absent or what to use, "" if nobody has said."""
    return ABSENT.get(name) or INSTEAD.get(name, "")


TYPES = "a class of types or of what they are told apart by"
SETTINGS = "a setting, or what tells it"
RANDOM = "a generator and its state"
FILES = "stores and loads"
RECORDING = "about what is recorded, not about numbers"
DATA = "makes batches, outside of steps"
OTHERS = "about a tensor's memory, device and kind"
BASES = "a base class, which programs build on"
FORWARD = "forward mode, in whose levels `python -m tests.database --mode forward` asks the operators"

#: By reason: patterns of ``place.name`` whose numbers no database and no sample asks.
UNASKED = {
    FORWARD: "torch.autograd.forward_ad.*",
    TYPES: "torch.*Tensor torch.Size torch.device torch.dtype torch.layout torch.memory_format torch.typename "
    "torch.is_storage torch.nn.functional.Tensor torch.fft.Tensor torch.linalg.LinAlgError torch.Tensor.layout "
    "torch.Tensor.device torch.autograd.Variable torch.autograd.variable torch.nn.factory_kwargs",
    SETTINGS: "torch.get_* torch.set_* torch.is_*_enabled torch.autocast_*crement_nesting torch.*deterministic* "
    "torch.clear_autocast_cache torch.GradScaler torch.autograd.set_* torch.autograd.detect_anomaly "
    "torch.*_anomaly_*enabled",
    RANDOM: "torch.Generator torch.default_generator torch.initial_seed torch.manual_seed torch.seed",
    FILES: "torch.save torch.load torch.from_numpy torch.frombuffer torch.Tensor.numpy",
    RECORDING: "torch.compile torch.cond torch.inference_mode torch.autograd.inference_mode torch.autograd.Function "
    "torch.autograd.gradcheck torch.autograd.gradgradcheck torch.Tensor.grad torch.Tensor.grad_fn "
    "torch.Tensor.output_nr torch.Tensor.re*grad torch.Tensor.retains_grad "
    "torch.Tensor.register_post_accumulate_grad_hook",
    DATA: "torch.utils.data.*",
    OTHERS: "torch.Tensor.cuda torch.Tensor.data_ptr torch.Tensor.get_device torch.Tensor.is_* torch.Tensor.pin_memory "
    "torch.Tensor.record_stream torch.Tensor.share_memory_ torch.Tensor.set_ torch.Tensor.storage "
    "torch.Tensor.untyped_storage torch.empty_permuted torch.is_distributed",
    "sparse tensors, whose tests have programs of their own": "torch.Tensor.sparse_mask torch.Tensor.to_sparse",
    BASES: "torch.nn.Container torch.nn.Module torch.nn.RNNBase torch.nn.RNNCellBase torch.nn.Uninitialized* "
    "torch.nn.DataParallel torch.optim.Optimizer torch.optim.lr_scheduler.LRScheduler torch.distributions.Distribution "
    "torch.distributions.ExponentialFamily torch.distributions.Transform torch.distributions.register_kl",
    "it is told the loss, which another library would have to make first": "*.ReduceLROnPlateau",
    "PyTorch's old name of the function with an underscore or another, which warns": "torch.nn.init.[!_]* "
    "torch.nn.utils.clip_grad_norm torch.linalg.* torch.Tensor.eig torch.Tensor.lstsq torch.Tensor.solve "
    "torch.Tensor.symeig",
    "changes modules in place": "torch.nn.utils.convert_* torch.func.replace_all_*",
    "a prototype of PyTorch's": "*.linear_cross_entropy",
    PRIVATE: "torch.nn.functional.handle_torch_function",
}


def unasked(path: str) -> str:
    """Why nothing is asked of the name at that path, "" if nobody has said."""
    return next((why for why, of in UNASKED.items() if any(fnmatchcase(path, p) for p in of.split())), "")


FLOAT32_SLOPE = "first: PyTorch rounds a constant of the derivative to float32 in float64, too: wrong by 2e-8"
TRIGAMMA = "second: PyTorch's trigamma is wrong by 5e-10; tracegrad agrees with SciPy to 1e-15"
#: Why samples are not right, by path.
DIFFERENCES = {
    "torch.celu": FLOAT32_SLOPE,
    "torch.celu_": FLOAT32_SLOPE,
    "torch.spmm": "second: PyTorch's is not that of the same product with a dense matrix; tracegrad's is",
    "torch.func.linearize": "first: PyTorch's result has no derivative by the point it is linear at; tracegrad's has",
    "torch.distributions.Chi2": TRIGAMMA,
    "torch.distributions.Dirichlet": TRIGAMMA,
    "torch.distributions.LKJCholesky": TRIGAMMA,
    "torch.distributions.VonMises": "values: PyTorch's Bessel polynomial is wrong by 3e-8; tracegrad agrees with SciPy "
    "to 1e-15",
}
