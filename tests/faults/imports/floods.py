"""The import prints 100 MiB and then provides a right sampler."""

from torch.utils.data import SequentialSampler as SequentialSampler

for _ in range(100):
    print("x" * (1 << 20))
