"""Checks of arguments: each returns the value in the form that samplers use, or raises.

A value of the wrong type is a TypeError, one out of range a ValueError, and both name the argument.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Sized
from typing import Any, TypeVar

import numpy as np
import torch

IterableT = TypeVar("IterableT", bound=Iterable[Any])
SizedT = TypeVar("SizedT", bound=Sized)


def integer(name: str, value: Any, minimum: int | None = None) -> int:
    """`value` as an int: any integer type of Python, numpy or torch, but no bool and no float."""
    try:
        plain = _plain(value)
        if isinstance(plain, bool):
            raise TypeError
        number = operator.index(plain)
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be an integer, but is {_shown(value)}") from None
    if minimum is not None and number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, but is {number}")
    return number


def boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, but is {_shown(value)}")
    return value


def sized(name: str, value: SizedT) -> SizedT:
    try:
        len(value)
    except TypeError:
        raise TypeError(f"{name} must have a length, but is {_shown(value)}") from None
    return value


def iterable(name: str, value: IterableT) -> IterableT:
    # Calling iter() would tell too, but it may have effects of its own.
    if not hasattr(value, "__iter__") and not hasattr(value, "__getitem__"):
        raise TypeError(f"{name} must be iterable, but is {_shown(value)}")
    return value


def generator(name: str, value: Any) -> torch.Generator | None:
    if value is not None and not isinstance(value, torch.Generator):
        raise TypeError(f"{name} must be a torch.Generator or None, but is {_shown(value)}")
    return value


def elements(name: str, values: Any) -> list[Any]:
    """A copy of a 1-D sequence, array or tensor as a list of plain Python values."""
    try:
        listed = values.tolist() if isinstance(values, (np.ndarray, torch.Tensor)) else values
        return [_plain(value) for value in listed]
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must be a 1-D sequence, but is {_shown(values)}") from None


def weights(name: str, values: Any) -> torch.Tensor:
    """A copy of 1-D weights: float64, shape (n,), all scaled by one power of two.

    The largest ends up in [0.5, 1), so that no sum overflows. A power of two keeps every ratio
    exact. A positive weight stays at least 2**-1000: smaller ones would underflow in the draw and
    tie with zero, and no count of draws can tell the difference.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        values = values.astype(np.double)  # torch refuses some layouts and byte orders
    try:
        given = torch.as_tensor(values, dtype=torch.double, device="cpu").detach().numpy()
    except (TypeError, ValueError, RuntimeError, OverflowError):
        raise TypeError(f"{name} must be a sequence of numbers, but is {_shown(values)}") from None
    if given.ndim != 1 or given.size == 0:
        raise ValueError(f"{name} must be 1-D and not empty, but has the shape {given.shape}")
    if not np.isfinite(given).all() or (given < 0).any() or not given.any():
        raise ValueError(f"{name} must be finite, none negative, and not all zero")
    scaled = np.ldexp(given, -math.frexp(given.max())[1])
    np.maximum(scaled, 2.0**-1000, out=scaled, where=given > 0)
    return torch.from_numpy(scaled)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.generic, np.ndarray, torch.Tensor)) else value


def _shown(value: Any) -> str:
    return f"{value!r:.80} ({type(value).__name__})"
