"""``tracegrad.distributed``: a process group of one process, which is all that there can be.

With one process every collective function has its one operand as result. A group of more processes is refused.
"""

# ruff: noqa: F401 (what is imported is offered)

from __future__ import annotations

from ..answers import answering
from .collectives import (
    Work,
    all_gather,
    all_gather_into_tensor,
    all_reduce,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    irecv,
    isend,
    monitored_barrier,
    recv,
    reduce,
    reduce_scatter,
    reduce_scatter_tensor,
    scatter,
    send,
)
from .groups import (
    Backend,
    GroupMember,
    ProcessGroup,
    ReduceOp,
    destroy_process_group,
    get_backend,
    get_default_backend_for_device,
    get_global_rank,
    get_group_rank,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    group,
    init_process_group,
    is_initialized,
    new_group,
    reduce_op,
)
from .objects import all_gather_object, broadcast_object_list, gather_object, scatter_object_list

_all_gather_base, _reduce_scatter_base = all_gather_into_tensor, reduce_scatter_tensor

is_available = answering("is_available", True, "True.")
is_gloo_available = answering("is_gloo_available", True, "True, as far as one process goes.")
is_nccl_available, is_mpi_available, is_ucc_available, is_torchelastic_launched, is_xccl_available = (
    answering(name, False, "False.")
    for name in (
        "is_nccl_available", "is_mpi_available", "is_ucc_available", "is_torchelastic_launched", "is_xccl_available",
    )
)  # fmt: skip
