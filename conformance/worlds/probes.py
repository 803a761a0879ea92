"""Inner samplers under the suite's control. Each shows one thing that a candidate may get wrong."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.data import BatchSampler, SequentialSampler

from conformance.recipes import part
from conformance.worlds.counting import Counting, Unsized
from conformance.worlds.mishaps import leaked
from conformance.worlds.random_probes import (
    LateRandom,
    NumpyRandom,
    PythonRandom,
    StepRandom,
    TorchRandom,
    TorchUnsized,
)

FAR = 1_000_000
"""How far an endless sampler may be read before it is taken that it would be read for ever."""


class Planned(Exception):
    """What `Raising` raises; its arguments must survive."""


class PlannedRuntime(RuntimeError):
    """An exception of the user's own that derives from a common one."""


class Descending(Counting):
    """count-1 .. 0: an order that is nobody's default, so losing it shows."""

    def item(self, place: int) -> int:
        return self.count - 1 - place


class Posing(Descending):
    """The same, with the attributes of other samplers, which say nothing of what it yields."""

    batch_size, drop_last, num_samples, replacement = 2, True, 1, False
    generator = batch_sampler = None
    sampler, data_source, dataset, indices = range(2), range(99), range(50), [7, 8]


class Doubling(Counting):
    """Every index twice in a row: a multiset that a set would lose."""

    def item(self, place: int) -> int:
        return place // 2


class Endless(Unsized):
    """Never ends; `draws` tells how far it was read. Raises `Planned` where nobody needs to be."""

    def __iter__(self) -> Iterator[int]:
        self.seen["passes"] += 1
        for place in range(FAR):
            self.seen["draws"] += 1
            yield place
        raise Planned("read too far", FAR)


class Spent(Unsized):
    """What a generator is: its own iterator, of which nothing is left after the first pass."""

    def __init__(self, count: int, at: int = 0) -> None:
        super().__init__(count)
        self.elements = (place for place in range(count))

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        return next(self.elements)

    def __length_hint__(self) -> int:
        """A guess, as the iterator of a list makes it, and no length."""
        return self.count

    def close(self) -> None:
        """Nothing more comes of it."""
        self.elements.close()


class Lying(Counting):
    """Declares `at` items and yields `count`."""

    def __len__(self) -> int:
        return self.at


class Raising(Counting):
    """Raises instead of item number `at`, or at its end if that is `count`."""

    def __init__(self, count: int, at: int = 0, what: str = "Planned") -> None:
        super().__init__(count, at)
        self.error: Any = OWN.get(what) or getattr(builtins, what)

    def item(self, place: int) -> int:
        if place == self.at:
            raise self.error("planned", place)
        return place

    def end(self) -> int:
        return self.count + (self.at == self.count)


class Faltering(Raising):
    """The same in its first pass alone: who begins another one loses the exception."""

    def item(self, place: int) -> int:
        return super().item(place) if self.seen["passes"] == 1 else place


OWN: dict[str, Callable[..., BaseException]] = {
    "Planned": Planned, "PlannedRuntime": PlannedRuntime,
    "Leaked": lambda *_: leaked("generator raised StopIteration"),
}  # fmt: skip
"""Exceptions that are not Python's, or not raised by one call."""


class Beneath:
    """What a wrapper holds: whoever tells this one the epoch has passed the wrapper over."""

    def set_epoch(self, epoch: int) -> None:
        """Tells nobody."""


class Rotated(Counting):
    """Descending, rotated by the epoch at which a pass began; records every epoch that it is told.

    `at` = 1: it looks like a wrapper of another sampler with epochs.
    """

    def __init__(self, count: int, at: int = 0) -> None:
        super().__init__(count, at)
        self.epoch = 0
        if at:
            self.sampler = Beneath()
        self.seen["epochs"] = []  # type: ignore[assignment]

    def told(self, epoch: int) -> None:
        self.epoch = int(epoch)
        self.seen["epochs"].append(int(epoch))  # type: ignore[attr-defined]

    def opened(self) -> Callable[[int], Any]:
        epoch = self.epoch
        return lambda place: (self.count - 1 - place + epoch) % self.count


class Epoched(Rotated):
    """It is told its epoch by a method of its class."""

    def set_epoch(self, epoch: int) -> None:
        self.told(epoch)


class Delegating(Rotated):
    """It is told its epoch by what `__getattr__` finds, as a wrapper has it of what it wraps."""

    def __getattr__(self, name: str) -> Any:
        if name != "set_epoch":
            raise AttributeError(name)
        return self.told


class Growing(Counting):
    """An item more in each epoch: the first ones come again."""

    epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = int(epoch)

    def __len__(self) -> int:
        return self.count + self.epoch

    def item(self, place: int) -> int:
        return place % self.count

    def end(self) -> int:
        return len(self)


class Turning(Counting):
    """Each pass starts one place further on: a cached first pass shows."""

    def item(self, place: int) -> int:
        return (place + self.seen["passes"] - 1) % self.count


class Pairs(Counting):
    """A batch sampler: `count` batches of 1, 2, 3, 1, 2, 3, ... consecutive indices; `at` = 2
    begins with the longest, so that the last may be shorter than the first."""

    def item(self, place: int) -> Any:
        return part(place, self.at)


class Sourced(Descending, SequentialSampler):
    """Keeps what torch's samplers keep, derives from one, and has an order of its own."""

    def __init__(self, count: int, at: int = 0) -> None:
        super().__init__(count, at)
        self.data_source, self.num_samples = range(count), count
        self.generator, self.shuffle, self.seed = torch.Generator(), True, 0


class Bucketed(Pairs, BatchSampler):  # type: ignore[misc]
    """The same batches as tuples, the last first; what torch's class is told does not say so."""

    def __init__(self, count: int, at: int = 0) -> None:
        super().__init__(count, at)
        self.sampler, self.batch_size, self.drop_last = range(2 * count), 3, at == 2

    def item(self, place: int) -> Any:
        return tuple(part(self.count - 1 - place, self.at))


PROBES: dict[str, Any] = {
    probe.__name__: probe
    for probe in (
        Counting, Descending, Posing, Doubling, Unsized, Endless, Spent, Lying, Raising, Faltering,
        Epoched, Delegating, Growing, Turning, Pairs, Sourced, Bucketed,
        TorchRandom, TorchUnsized, LateRandom, NumpyRandom, PythonRandom, StepRandom,
    )
}  # fmt: skip
