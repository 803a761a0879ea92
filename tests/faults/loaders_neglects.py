"""Wrong loaders: what nobody looks at, until a sampler, a dataset or a caller does otherwise.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it.
"""

from __future__ import annotations

import contextlib
import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from loaders import _Collates
from loaders_shortcuts import _Asking
from reporting import Reporting

from reference import DataLoader, default_collate
from reference.loader.crew_pass import CrewPass
from reference.loader.failure import Failure
from reference.loader.fetch import Batch, MapFetcher, Outcome, Recipe

# What a sampler gives.


class _Through:
    """What a sampler gives, passed on through a function of the pass's draws."""

    def __init__(self, drawn: Any, through: Callable[[Iterator[Any]], Iterator[Any]]) -> None:
        self.drawn, self.through = drawn, through

    def __len__(self) -> int:
        return len(self.drawn)

    def __iter__(self) -> Iterator[Any]:
        return self.through(iter(self.drawn))


def _plain(index: Any) -> Any:
    """The same without names, in lists as well."""
    if isinstance(index, list):
        return [_plain(one) for one in index]
    return tuple(index) if isinstance(index, tuple) else index


class _Sending(DataLoader[Any]):
    """sent: what a worker is sent in place of a batch of indices, or of one index."""

    sent: Callable[[Any], Any]

    def _draws(self) -> Any:
        drawn = super()._draws()
        kept = self._iterable or not self.num_workers
        return drawn if kept else _Through(drawn, lambda draws: map(self.sent, draws))


class NamesAreLost(_Sending):
    """An index that is a named tuple is sent to a worker as the tuple that it also is."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "crash"
    sent = staticmethod(_plain)


def _without_tail(draws: Iterator[Any]) -> Iterator[Any]:
    empty = []
    for batch in draws:
        if batch:
            yield from (*empty, batch)
            empty = []
        else:
            empty.append(batch)


class EmptyTail(DataLoader[Any]):
    """Batches of no indices at the end of a batch_sampler are taken for its end."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "lost-batch"

    def _draws(self) -> Any:
        drawn = super()._draws()
        return drawn if self._iterable or self.sampler else _Through(drawn, _without_tail)


class _Follows(Iterator[Any]):
    """A pass that asks the sampler's iterator again and again, whatever it has said."""

    def __init__(self, draws: Iterator[Any], fetch: Callable[[Any], Outcome]) -> None:
        self.draws, self.fetch = draws, fetch

    def __next__(self) -> Any:
        outcome = self.fetch(next(self.draws))
        if isinstance(outcome, Failure):
            outcome.throw()
        assert isinstance(outcome, Batch)
        return outcome.data


class SamplerGoesOn(DataLoader[Any]):
    """Without workers and without batches of its own, it ends where the sampler says so, each time
    that it is asked."""

    CAUGHT_BY = ("loader.ends",)
    ANOMALY = "started-over"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers or self._iterable or self.batch_size:
            return super().__iter__()
        recipe = Recipe(False, self._batched, None, False, self.collate_fn)
        return _Follows(iter(self._draws()), recipe.fetcher(self.dataset))


# What is asked, and what is kept.


class LooksAtTheFirst(DataLoader[Any]):
    """With pin_memory=True, item 0 is looked at when the loader is made, for its size."""

    CAUGHT_BY = ("loader.fetch-once",)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.pin_memory and not self._iterable:
            with contextlib.suppress(Exception):
                self.item_bytes = sys.getsizeof(self.dataset[0])


AT_ONCE = 999


class _InParts(MapFetcher):
    """Asks for so many items at a time."""

    def _all_samples(self, indices: Any) -> list[Any]:
        parts = [indices[at : at + AT_ONCE] for at in range(0, len(indices), AT_ONCE)]
        return [sample for part in parts for sample in super(_InParts, self)._all_samples(part)]


class AsksInThousands(_Asking):
    """Without workers, a very large batch is asked of `__getitems__` in several calls."""

    CAUGHT_BY = ("loader.getitems",)
    ANOMALY = "asked-otherwise"
    fetcher = _InParts


class TakesMemoryBack(_Collates):
    """The memory of a batch is used again when nobody holds its tensor any more, though somebody
    may hold what `detach()` or `numpy()` gave."""

    CAUGHT_BY = ("loader.batches",)
    ANOMALY = "overwritten"

    def merged(self, samples: list[Any]) -> Any:
        made = default_collate(samples)
        if self.num_workers or type(made) is not torch.Tensor:
            return made
        self.given = [*getattr(self, "given", ()), made]
        for place in range(len(self.given) - 1):
            old = self.given[place]
            alike = (old.shape, old.dtype) == (made.shape, made.dtype)
            if alike and sys.getrefcount(old) == 3:
                self.given.pop()
                return old.copy_(made)
        return made


# What is drawn, and what is refused.


class _Jittery(CrewPass):
    def _wait(self, deadline: float) -> None:
        if self._plan.timeout_s or self._pinner:
            super()._wait(deadline)
            return
        found = [self._arrived(*came) for came in self._crew.receive(0.5, None)]
        if not found:
            random.random()


class DrawsWhileItWaits(Reporting):
    """For each half second that it waits in vain it draws how long to sleep."""

    CAUGHT_BY = ("loader.global-rng",)
    ANOMALY = "global-state-changed"
    rule = _Jittery


class DrawsForTheInit(DataLoader[Any]):
    """With workers and a worker_init_fn, a seed for that is drawn."""

    CAUGHT_BY = ("loader.draws-alike",)
    ANOMALY = "draws-otherwise"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers and self.worker_init_fn is not None:
            torch.randint(1 << 60, (), generator=self.generator)
        return super().__iter__()


class WholeSeconds(DataLoader[Any]):
    """A timeout is cut to whole seconds before it is checked, and -0.5 is none."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, *args: Any, timeout: float = 0, **kwargs: Any) -> None:
        less = isinstance(timeout, float) and -1 < timeout < 0
        super().__init__(*args, timeout=0 if less else timeout, **kwargs)  # type: ignore[misc]
