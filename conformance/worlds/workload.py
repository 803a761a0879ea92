"""The map-style datasets of a loader under examination; see `streams.py` for the others.

They run in whatever process the candidate puts them, report to the journal, stop at the gate, and
go wrong where a `Fault` says so. All of them can be pickled, so any start method will do.
"""

from __future__ import annotations

import multiprocessing
import os
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch.utils.data import Subset, TensorDataset

from conformance.datasets import HERE, POSED, Fault, Mapped, Stream
from conformance.worlds.forms import formed
from conformance.worlds.gate import Gate
from conformance.worlds.keys import number
from conformance.worlds.mishaps import Bursting, Interrupting, deadly, happen
from conformance.worlds.samples import OWN, make

Info = Callable[[], Any]
"""The candidate's `get_worker_info`."""


STORED = 1 << 15
"""So many numbers are more than a pipe holds."""

LARGE = 1 << 19
"""So many are more than anybody likes to send in each epoch."""


BURST: dict[str, Callable[[], Any]] = {
    "bursting": lambda: Bursting(0), "interrupting": Interrupting,
}  # fmt: skip
"""What a dataset holds that does something where it is pickled or unpickled, by what it gives."""


class State:
    """What a dataset holds, and the main process changes; all of it but one is zero."""

    def __init__(self) -> None:
        self.listed, self.named, self.inner = [[0]], {"mark": 0}, types.SimpleNamespace(mark=0)
        self.tensor = torch.zeros((), dtype=torch.int64)
        self.array = np.zeros(1, dtype=np.int64)

    def mark(self) -> int:
        """The sum of all, which is the one that was changed."""
        held = self.listed[0][0] + self.named["mark"] + self.inner.mark + self.tensor
        return int(held + self.array[-1])

    def change(self, mark: int, how: str) -> None:
        """Change one of them in its place."""
        if how == "list":
            self.listed[0][0] = mark
        elif how == "dict":
            self.named["mark"] = mark
        elif how == "tensor":
            self.tensor.fill_(mark)
        elif how == "array":
            self.array = self.array if self.array.size == LARGE else np.zeros(LARGE, np.int64)
            self.array[-1] = mark
        else:
            self.inner.mark = mark


class Source:
    """What map-style and iterable-style datasets have in common."""

    here = mark = 0

    def __init__(self, recipe: Mapped | Stream, gate: Gate, info: Info) -> None:
        self.recipe, self.gate, self.info = recipe, gate, info
        self.n, self.buffer = recipe.n, torch.zeros((), dtype=torch.int64)
        self.state, self.met, self.kept = State(), set[Fault](), dict[int, Any]()
        self.early: list[tuple[int, int, int]] = []
        self.held = (lambda: None) if recipe.gives.startswith("held") else None
        self.burst = BURST[recipe.gives]() if recipe.gives in BURST else None
        self.stored = torch.arange(STORED) if recipe.gives == "stored" else None
        if recipe.gives == "epoched":
            self.set_epoch = self.tell
        if recipe.gives == "local":
            type(self).here = HERE
        if recipe.gives == "counted":
            self.counter = multiprocessing.get_context("spawn").Value("i", 1)
        if recipe.gives.startswith("own-"):
            holder: Any = type(self) if recipe.gives == "own-class" else self
            holder.own = OWN[recipe.gives.removeprefix("own-")](5)

    @property
    def worker(self) -> int:
        """The number of the worker that this runs in, -1 in the main process."""
        info = self.info()
        return self.gate.number() if info is None else int(info.id)

    def tell(self, mark: int) -> None:
        """Set the mark, as a method of the user's does."""
        self.mark = mark

    def change(self, mark: int, how: str) -> None:
        """What `Tell` says."""
        if how == "attribute":
            self.mark = mark
        elif how == "method":
            self.tell(mark)
        elif how == "deleted":
            del self.mark
        elif how == "lambda":
            self.held = lambda: None
        else:
            self.state.change(mark, how)

    def item(self, i: int, stops: bool | None = None) -> Any:
        """Fetch item i: report, wait at the gate, go wrong or make it."""
        worker = self.worker
        self.gate.report("fetch", i, worker)
        self.gate.heed(worker, i)
        gated = self.recipe.gated
        if gated and (i % gated == gated - 1 if stops is None else stops):
            self.gate.pass_through(worker, i)
        self.gate.report("leave", i, worker)
        self.gate.left(i, worker)
        given = mishap(self.recipe.faults, "item", i, self.gate, self.met)
        if given is not None:
            return given
        if isinstance(self.recipe, Mapped) and self.recipe.kept:
            return self.kept[i] if i in self.kept else self.kept.setdefault(i, self._made(i))
        return self._made(i)

    def _made(self, i: int) -> Any:
        if isinstance(self.recipe, Mapped) and self.recipe.gives == "formed":
            return formed(self.recipe.form(i), i)
        return make(self.recipe.gives, i, self)


def mishap(
    faults: tuple[Fault, ...], where: str, at: int, gate: Gate, met: set[Fault] | None = None
) -> Any:
    """Let happen what is planned for this place; an item, if one is to be given instead.

    A death is that of a worker process: in a loader without any, nobody dies. met: the faults that
    have happened to a dataset and do so once.
    """
    for fault in faults:
        spared = deadly(fault.what) and os.getpid() == gate.owner
        if (fault.where, fault.at) == (where, at) and not spared and fault not in (met or ()):
            if fault.once and met is not None:
                met.add(fault)
            return happen(fault.what, at)
    return None


class MappedData(Source):
    """`Mapped`, without `__len__`."""

    def __getitem__(self, key: Any) -> Any:
        index = number(key)
        if not 0 <= index < self.n:
            raise IndexError(index)
        return self.item(index)


class SizedData(MappedData):
    """`Mapped`."""

    def __len__(self) -> int:
        return self.n


class _Several(SizedData):
    """`Mapped` with `__getitems__`, which the heirs have where they have it."""

    recipe: Mapped

    def several(self, indices: list[int]) -> Any:
        """What `__getitems__` gives; each call is reported as "collate"."""
        self.gate.report("collate", len(indices), self.worker)
        found = [self.item(number(index)) for index in indices]
        others = {"fewer": found[:-1], "more": [*found, *found[:1]], "lazy": iter(found[:-1])}
        return others.get(self.recipe.many, found)


class ManyData(_Several):
    """In the class."""

    def __getitems__(self, indices: list[int]) -> Any:
        return self.several(indices)


class HeldManyData(_Several):
    """As an attribute of the object."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.__getitems__ = self.several


class DelegatingData(_Several):
    """Through `__getattr__`, as a wrapper has it of what it wraps."""

    def __getattr__(self, name: str) -> Any:
        if name == "__getitems__":
            return self.several
        raise AttributeError(name)


class NotManyData(SizedData):
    """`Mapped` that takes `__getitems__` back, as a subclass may."""

    __getitems__ = None


class ColumnsData(SizedData, TensorDataset):
    """A `TensorDataset` that gives other items than its tensors hold."""

    def __init__(self, recipe: Mapped, gate: Gate, info: Info) -> None:
        super().__init__(recipe, gate, info)
        self.tensors = (torch.arange(recipe.n) + POSED,)


class ListedData(SizedData, list[Any]):
    """A list that gives other items than it holds."""

    def __init__(self, recipe: Mapped, gate: Gate, info: Info) -> None:
        super().__init__(recipe, gate, info)
        self.extend(range(POSED, POSED + recipe.n))


class PartData(SizedData, Subset[Any]):
    """A `Subset` that gives other items than those of the dataset which it is a part of."""

    def __init__(self, recipe: Mapped, gate: Gate, info: Info) -> None:
        super().__init__(recipe, gate, info)
        self.dataset, self.indices = range(2 * POSED), range(POSED, POSED + recipe.n)  # type: ignore[assignment]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        return [self[index] for index in indices]


POSES: dict[str, Any] = {"list": ListedData, "tensors": ColumnsData, "subset": PartData}


def change(dataset: Any, mark: int, how: str) -> None:
    """Change a dataset as `Tell` says; a list in its items."""
    if type(dataset) is list:
        dataset[:] = [1000 * mark + i for i in range(len(dataset))]
    else:
        dataset.change(mark, how)


MANY: dict[str, type[MappedData]] = {
    "": MappedData, "none": NotManyData, "held": HeldManyData, "delegated": DelegatingData,
}  # fmt: skip


def mapped(recipe: Mapped, gate: Gate, info: Info) -> Any:
    """The dataset of a `Mapped`."""
    if recipe.gives == "listed":
        return list(range(recipe.n))
    if recipe.poses:
        return POSES[recipe.poses](recipe, gate, info)
    many = MANY.get(recipe.many, ManyData)
    kind = SizedData if recipe.sized and not recipe.many else many
    return kind(recipe, gate, info)
