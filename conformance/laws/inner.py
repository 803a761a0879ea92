"""What inner samplers of a case yield, as a trace holds it: numbers, and kinds of what is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conformance.recipes import Values
from conformance.trace import UNREADABLE, Items


def numbers(items: Iterable[Any]) -> NDArray[np.int64]:
    """Items as a trace holds them: what is no whole number is `UNREADABLE`."""
    found = [int(item) if isinstance(item, int) else UNREADABLE for item in items]
    return np.array(found, dtype=np.int64)


def retyped(inner: Any, *found: Items, count: int | None = None) -> str:
    """A type that items have and the first `count` of the inner list have not, or the reverse.

    "" if there is none. Asked only where the list holds more than ints.
    """
    known = {type(item).__name__ for item in inner.items} if isinstance(inner, Values) else {"int"}
    if known == {"int"}:
        return ""
    got = {kind for items in found for kind in items.kinds}
    lost = {type(item).__name__ for item in inner.items[:count]} - got
    return min(got - known, default="") or min(lost, default="")
