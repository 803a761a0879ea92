"""Exact tests of long passes over classes: how classes lie in a pass, and which members come.

A short class or pass is counted place by place over many passes; here a single pass says enough.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from conformance.laws import Violation
from conformance.laws.statistics import ALPHA, SHORT, crowd, in_parts

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
    from scipy.stats import hypergeom

    heads = np.concatenate([[True], row[1:] != row[:-1]])
    runs = np.bincount(row[heads], minlength=len(sizes))
    law = hypergeom(len(row), len(row) - sizes + 1, sizes)
    chances = 2 * np.minimum(law.cdf(runs), law.sf(runs - 1))
    if chances.min() >= ALPHA / len(sizes):
        return None
    cell = int(chances.argmin())
    saw = f"the {sizes[cell]} items of class {cell} come in {runs[cell]} runs"
    return Violation("classes-not-mixed", f"{saw}; expected {law.mean()[cell]:.0f}")


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
    from scipy.stats import binom, hypergeom

    for parts in (2, 8, SHORT):
        widths, what = in_parts(drawn, members, parts)
        counts, without = np.bincount(what, minlength=parts), len(drawn) <= members
        law = hypergeom(members, widths, len(drawn)) if without else None
        law = law or binom(len(drawn), widths / members)
        chances = 2 * np.minimum(law.cdf(counts), law.sf(counts - 1))
        if chances.min() < ALPHA / parts / 3:
            cell, count = int(chances.argmin()), len(drawn)
            saw = f"{counts[cell]} of {count} items are from part {cell} of {parts} of it"
            return f"{saw}; expected {count * widths[cell] / members:.0f}"
    return ""
