"""Wrong loaders: the default collation.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it. A number such as B108 is a row of the corpus of
reported bugs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from loaders import _Collates

from reference import default_collate


class PlainNamed(_Collates):
    """Named tuples become plain ones (B164)."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return default_collate([tuple(s) if hasattr(s, "_fields") else s for s in samples])


def _short(sample: Any) -> Any:
    if type(sample) is float:
        return torch.as_tensor([sample])
    if type(sample) is dict:
        return {key: _short(value) for key, value in sample.items()}
    if type(sample) in (list, tuple):
        return [_short(value) for value in sample]
    return default_collate([sample])


class ShortWayForOne(_Collates):
    """A batch of one sample goes a shorter way, on which floats become single ones."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return _short(samples[0]) if len(samples) == 1 else default_collate(samples)


class PlainDicts(_Collates):
    """Subclasses of dict become plain dicts, in workers only (B164)."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        found = default_collate(samples)
        return dict(found) if self.num_workers and isinstance(found, dict) else found


class Concatenates(_Collates):
    """Arrays are joined along the axis that they have."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        if isinstance(samples[0], np.ndarray):
            return torch.cat([torch.from_numpy(sample) for sample in samples])
        return default_collate(samples)


class CastsArrays(_Collates):
    """Tensors of whole numbers become float32."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        found = default_collate(samples)
        return found.float() if isinstance(samples[0], torch.Tensor) else found


class ThroughItem(_Collates):
    """Tensors of one number are read by `item()`, and come out as float32 whatever they were."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        first = samples[0]
        if isinstance(first, torch.Tensor) and first.is_floating_point() and not first.dim():
            return torch.tensor([sample.item() for sample in samples])
        return default_collate(samples)


class JoinsText(_Collates):
    """Strings are joined."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return " ".join(samples) if isinstance(samples[0], str) else default_collate(samples)


class ListsForeign(_Collates):
    """What cannot be collated is listed as it is."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "foreign-accepted"

    def merged(self, samples: list[Any]) -> Any:
        try:
            return default_collate(samples)
        except TypeError:
            return samples


class NamelessError(_Collates):
    """What cannot be collated is refused without a name."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "type-not-named"

    def merged(self, samples: list[Any]) -> Any:
        try:
            return default_collate(samples)
        except TypeError:
            raise TypeError("these items cannot be collated") from None


class WidensUnsigned(_Collates):
    """Arrays of unsigned integers of more than one byte become int64."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        first = samples[0]
        wide = isinstance(first, np.ndarray) and first.dtype.kind == "u" and first.itemsize > 1
        return default_collate([sample.astype("int64") for sample in samples] if wide else samples)


class ForgetsSubclasses(_Collates):
    """An item of a subclass of a named tuple comes as the named tuple that it derives from."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        base = type(samples[0]).__base__
        if hasattr(base, "_fields"):
            samples = [base(*sample) for sample in samples]  # type: ignore[misc]
        return default_collate(samples)


class OneClassOfArrays(_Collates):
    """Arrays are known by their class alone, and those of a file, mapped into memory, are none."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "refused"

    def merged(self, samples: list[Any]) -> Any:
        first = samples[0]
        if isinstance(first, np.ndarray) and type(first) is not np.ndarray:
            raise TypeError(f"cannot collate {type(first).__name__}")
        return default_collate(samples)


class RangesVanish(_Collates):
    """What is a sequence, and neither a list nor a tuple, becomes None."""

    CAUGHT_BY = ("loader.collate",)
    ANOMALY = "made-otherwise"

    def merged(self, samples: list[Any]) -> Any:
        return None if isinstance(samples[0], range) else default_collate(samples)
