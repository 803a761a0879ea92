"""The fault zoo as a catalogue: every wrong class with what it claims, every right one.

The classes themselves live in `tests/faults/`, one module for each subject. What reads the zoo (the
test of every fault, the detection score, the traceability table) reads it through here.
"""

from __future__ import annotations

import importlib
import inspect
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.clauses import CHAPTERS, clauses
from conformance.machine import accelerators, has_accelerator

ZOO = Path(__file__).parent / "faults"
sys.path.insert(0, str(ZOO))  # as --impl does with the folder of a file

WHOLE = os.environ.get("CONFORMANCE_ZOO") == "all"
"""Whether the tests that take longest are done wholly: what a usual run leaves out, they say."""

SAMPLING = CHAPTERS[: CHAPTERS.index("loader")]
"""The chapters on samplers; those after them are on loaders."""

WRONG = (
    "shares", "share_orders", "passes", "constructions", "randomness", "wrappers", "liar",
    "shuffles", "throws", "weights", "batches", "loaders", "loaders_data", "loaders_collation",
    "loaders_values", "loaders_samplers", "loaders_errors", "loaders_passes", "workers",
    "worker_state", "worker_streams", "worker_timeouts", "worker_failures", "worker_idles",
    "worker_starts", "worker_deaths", "streams", "stream_lengths", "stream_ends", "transfers",
    "pinning_threads", "lifecycles", "lifecycle_interrupts", "lifecycle_deaths", "balanced",
    "balanced_orders", "sequences", "returns", "epochs", "sizes", "relations", "wrapper_shuffles",
    "wrapped_kinds", "scales", "labels", "left_behind", "borders", "thresholds", "stream_turns",
    "worker_haste", "worker_limits", "loaders_limits", "loaders_assumptions", "handed_over",
    "besides", "balanced_draws", "quotients", "settings_left", "loaders_shortcuts",
    "worker_shortcuts", "lifecycle_shortcuts", "lifecycle_threads", "loaders_oversights",
    "samplers_neglects", "loaders_neglects", "loaders_settings", "worker_neglects",
    "loaders_habits", "loaders_guesses", "samplers_guesses", "samplers_signs", "loaders_signs",
    "loaders_trusts", "samplers_lapses", "loaders_lapses", "worker_lapses", "samplers_slips",
    "loaders_slips", "worker_slips", "samplers_handed", "loaders_handed", "samplers_overlooked",
    "loaders_overlooked", "worker_overlooked", "samplers_meetings", "loaders_meetings",
    "loaders_partings", "loaders_neighbours", "samplers_places", "loaders_places",
    "samplers_traces", "loaders_traces", "samplers_savings", "loaders_savings", "worker_savings",
    "loaders_peculiar", "loaders_changes",
)  # fmt: skip

RIGHT = {
    "good": SAMPLING,
    "good_blocks": SAMPLING,
    "good_sentinel": SAMPLING,
    "good_uneven": SAMPLING,
    "good_undeclared": SAMPLING,
    "good_repeat": SAMPLING,
    "good_advancing": SAMPLING,
    "good_bound": SAMPLING,
    "good_draws": SAMPLING,
    "good_streaming": SAMPLING,
    "good_loaders": ("loader",),
    "good_workers": ("workers",),
    "good_worker_failures": ("workers",),
    "good_streams": ("iterable", "transfer"),
    "good_lifecycles": ("lifecycle",),
}
"""Modules of right classes, and the chapters that each does otherwise than most."""

HONEST = ("DistributedSampler", "DistributedSamplerWrapper")

CITED = re.compile(r"\bB\d{3}\b")


@dataclass(frozen=True)
class Fault:
    """A wrong class: what is wrong in one sentence, the clauses that must say so, and how.

    anomaly: what the first clause calls it, "" if that is left open. cites: rows of the corpus of
    reported bugs, such as B048. profile: the one in which it is wrong. devices: the accelerators
    that a machine must have to tell it from a right class; one where a clause is about them.
    """

    module: str
    name: str
    sentence: str
    caught_by: tuple[str, ...]
    anomaly: str
    cites: tuple[str, ...]
    profile: str = "core"
    devices: int = 0

    @property
    def here(self) -> list[str]:
        """The clauses it names that this machine can judge."""
        return [name for name in self.caught_by if self._judged(name)]

    def _judged(self, clause: str) -> bool:
        if clause == "transfer.no-accelerator":
            return not has_accelerator()
        needed = max(self.devices, clauses()[clause].accelerator)
        return not needed or accelerators() >= needed

    @property
    def text(self) -> str:
        """What `--impl` would be given."""
        return f"{ZOO / self.module}.py:{self.name}".rstrip(":")

    @property
    def samples(self) -> bool:
        """Whether it is a fault of samplers; the others start worker processes."""
        return clauses()[self.caught_by[0]].chapter in SAMPLING


BROKEN = {
    "wrapper.agree": "DistributedSamplerWrapper",
    "balanced.distributed": "WeightedBalanceClassSampler",
    "wrapper.set-epoch": "DistributedSamplerWrapper",
    "balanced.seeded": "WeightedBalanceClassSampler",
    "wrapper.small": "DistributedSamplerWrapper",
    "balanced.labels": "WeightedBalanceClassSampler",
    "wrapper.order": "DistributedSamplerWrapper",
    "balanced.reject": "WeightedBalanceClassSampler",
}
"""The clauses that the published balanced samplers and their wrapper break, with a role each."""

PUBLISHED = Fault(
    "published_balanced", "",
    "Class-balanced sampling for distributed training as it was published.",
    tuple(BROKEN), "", (),
)  # fmt: skip
"""A module that is a candidate as a whole: it provides three roles, and each of them is wrong."""


def classes(module: str) -> list[type]:
    """The classes that a module of the zoo defines itself, in order."""
    found = importlib.import_module(module)
    own = [k for k in vars(found).values() if inspect.isclass(k) and k.__module__ == module]
    return [kind for kind in own if not kind.__name__.startswith("_")]


def wrong() -> Iterator[Fault]:
    """Every wrong class of the zoo, in order."""
    for module in WRONG:
        for kind in classes(module):
            said = inspect.getdoc(kind) or ""
            yield Fault(
                module, kind.__name__, " ".join(said.split("\n\n")[0].split()),
                tuple(kind.CAUGHT_BY), getattr(kind, "ANOMALY", ""),  # type: ignore[attr-defined]
                tuple(dict.fromkeys(CITED.findall(said))),
                getattr(importlib.import_module(module), "PROFILE", "core"),
                getattr(kind, "DEVICES", 0),
            )  # fmt: skip
