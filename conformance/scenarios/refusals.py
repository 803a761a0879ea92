"""Invalid arguments, role by role. The last argument of each case is the invalid one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.recipes import Data, Probe, Raw, Values
from conformance.scenarios import Scenario, Setting

HALF = Raw(2.5, "float32")
"""No whole number, of a type that is no subclass of Python's float, as `numpy.float64` is."""

WHOLE, FLAG = Raw(2.0, "float32"), Raw(True, "bool_")
"""The same with a whole value, and a truth value of numpy."""

NO_COUNT: tuple[Any, ...] = (0, -1, 2.0, "2", None, True, Raw(2.5, "float64"), HALF, WHOLE, FLAG)
"""What is no number of items."""


def _distributed(first: str, given: Any) -> Iterator[dict[str, Any]]:
    for width in (0, -1, 2.0, "2", HALF):
        yield {first: given, "rank": 0, "num_replicas": width}
    for rank in (2, -1, 0.0, "0", Raw(0.5, "float32")):
        yield {first: given, "num_replicas": 2, "rank": rank}


def refused(role: str) -> Iterator[dict[str, Any]]:
    """Argument lists that must be refused at construction."""
    if role == "RandomSampler":
        for count in (found for found in NO_COUNT if found is not None):
            yield {"data_source": Data(5), "num_samples": count}
    elif role == "WeightedRandomSampler":
        for count in NO_COUNT:
            yield {"weights": Values((1.0, 2.0)), "num_samples": count}
    elif role == "BatchSampler":
        for size in NO_COUNT:
            yield {"sampler": Probe("Counting", 5), "drop_last": False, "batch_size": size}
    elif role == "DistributedSampler":
        yield from _distributed("dataset", Data(5))
    elif role == "DistributedSamplerWrapper":
        yield from _distributed("sampler", Probe("Descending", 5))
    else:
        yield from _balanced(role)


def _balanced(role: str) -> Iterator[dict[str, Any]]:
    labels, table = Values((0, 1, 1, 0, 1)), Values(((0, 1), (1, 0), (1, 1)), "ndarray")
    if role == "BalanceClassSampler":
        for mode in ("sideways", "down", "", 0, -1, 1.5, None, True, HALF):
            yield {"labels": labels, "mode": mode}
        yield {"mode": "downsampling", "labels": Values(())}
        yield {"mode": "downsampling", "labels": table}
        return
    weight = Values((1.0, 2.0))
    for length in (0, -1, 2.5, "4", None, True, HALF, WHOLE, FLAG):
        yield {"labels": labels, "weight": weight, "length": length}
    for wrong in ((1.0,), (1.0, 2.0, 3.0), (1.0, -1.0), (1.0, float("nan")), (1.0, float("inf")),
                  (0.0, 0.0), ()):  # fmt: skip
        yield {"labels": labels, "length": 4, "weight": Values(wrong)}
    yield {"weight": Values(()), "length": 4, "labels": Values(())}
    yield {"weight": weight, "length": 4, "labels": table}
    yield {"labels": labels, "length": 4, "weight": Values(((1.0, 2.0), (2.0, 1.0)), "ndarray")}


def _refusals(setting: Setting) -> Iterator[Case]:
    for arguments in refused(setting.role):
        yield Case(setting.role, arguments, [], passed=False)


def _flags(setting: Setting) -> Iterator[Case]:
    """Flags that are none; the last argument of each case."""
    made: dict[str, tuple[str, dict[str, Any]]] = {
        "RandomSampler": ("replacement", {"data_source": Data(5)}),
        "WeightedRandomSampler": (
            "replacement", {"weights": Values((1.0, 2.0)), "num_samples": 2},
        ),
        "BatchSampler": ("drop_last", {"sampler": Probe("Counting", 5), "batch_size": 2}),
    }  # fmt: skip
    name, others = made[setting.role]
    for value in ("yes", None, 1, 0):
        yield Case(setting.role, {**others, name: value}, [], passed=False)


REFUSALS = Scenario("refusals", _refusals)
FLAGS = Scenario("flags", _flags)
