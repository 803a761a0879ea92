"""Samples made into a batch: tensors stacked along a new first axis, containers kept."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from typing import Any

import numpy as np
import torch

from reference.loader import buffers


def default_collate(batch: Sequence[Any]) -> Any:
    """One batch of n samples that are alike; what a tensor of shape s was is one of (n, *s).

    Tensors, arrays, numbers and bools become tensors; numbers of several types, or of Python, of
    which one or more is a float, a float64 one, so that none is rounded. Mappings, named tuples and
    sequences keep their structure and are collated inside; a plain tuple becomes a list, as torch
    has it. Strings and bytes are listed.

    Raises TypeError, with the name of the type, for anything else, and RuntimeError for samples
    of different sizes.
    """
    first = batch[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(tuple(batch), out=buffers.for_stack(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if _is_numeric(first) and all(type(sample) is type(first) for sample in batch):
        return default_collate([torch.as_tensor(sample) for sample in batch])
    if _is_numeric(first) or isinstance(first, (int, float, complex)):
        numbers = [sample.item() if isinstance(sample, np.generic) else sample for sample in batch]
        return torch.tensor(numbers, dtype=_wide(numbers))
    if isinstance(first, Mapping):
        return rebuilt(
            first, {key: default_collate([sample[key] for sample in batch]) for key in first}
        )
    if isinstance(first, Sequence):
        return _collate_sequences(first, batch)
    raise TypeError(
        f"default_collate takes tensors, arrays, numbers, strings, mappings and sequences, but a"
        f" sample holds {type(first).__module__}.{type(first).__qualname__}"
    )


def _is_numeric(sample: Any) -> bool:
    """Whether it is an array of numbers, or a number of numpy's."""
    return isinstance(sample, (np.ndarray, np.generic)) and sample.dtype.kind in "biufc"


def _wide(numbers: Sequence[Any]) -> torch.dtype | None:
    """The type that changes none of some numbers of Python; integers are left to torch."""
    if any(isinstance(number, complex) for number in numbers):
        return torch.complex128
    floats = any(isinstance(number, float) for number in numbers)
    return torch.float64 if floats else None


def default_convert(sample: Any) -> Any:
    """A sample as it is delivered without batching: arrays as tensors, tensors copied."""
    if isinstance(sample, torch.Tensor):
        return sample.clone()
    if _is_numeric(sample):
        return torch.tensor(sample)
    return mapped(default_convert, sample)


def mapped(convert: Callable[[Any], Any], value: Any) -> Any:
    """The same container with its elements converted; any other value as it is."""
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return rebuilt(value, {key: convert(element) for key, element in value.items()})
    if isinstance(value, (tuple, list)):
        return rebuilt(value, [convert(element) for element in value])
    return value


def rebuilt(like: Any, content: Any) -> Any:
    """`content` in a container like `like`, with its attributes where it can be copied."""
    try:
        if isinstance(like, tuple):
            made = getattr(like, "_make", type(like))(content)  # of a namedtuple
            getattr(made, "__dict__", {}).update(getattr(like, "__dict__", {}))
            return made
        if not isinstance(like, (MutableMapping, list)):
            return type(like)(content)
        clone: Any = copy.copy(like)
        if isinstance(like, list):
            clone[:] = content
        else:
            clone.clear()  # Counter.update adds to what is there
            clone.update(content)
        return clone
    except TypeError:  # a constructor of its own
        return content


def _collate_sequences(first: Sequence[Any], batch: Sequence[Any]) -> Any:
    if any(len(sample) != len(first) for sample in batch):
        raise RuntimeError("each element of a batch must have the same length")
    columns = [default_collate(column) for column in zip(*batch, strict=True)]
    if type(first) is tuple or not isinstance(first, (tuple, list)):
        return columns
    return rebuilt(first, columns)
