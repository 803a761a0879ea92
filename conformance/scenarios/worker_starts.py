"""Cases of `spec/workers.md`: ways to start a worker, by name and by context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Init, Mapped
from conformance.operations import Iterate, Operation, Rebuild
from conformance.recipes import Raw
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import loader, takes


def _started(setting: Setting) -> Iterator[Case]:
    """By name and as a context. One to three workers are forked, and asked both ways round, since a
    construction that is refused ends its case; any other worker imports torch anew. What cannot be
    sent may be refused, and is no leave to fork."""
    methods = ("fork", "spawn") if setting.effort.quick else ("fork", "spawn", "forkserver")
    for method in methods:
        if takes(setting, multiprocessing_context=method):
            plan = _again(multiprocessing_context=Raw(method, "context"))
            plan += _again(num_workers=1) if method == "fork" else []
            yield _local(plan, method, num_workers=3 if method == "fork" else 1)
    if takes(setting, multiprocessing_context="fork"):
        plan, context = _again(multiprocessing_context="fork"), Raw("fork", "context")
        yield _local(plan, context, num_workers=2, persistent_workers=True)
    if takes(setting, multiprocessing_context="spawn"):
        yield _local([], "spawn", num_workers=1, worker_init_fn=Init("lambda"))


def _local(plan: list[Operation], start: str | Raw, **options: Any) -> Case:
    """A pass of workers that start in this way, and what follows."""
    given: dict[str, Any] = {"batch_size": None, "multiprocessing_context": start, **options}
    return loader(Mapped(3, gives="local"), [Iterate(), *plan], "alone", **given)


def _again(**options: Any) -> list[Operation]:
    """A loader with other options, and a pass."""
    return [Rebuild(tuple(options.items())), Iterate()]


METHODS = Scenario("start-methods", _started)
