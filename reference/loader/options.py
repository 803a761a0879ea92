"""Checks of the loader's arguments, one by one and against each other."""

from __future__ import annotations

import math
import multiprocessing
from collections.abc import Iterable
from multiprocessing.context import BaseContext
from typing import Any

from torch import multiprocessing as torch_multiprocessing
from torch.utils import data

from reference import arguments
from reference.batch import BatchSampler


def seconds(name: str, value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError(f"{name} must be a number of seconds, but is {value!r}")
    if not 0 <= value < math.inf:
        raise ValueError(f"{name} must be finite and not negative, but is {value!r}")
    return float(value)


def function(name: str, value: Any) -> Any:
    if value is not None and not callable(value):
        raise TypeError(f"{name} must be callable or None, but is {value!r:.80}")
    return value


def text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, but is {value!r:.80}")
    return value


def context(value: Any) -> BaseContext:
    """How workers are started: a context, the name of one, or None for the default."""
    names = multiprocessing.get_all_start_methods()
    if value is None:  # `get_context()` would settle it, and the caller may still choose another
        value = multiprocessing.get_start_method(allow_none=True) or names[0]
    if isinstance(value, BaseContext):
        return value
    if not isinstance(value, str):
        raise TypeError(
            f"multiprocessing_context must be a context or a name, but is {value!r:.80}"
        )
    if value not in names:
        raise ValueError(f"multiprocessing_context must be one of {names}, but is {value!r}")
    return torch_multiprocessing.get_context(value)


def need_workers(num_workers: int, **given: Any) -> None:
    """Refuse what has no meaning without workers."""
    for name, value in given.items():
        if value and not num_workers:
            raise ValueError(f"{name} needs num_workers > 0, but is {value!r}")


def dataset(value: Any, iterable: bool, samples_itself: bool) -> Any:
    """A dataset that the loader can read; if it has to make the sampler, one with a length."""
    if iterable:
        return value
    if not hasattr(value, "__getitem__") and not hasattr(value, "__getitems__"):
        raise TypeError(f"dataset must have __getitem__ or be an IterableDataset: {value!r:.80}")
    return arguments.sized("dataset", value) if samples_itself else value


def refuse_sampling(**given: Any) -> None:
    """An iterable dataset decides itself what comes next."""
    for name, value in given.items():
        if value:
            raise ValueError(f"{name} cannot be used with an IterableDataset")


def sampler(value: Iterable[Any] | None, batched: bool) -> Iterable[Any] | None:
    """A sampler of indices; lists of them would become indices themselves."""
    if value is None:
        return None
    if batched and isinstance(value, (BatchSampler, data.BatchSampler)):
        raise ValueError("sampler yields batches: give it as batch_sampler, or batch_size=None")
    return arguments.iterable("sampler", value)


def refuse_beside(name: str, **given: Any) -> None:
    """Refuse arguments that the one called `name` excludes."""
    for other, value in given.items():
        if value:
            raise ValueError(f"{name} excludes {other}")
