"""What a candidate may declare of itself, and which clauses that puts out of force.

The spec explains them (`spec/README.md`, Policies). The first two are held against the candidate;
the others say that it does on purpose what a clause forbids.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

POLICIES = {
    "pads": ("wrap", "repeat", "sentinel", "none"),
    "divides": ("interleaved", "contiguous", "free"),
    "ends": ("always", "never"),
    "length": ("exact", "estimated"),
    "samples": ("once", "by-design"),
    "epochs": ("set", "advance"),
    "batches": ("fixed", "dynamic"),
    "shuffles": ("asked", "always", "never"),
    "ranks": ("any", "one"),
}
"""Each policy with its values."""

NUMBERS = ("sentinel", "largest")
"""Policies that are an int: the padding value; the longest dataset that is worth the time."""

UNSAID = "unsaid"
"""Whether a class shuffles that takes no `shuffle` and declares nothing."""

FREED = {
    ("ends", "never"): ("sampler.ends", "sampler.length"),
    ("length", "estimated"): ("sampler.length", "batch.length"),
    ("samples", "by-design"): (
        "distributed.cover", "distributed.padding", "distributed.drop", "distributed.small",
        "distributed.padding-last", "distributed.order", "distributed.any-world-size",
        "distributed.uniform", "wrapper.cover", "wrapper.order", "wrapper.small", "wrapper.uniform",
        "wrapper.batches", "random.permutation", "random.uniform", "batch.concatenation",
    ),
    ("epochs", "advance"): (
        "sampler.restart", "sampler.interleave", "sampler.copyable", "wrapper.fresh-draw",
    ),
    ("batches", "dynamic"): (
        "batch.sizes", "batch.length", "batch.concatenation", "batch.lazy", "batch.inner-end",
        "distributed.batches",
    ),
    ("shuffles", "never"): (
        "distributed.epochs-differ", "distributed.seed", "distributed.mix", "distributed.uniform",
        "wrapper.shuffle", "wrapper.uniform", "random.uniform",
    ),
    ("ranks", "one"): ("distributed.small",),
    ("shuffles", "always"): ("distributed.order", "wrapper.order", "batch.concatenation"),
}  # fmt: skip
"""What a declared value says that a candidate does otherwise than these clauses demand."""


def checked(policies: dict[str, Any]) -> dict[str, Any]:
    """The policies, if all of them are known. Raises ValueError, in one sentence, if not."""
    for name, value in policies.items():
        if name in NUMBERS and type(value) is int:
            continue
        if name not in POLICIES or value not in POLICIES[name]:
            known = "; ".join(f"{key}: {', '.join(values)}" for key, values in POLICIES.items())
            raise ValueError(f"no policy {name}={value!r}; there are {known}")
    if policies.get("pads") == "sentinel" and "sentinel" not in policies:
        raise ValueError("pads='sentinel' needs the policy sentinel=VALUE, an int")
    return policies


def freed(clause: str, policies: Mapping[str, Any]) -> str:
    """The declared policy that puts a clause out of force, "" if none does."""
    return next(
        (
            f"{name}={value!r}"
            for name, value in policies.items()
            if clause in FREED.get((name, value), ())
        ),
        "",
    )
