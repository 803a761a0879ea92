"""Exact tests of long passes over classes: how classes lie in a pass, and which members come.

A short class or pass is counted place by place over many passes; here a single pass says enough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation
from conformance.laws.statistics import SHORT, crowd, in_parts
from conformance.laws.tails import first_unlikely, first_unlikely_drawn

Counts = NDArray[np.int64]

FEW = 16
"""Of fewer passes, no place and no single index can tell anything."""


def mixed(rows: Counts, sizes: Counts) -> Violation | None:
    """The classes of the items of few passes, one row each; `sizes` of each class in a pass."""
    for row in rows:
        found = _in_parts(row, sizes) or _in_runs(row, sizes)
        if found is not None:
            return found
    return None


def _in_parts(row: Counts, sizes: Counts) -> Violation | None:
    """In each part of the pass as many of each class as in a shuffle."""
    for parts in (2, 4, 16):
        cell = crowd(row, sizes, parts)
        if cell is not None:
            saw = f"{cell.count} items of class {cell.kind} lie in part {cell.place} of {parts}"
            return Violation("classes-not-mixed", f"{saw} of a pass; expected {cell.wanted:.0f}")
    return None


def _in_runs(row: Counts, sizes: Counts) -> Violation | None:
    """In how many runs a class comes: of N items, k of a class, as hypergeom(N, N - k + 1, k)."""
    heads = np.concatenate([[True], row[1:] != row[:-1]])
    runs = np.bincount(row[heads], minlength=len(sizes))
    total = len(row)
    cell = first_unlikely_drawn(runs, total, total - sizes + 1, sizes)
    if cell is None:
        return None
    size = sizes[cell[0]]
    saw = f"the {size} items of class {cell[0]} come in {runs[cell]} runs"
    wanted = size * (total - size + 1) / total
    return Violation("classes-not-mixed", f"{saw}; expected {wanted:.0f}")


def reached(rows: Counts, classes: Counts, sizes: Counts) -> Violation | None:
    """The members of long classes, from all parts of the class; the items of few passes by row."""
    for row in rows:
        for number, size in enumerate(sizes):
            members = np.flatnonzero(classes == number)
            drawn = np.searchsorted(members, row[classes[row] == number])
            found = _neglected(drawn, len(members)) if len(members) > SHORT and size else ""
            if found:
                saw = f"class {number} of {len(members)} members: {found}"
                return Violation("members-unequal", saw)
    return None


def _neglected(drawn: Counts, members: int) -> str:
    """Of a class with enough members they are drawn without replacement; else binomially."""
    count = len(drawn)
    for parts in (2, 8, SHORT):
        widths, what = in_parts(drawn, members, parts)
        counts = np.bincount(what, minlength=parts)
        if count <= members:
            cell = first_unlikely_drawn(counts, members, widths, count, looks=3)
        else:
            cell = first_unlikely(counts, count, widths / members, looks=3)
        if cell is not None:
            saw = f"{counts[cell]} of {count} items are from part {cell[0]} of {parts} of it"
            return f"{saw}; expected {count * widths[cell] / members:.0f}"
    return ""
