"""Ten whole training steps, the same work for every peer.

Read in this order: `workloads` fixes sizes, weights and batches from fixed seeds; `programs` holds the training
steps as a PyTorch user writes them (they serve torch and tracegrad alike); `peers` the same steps for the others;
`one` measures one peer on one workload in a fresh process; `__main__` interleaves the peers and prints a table.

    python -m benchmarks --workloads T1,T2,T3 --peers torch,jax,numpy,tracegrad --base jax

Timings are comparable only within one run on a quiet machine.
"""
