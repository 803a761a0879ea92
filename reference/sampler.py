"""What all samplers share: the base class, and the two conversions that every order goes through.

A sampler is an iterable of indices (or of lists of indices). Each `iter(sampler)` is a pass of its
own, and takes nothing from a generator that others can see before its first item is asked for: a
loader with workers may call `iter` twice and use one. It then takes all it needs at once, so that
no other iterator, and nobody else who uses the generator, can change a pass that has begun.

All drawing is done on the CPU, whatever the default device is: the samplers' generators live there
(https://github.com/pytorch/pytorch/issues/118084).
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import chain
from typing import Generic, TypeVar

import torch

T_co = TypeVar("T_co", covariant=True)
PIECE = 2**16


class Sampler(Generic[T_co]):
    """Base of all samplers: an iterable, with `__len__` where the count is known without drawing.

    There is no default `__len__`: one that raised anything but TypeError would break `list(self)`.
    """

    def __iter__(self) -> Iterator[T_co]:
        raise NotImplementedError


def python_ints(indices: torch.Tensor) -> Iterator[int]:
    """Iterate over an int64 tensor of shape (count,) as Python ints.

    A long one is converted piece by piece: a list of ints takes five times the memory of a tensor.
    """
    if len(indices) <= PIECE:
        return iter(indices.tolist())
    return chain.from_iterable(map(torch.Tensor.tolist, torch.split(indices, PIECE)))


def mix(seed: int, epoch: int) -> int:
    """A 64-bit seed for one epoch, unrelated to that of any other (seed, epoch).

    A sum would make (seed 0, epoch 1) the same as (seed 1, epoch 0). A hash of both takes integers
    of any size and sign, and is the same in every process, which Python's own `hash` need not be.
    """
    return int.from_bytes(sha256(f"{seed}, {epoch}".encode()).digest()[:8], "big")
