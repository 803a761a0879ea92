"""A right wrapper that streams: it reads the inner pass piece by piece, and never holds it."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import honest
import numpy as np
import torch
from honest import mix

CONFORMANCE = {"policies": {"shuffles": "never"}}

PIECES = 64
"""So many rounds are read at a time."""


def _states() -> tuple[Any, Any, Any]:
    return torch.get_rng_state(), np.random.get_state(), random.getstate()


def _put(states: tuple[Any, Any, Any]) -> None:
    torch.set_rng_state(states[0])
    np.random.set_state(states[1])
    random.setstate(states[2])


class _Weather:
    """The global random states of one pass: there while the inner sampler runs."""

    def __init__(self, seed: int) -> None:
        before = _states()
        torch.manual_seed(seed)
        np.random.seed(seed % (1 << 32))
        random.seed(seed)
        self.states = _states()
        _put(before)

    @contextmanager
    def here(self) -> Iterator[None]:
        before = _states()
        _put(self.states)
        try:
            yield
        finally:
            self.states = _states()
            _put(before)


class DistributedSamplerWrapper(honest.DistributedSamplerWrapper):
    """Yields one rank's share of an inner pass in order; takes no `shuffle`."""

    def __init__(
        self, sampler: Any, num_replicas: Any = None, rank: Any = None, seed: int = 0,
        drop_last: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(sampler, num_replicas, rank, False, seed, drop_last)

    def __len__(self) -> int:
        rounds = len(self.sampler) / self.num_replicas
        return math.floor(rounds) if self.drop_last else math.ceil(rounds)

    def __iter__(self) -> Iterator[Any]:
        head: list[Any] = []
        for piece in self._pieces():
            head = head or piece[: self.num_replicas]
            over = len(piece) % self.num_replicas
            yield from piece[self.rank : len(piece) - over : self.num_replicas]
            if over and not self.drop_last:
                last = piece[-over:]
                filled = last + list(itertools.islice(itertools.cycle(head), self.num_replicas))
                yield filled[self.rank]

    def _pieces(self) -> Iterator[list[Any]]:
        weather = _Weather(mix(self.seed, self.epoch) % (1 << 63))
        with weather.here():
            items = iter(self.sampler)
        while True:
            with weather.here():
                piece = list(itertools.islice(items, PIECES * self.num_replicas))
            if piece:
                yield piece
            if len(piece) < PIECES * self.num_replicas:
                return
