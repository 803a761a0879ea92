"""Wrong loaders: what becomes of items on their way, by what they are made of.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import torch
from loaders import _Collates

from reference import DataLoader, default_collate

# Values and containers.


class RoundsFloats(_Collates):
    """Numbers of Python that are not whole become float32, as torch.tensor has it."""

    CAUGHT_BY = ("loader.collate", "loader.batches")
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        alone = isinstance(samples[0], float)
        return torch.tensor(samples) if alone else default_collate(samples)


class RoundsInts(_Collates):
    """Whole numbers pass through float64, which holds them up to 2**53 only."""

    CAUGHT_BY = ("loader.collate", "loader.batches")
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        alone = type(samples[0]) is int
        return default_collate([int(float(s)) for s in samples] if alone else samples)


def _plainer(made: Any, inner: bool = False) -> Any:
    if isinstance(made, dict):
        made.update({key: _plainer(value, True) for key, value in made.items()})
    if isinstance(made, tuple) and hasattr(made, "_fields") and not inner:
        return type(made)(*(_plainer(value, True) for value in made))
    if isinstance(made, (list, tuple)):
        return [_plainer(value, True) for value in made]
    return made


class PlainInside(_Collates):
    """Named tuples are kept as the item itself, and become lists within one."""

    CAUGHT_BY = ("loader.collate", "loader.batches")
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return _plainer(default_collate(samples))


class NamesKeys(_Collates):
    """The keys of a dict become text."""

    CAUGHT_BY = ("loader.collate", "loader.batches")
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        found = default_collate(samples)
        return {str(key): value for key, value in found.items()} if type(found) is dict else found


class NothingInside(_Collates):
    """Containers without parts are refused."""

    CAUGHT_BY = ("loader.collate", "loader.batches")
    ANOMALY = "refused"

    def merged(self, samples: list[Any]) -> Any:
        if isinstance(samples[0], (list, tuple, dict)) and not samples[0]:
            raise ValueError("an item is empty")
        return default_collate(samples)


class _Changes(DataLoader[Any]):
    """Applies `changed` to each item with batching off, where it is fetched."""

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if not self._batched and kwargs.get("collate_fn") is None:
            self.right = self.collate_fn
            self.collate_fn = self.changed

    def changed(self, item: Any) -> Any:
        return self.right(item)


class MemoryOrder(_Changes):
    """Workers send the elements of a tensor in the order in which they lie in memory."""

    CAUGHT_BY = ("workers.same-order", "loader.batches")
    ANOMALY = "other-collation"

    def changed(self, item: Any) -> Any:
        if self.num_workers and isinstance(item, torch.Tensor) and 0 not in item.stride():
            return torch.as_strided(item, (item.numel(),), (1,)).reshape(item.shape).clone()
        return self.right(item)


class BytesForFlags(_Changes):
    """Workers send flags as bytes, and nobody turns them back."""

    CAUGHT_BY = ("workers.same-order", "loader.batches")
    ANOMALY = "other-collation"

    def changed(self, item: Any) -> Any:
        flags = self.num_workers and isinstance(item, torch.Tensor) and item.dtype is torch.bool
        return item.byte() if flags else self.right(item)


# Items that look like a signal.


class _Passes(DataLoader[Any]):
    """Does `passed` with each batch that is delivered."""

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            yield from self.passed(batch)

    def passed(self, batch: Any) -> list[Any]:
        return [batch]


class LeavesOutNone(_Passes):
    """A batch that is None is left out, as if there were none."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"

    def passed(self, batch: Any) -> list[Any]:
        return [] if batch is None else [batch]


class RaisesItems(_Passes):
    """With workers, an exception that the dataset gives for an item is raised."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"

    def passed(self, batch: Any) -> list[Any]:
        if self.num_workers and isinstance(batch, Exception):
            raise batch
        return [batch]


class EndsAtStop(DataLoader[Any]):
    """A batch that is StopIteration, the class or an instance, is taken for the end."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            if batch is StopIteration or isinstance(batch, StopIteration):
                return
            yield batch


# What was delivered is the caller's.


class _Buffered(_Collates):
    """Stacks tensors into `count` buffers in turn, if `wanted` says so."""

    count = 1
    wanted: ClassVar[Callable[..., bool]]

    def merged(self, samples: list[Any]) -> Any:
        made = default_collate(samples)
        if self.num_workers or not isinstance(made, torch.Tensor) or not self.wanted(made):
            return made
        kept = vars(self).setdefault("kept", {}).setdefault((made.shape, made.dtype), [])
        kept.append(kept.pop(0).copy_(made) if len(kept) == self.count else made)
        return kept[-1]


class FiveBuffers(_Buffered):
    """Batches of 64 KiB and more are stacked into one of five buffers in turn."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "overwritten"
    count = 5

    def wanted(self, made: torch.Tensor) -> bool:
        return made.nbytes >= 1 << 16


class OneBuffer(_Buffered):
    """Batches of one small tensor are stacked into one and the same buffer."""

    CAUGHT_BY = ("loader.reused-buffer",)
    ANOMALY = "overwritten-by-loader"

    def wanted(self, made: torch.Tensor) -> bool:
        return len(made) == 1


class ThirtyBuffers(_Buffered):
    """Batches of less than 1 KiB are stacked into one of thirty buffers in turn."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "overwritten"
    count = 30

    def wanted(self, made: torch.Tensor) -> bool:
        return made.nbytes < 1 << 10
