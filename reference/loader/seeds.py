"""Which random numbers workers draw.

They follow from the state of the main process's generator (or of the loader's own), the rank, the
number of the pass and the worker. The state is read, and nothing is drawn from it, so that a loader
which does not shuffle leaves it alone. Seeding it alike gives the same streams again; a fresh
loader for each epoch has new ones if anything was drawn in between.
"""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from numpy.random import SeedSequence

SEED_BITS = 62


def base_seed(generator: torch.Generator | None, number: int) -> int:
    """The seed of pass `number`, an integer below 2**62; worker i adds i to it."""
    rank = dist.get_rank() if dist.is_available() and dist.is_initialized() else 0
    state = _torch_state(generator or torch.default_generator)
    return _digest(state, f"{rank}, {number}".encode()) >> (64 - SEED_BITS)


def seed_worker(base: int, worker: int) -> None:
    """Seed the global generators of torch, numpy and random in a worker."""
    sequence = SeedSequence([base, worker])
    torch.manual_seed(base + worker)
    np.random.seed(sequence.generate_state(8))
    random.seed(sequence.generate_state(8).tobytes())


def reseed_attributes(holder: Any, base: int, worker: int) -> None:
    """Seed the generators that an object or its class holds, each from its state: all differ."""
    for owner in (holder, *type(holder).__mro__):
        for name, value in getattr(owner, "__dict__", {}).items():
            for kind in _KINDS:
                if isinstance(value, kind):
                    _reseed(value, kind, (owner, name), [base, worker])


_first: dict[tuple[type, str], bytes] = {}
"""The states of generators that classes hold, when a worker began: no class is sent anew."""


def _reseed(generator: Any, kind: type, place: tuple[Any, str], entropy: list[int]) -> None:
    state, seed = _KINDS[kind]
    with suppress(NotImplementedError):  # a SystemRandom has no state
        found = state(generator)
        if isinstance(place[0], type):
            found = _first.setdefault(place, found)
        seed(generator, SeedSequence([*entropy, _digest(found, place[1].encode())]))


def _torch_state(generator: torch.Generator) -> bytes:
    return bytes(generator.get_state().numpy().tobytes())


def _digest(*parts: bytes) -> int:
    return int.from_bytes(sha256(b"".join(parts)).digest()[:8], "big")


def _seed_numpy(generator: np.random.Generator, sequence: SeedSequence) -> None:
    kind: Any = type(generator.bit_generator)
    generator.bit_generator.state = kind(sequence).state


_KINDS: dict[type, tuple[Callable[[Any], bytes], Callable[[Any, SeedSequence], Any]]] = {
    np.random.Generator: (lambda g: pickle.dumps(g.bit_generator.state), _seed_numpy),
    np.random.RandomState: (
        lambda g: pickle.dumps(g.get_state()),
        lambda g, sequence: g.seed(sequence.generate_state(8)),
    ),
    random.Random: (
        lambda g: pickle.dumps(g.getstate()),
        lambda g, sequence: g.seed(sequence.generate_state(8).tobytes()),
    ),
    torch.Generator: (
        _torch_state,
        lambda g, sequence: g.manual_seed(int(sequence.generate_state(1, np.uint64)[0] >> 1)),
    ),
}
