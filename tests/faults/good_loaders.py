"""Right loaders that work unlike the reference: none of them may be accused of anything.

They differ in what `spec/loader.md` leaves free: when and in which order items are fetched, copies,
the types of collated numbers, and datasets without a length.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import IterableDataset

from reference import DataLoader, default_collate


class _Kept:
    """A pass that is over before it is asked for: its batches and errors, in order."""

    def __init__(self, right: Iterator[Any]) -> None:
        self.outcomes: list[tuple[Any, Exception | None]] = []
        while True:
            try:
                self.outcomes.append((next(right), None))
            except StopIteration:
                break
            except Exception as error:
                self.outcomes.append((None, error))
        self.outcomes.reverse()

    def __iter__(self) -> _Kept:
        return self

    def __next__(self) -> Any:
        if not self.outcomes:
            raise StopIteration
        batch, error = self.outcomes.pop()
        if error is not None:
            raise error
        return batch


class Eager(DataLoader[Any]):
    """Without workers, a map-style dataset is read as a whole when the pass begins."""

    def __iter__(self) -> Iterator[Any]:
        right = super().__iter__()
        return right if self.num_workers or self._iterable else _Kept(right)


class OwnTaste(DataLoader[Any]):
    """Tuples stay tuples, strings stand in tuples, keys are sorted, floats that fit are float32."""

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.collate_fn is default_collate:
            self.collate_fn = _collated


def _collated(samples: list[Any]) -> Any:
    first = samples[0]
    if type(first) is tuple:
        return tuple(map(_collated, zip(*samples, strict=True)))
    if type(first) is dict:
        return {key: _collated([sample[key] for sample in samples]) for key in _turned(first)}
    if isinstance(first, (str, bytes)):
        return tuple(samples)
    if isinstance(first, list):
        return [_collated(list(part)) for part in zip(*samples, strict=True)]
    if type(first) is float:
        single = torch.tensor(samples, dtype=torch.float32)
        return single if single.tolist() == samples else torch.tensor(samples, dtype=torch.float64)
    return default_collate(samples)


def _turned(keys: Any) -> list[Any]:
    return sorted(keys, key=repr, reverse=True)


class _Backwards:
    """Batches of indices, each in reverse order."""

    def __init__(self, batches: Any) -> None:
        self.batches = batches

    def __len__(self) -> int:
        return len(self.batches)

    def __iter__(self) -> Iterator[Any]:
        return (list(batch)[::-1] for batch in self.batches)


class _Restores:
    """Collates what was fetched in reverse order."""

    def __init__(self, collate: Any) -> None:
        self.collate = collate

    def __call__(self, samples: list[Any]) -> Any:
        return self.collate(samples[::-1])


class LastFirst(DataLoader[Any]):
    """The items of a batch are fetched in reverse order, and delivered in the right one."""

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self._batched and not self._iterable:
            self.collate_fn = _Restores(self.collate_fn)

    def _draws(self) -> Any:
        drawn = super()._draws()
        return _Backwards(drawn) if self._batched and not self._iterable else drawn


class ReadsOn(DataLoader[Any]):
    """Without workers, a dataset without a length is read in order until there is an IndexError."""

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        own = not {"sampler", "batch_sampler", "shuffle", "num_workers"} & set(kwargs)
        unsized = not isinstance(dataset, IterableDataset) and not hasattr(dataset, "__len__")
        self.reads = own and unsized and hasattr(dataset, "__getitem__")
        if self.reads:
            kwargs["sampler"] = []
        super().__init__(dataset, *args, **kwargs)

    def __len__(self) -> int:
        if self.reads:
            raise TypeError("the dataset has no length")
        return super().__len__()

    def __iter__(self) -> Iterator[Any]:
        return self._read() if self.reads else super().__iter__()

    def _read(self) -> Iterator[Any]:
        items = iter(self.dataset)
        if not self._batched:
            yield from map(self.collate_fn, items)
        while batch := list(itertools.islice(items, self.batch_size)):
            yield self.collate_fn(batch)
