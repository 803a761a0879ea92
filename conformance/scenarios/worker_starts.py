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
    """One worker each, which but for a fork imports torch anew; and two that are forked."""
    methods = ("fork", "spawn") if setting.effort.quick else ("fork", "spawn", "forkserver")
    for method in methods:
        given: dict[str, Any] = {"multiprocessing_context": method}
        if takes(setting, **given):
            context = Rebuild((("multiprocessing_context", Raw(method, "context")),))
            plan: list[Operation] = [Iterate(), context, Iterate()]
            plan += [Rebuild((("num_workers", 2),)), Iterate()] if method == "fork" else []
            data = Mapped(2, gives="local")
            yield loader(data, plan, "alone", num_workers=1, batch_size=None, **given)


METHODS = Scenario("start-methods", _started)
