"""The import prints 32 MiB and then provides a right sampler."""

from torch.utils.data import SequentialSampler as SequentialSampler

for _ in range(32):
    print("x" * (1 << 20))
