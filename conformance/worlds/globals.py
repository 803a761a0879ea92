"""The global torch, numpy and random states of a rank: set, compared, and put back."""

from __future__ import annotations

import array
import contextlib
import decimal
import gc
import os
import random
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
import torch.utils.data

from conformance.operations import LAUNCHED

WORKER: Any = torch.utils.data._utils.worker
"""Where torch keeps what `get_worker_info` tells."""


def seed_globals(seed: int, which: str = "all") -> None:
    """Seed the global generators (CPU); `which` = "all", "torch", "numpy" or "random"."""
    if which in ("all", "torch"):
        torch.default_generator.manual_seed(seed)
    if which in ("all", "numpy"):
        np.random.seed((seed + 1) % 2**32)
    if which in ("all", "random"):
        random.seed(seed + 2)


def draw_normal(which: str) -> None:
    """Draw one of a pair of normal numbers: numpy and `random` keep the other, as a part of their
    states that is easily forgotten by who puts those back."""
    if which in ("all", "numpy"):
        np.random.standard_normal()
    if which in ("all", "random"):
        random.gauss(0, 1)


def digest(generator: torch.Generator | None) -> dict[str, int]:
    """A digest of every state that a sampler might touch, per source; `settings` are no state that
    anybody draws from."""
    kind, keys, *others = np.random.get_state()
    version, words, normal = random.getstate()
    found = {
        "torch": generator_digest(torch.default_generator),
        "numpy": zlib.crc32(np.asarray(keys).tobytes() + repr((kind, others)).encode()),
        "random": zlib.crc32(array.array("Q", words).tobytes() + repr((version, normal)).encode()),
        "settings": settings(),
    }
    return found if generator is None else found | {"generator": generator_digest(generator)}


def launch(told: Mapping[str, str | None]) -> None:
    """What a launcher leaves in the environment, by name; None takes it away."""
    for name, value in told.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


def become_worker(number: int, num_workers: int) -> None:
    """Let torch's `get_worker_info` tell that this process is a worker."""
    told = {"id": number, "num_workers": num_workers, "seed": number, "dataset": None}
    WORKER._worker_info = WORKER.WorkerInfo(**told)


def settings() -> int:
    """A digest of what a sampler might set for its own sums, and would set for the training."""
    torchs = torch.get_default_dtype(), torch.get_num_threads(), torch.is_grad_enabled()
    strict, decimals = torch.are_deterministic_algorithms_enabled(), decimal.getcontext()
    found = (*torchs, strict, np.geterr(), (decimals.prec, decimals.rounding), gc.isenabled())
    return zlib.crc32(repr(found).encode())


def generator_digest(generator: torch.Generator) -> int:
    """A digest of one torch generator's state."""
    return zlib.crc32(generator.get_state().numpy().tobytes())


@contextlib.contextmanager
def put_back() -> Iterator[None]:
    """Restore global states and settings afterwards."""
    saved = torch.get_rng_state(), np.random.get_state(), random.getstate()
    try:
        with put_back_settings():
            yield
    finally:
        torch.set_rng_state(saved[0])
        np.random.set_state(saved[1])
        random.setstate(saved[2])


@contextlib.contextmanager
def put_back_settings() -> Iterator[None]:
    """Restore what `settings` tells of afterwards."""
    dtype, threads = torch.get_default_dtype(), torch.get_num_threads()
    recorded, errors = torch.is_grad_enabled(), np.geterr()
    strict, collects = torch.are_deterministic_algorithms_enabled(), gc.isenabled()
    launched = {name: os.environ.get(name) for name in LAUNCHED}
    worker = torch.utils.data.get_worker_info()
    try:
        with decimal.localcontext():
            yield
    finally:
        launch(launched)
        WORKER._worker_info = worker
        (gc.enable if collects else gc.disable)()
        if torch.are_deterministic_algorithms_enabled() != strict:
            torch.use_deterministic_algorithms(strict)  # which imports half of torch
        torch.set_default_dtype(dtype)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.set_grad_enabled(recorded)
        np.seterr(**errors)
