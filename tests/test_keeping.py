"""What the suite keeps of batches: now the batch itself, now its parts alone."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import pytest
import torch

from conformance.worlds.keeping import kept

Point = namedtuple("Point", ["x", "y"])
PARTS: tuple[Any, ...] = ([1, 2], (object(), "text"), {"a": [object()]})


@pytest.mark.parametrize("batch", PARTS, ids=["list", "tuple", "dict"])
def test_every_second_batch_is_unpacked(batch: Any) -> None:
    """The first is kept as it is; of the second the parts are kept, and not what holds them."""
    assert kept(batch, 0) is batch
    assert kept(batch, 1) == batch
    assert kept(batch, 1) is not batch


@pytest.mark.parametrize("batch", [Point([1], 2), OrderedDict(a=1), "text", 5], ids=repr)
def test_other_types_stay(batch: Any) -> None:
    """A container with a type of its own may hold more than its parts."""
    assert kept(batch, 1) is batch


def test_of_every_second_tensor_the_memory_is_kept() -> None:
    """As by `detach()`: what the loader has given is held by nobody, and its memory is."""
    batch = torch.arange(3)

    assert kept(batch, 0) is batch
    assert kept(batch, 1) is not batch
    assert kept(batch, 1).data_ptr() == batch.data_ptr()
