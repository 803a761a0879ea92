"""Cases of `spec/workers.md`: ways to start a worker, by name and by context."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Iterate
from conformance.recipes import Raw
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import loader, takes

STARTS = ("fork", Raw("fork", "context"), Raw("forkserver", "context"), "spawn")


def _started(setting: Setting) -> Iterator[Case]:
    """One worker each; but for a fork it imports torch anew."""
    for start in STARTS:
        options = {"num_workers": 1, "batch_size": None, "multiprocessing_context": start}
        if takes(setting, **options):
            yield loader(Mapped(2, gives="local"), [Iterate()], "alone", **options)


METHODS = Scenario("start-methods", _started)
