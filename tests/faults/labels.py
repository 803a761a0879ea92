"""Wrong ideas of labels and of shares: faults of `spec/balanced.md` that few labels show.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from balanced import _Shared

from reference import BalanceClassSampler, WeightedBalanceClassSampler


def plain(labels: Any) -> list[Any]:
    return labels.tolist() if hasattr(labels, "tolist") else list(labels)


class _Known(BalanceClassSampler):
    """What a label is known as, in one place: `known`."""

    def __init__(self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0):
        super().__init__([self.known(label) for label in plain(labels)], mode, seed)

    def known(self, label: Any) -> Any:
        return label


class TwelveLetters(_Known):
    """Labels that agree in their first twelve letters are one class."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def known(self, label: Any) -> Any:
        return label[:12] if isinstance(label, str) else label


class FixedWidth(_Known):
    """Labels are kept in a field of a hundred letters, and what is longer is cut."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def known(self, label: Any) -> Any:
        return label[:100] if isinstance(label, str) else label


class LabelsAsDoubles(_Known):
    """Numbers become doubles, in which neighbours beyond 2^53 are one class."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def known(self, label: Any) -> Any:
        return float(label) if isinstance(label, int) else label


class RowsOfLabels(_Known):
    """Labels that are tuples become rows of an array, and only their first entry is looked at."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def known(self, label: Any) -> Any:
        return label[0] if isinstance(label, tuple) else label


class LabelsAsTensor(WeightedBalanceClassSampler):
    """Labels that are numbers pass through a tensor of single precision."""

    CAUGHT_BY = ("balanced.labels",)

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        found = plain(labels)
        if all(isinstance(label, (int, float)) for label in found):
            found = torch.tensor(found, dtype=torch.float32).tolist()
        super().__init__(found, weight, length, seed)


class RoundsRunningShares(_Shared):
    """The running sums of the shares are rounded, halves to even, so that 1 may become 2."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def shared(self, share: Any, length: int) -> Any:
        return np.diff(np.round(np.cumsum([0.0, *share])))


class FloorsWholeShares(_Shared):
    """A whole share that the arithmetic leaves just below is cut; the heaviest take the rest."""

    CAUGHT_BY = ("balanced.counts",)
    ANOMALY = "wrong-class-count"

    def shared(self, share: Any, length: int) -> Any:
        counts = np.floor(share)
        for place in np.argsort(-share, kind="stable")[: int(length - counts.sum())]:
            counts[place] += 1
        return counts


class KnownByTheirText(_Known):
    """Labels are known by what `repr` writes of them, so that 1, 1.0 and True are three."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def known(self, label: Any) -> Any:
        return repr(label)


class TakesTables(BalanceClassSampler):
    """Labels that come as a table are taken one after the other, which are more than the items."""

    CAUGHT_BY = ("balanced.reject",)
    ANOMALY = "accepted"

    def __init__(self, labels: Sequence[Any], mode: str | int = "downsampling", seed: int = 0):
        table = isinstance(labels, np.ndarray)
        super().__init__(np.ravel(labels).tolist() if table else labels, mode, seed)


class WeightsInRows(WeightedBalanceClassSampler):
    """Weights that come as a table count by their first row."""

    CAUGHT_BY = ("balanced.reject",)
    ANOMALY = "accepted"

    def __init__(
        self, labels: Sequence[Any], weight: Sequence[float], length: int, seed: int = 0
    ) -> None:
        super().__init__(labels, np.atleast_2d(weight)[0].tolist(), length, seed)


class CountsFromTheLeast(WeightedBalanceClassSampler):
    """Labels are counted from the least one in the type they have, which may not hold that much."""

    CAUGHT_BY = ("balanced.labels",)
    ANOMALY = "wrong-class-count"

    def __init__(self, labels: Any, weight: Sequence[float], length: int, seed: int = 0) -> None:
        signed = isinstance(labels, np.ndarray) and labels.dtype.kind == "i" and labels.ndim == 1
        counted = labels - labels.min() if signed and len(labels) else labels
        super().__init__(counted, weight, length, seed)
