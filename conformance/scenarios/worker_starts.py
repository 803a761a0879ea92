"""Cases of `spec/workers.md`: ways to start a worker, by name and by context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Mapped
from conformance.operations import Iterate, Operation, Rebuild
from conformance.recipes import Raw
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import loader, takes


def _started(setting: Setting) -> Iterator[Case]:
    """By name and as a context. Forked workers are asked both ways round, since a construction that
    is refused ends a case, and of two and of one; any other imports torch anew."""
    methods = ("fork", "spawn") if setting.effort.quick else ("fork", "spawn", "forkserver")
    for method in methods:
        if takes(setting, multiprocessing_context=method):
            context = Raw(method, "context")
            fewer = _again(num_workers=1) if method == "fork" else []
            yield _local(
                method, 2 if fewer else 1, *_again(multiprocessing_context=context), *fewer
            )
    if takes(setting, multiprocessing_context="fork"):
        yield _local(Raw("fork", "context"), 1, *_again(multiprocessing_context="fork"))


def _local(start: str | Raw, workers: int, *plan: Operation) -> Case:
    """A pass of workers that start in this way, and what follows."""
    options: dict[str, Any] = {"batch_size": None, "multiprocessing_context": start}
    steps = [Iterate(), *plan]
    return loader(Mapped(2, gives="local"), steps, "alone", num_workers=workers, **options)


def _again(**options: Any) -> list[Operation]:
    """A loader with other options, and a pass."""
    return [Rebuild(tuple(options.items())), Iterate()]


METHODS = Scenario("start-methods", _started)
