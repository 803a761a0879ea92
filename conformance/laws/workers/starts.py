"""Law of `spec/workers.md`: which way workers start."""

from __future__ import annotations

from conformance.case import Case
from conformance.datasets import HERE
from conformance.laws import Violation, law, require
from conformance.laws.loader.due import lacks
from conformance.laws.loading import arguments, returned, rows, runs
from conformance.recipes import Raw
from conformance.trace import Trace


@law("workers.start-method")
def start_method(trace: Trace) -> Violation | None:
    method, said = asked(trace.case)
    require(method and arguments(trace.case)["dataset"].gives == "local")
    rank = returned(trace)
    refused = rank.events[0].error
    require(not lacks(refused))
    if refused is not None:
        return Violation("refused", f"the construction with {said} raised {refused}", about=said)
    found = [run for run in runs(rank) if run.items]
    require(found)
    for run in found:
        shared = [item >= HERE for item in run.items]
        if method == "fork" and not all(shared):
            saw = f"with {said}, workers do not hold what this process held"
            return Violation("not-forked", saw, events=rows(rank, run), about=said)
        if method != "fork" and any(shared):
            saw = f"with {said}, workers hold what only this process held"
            return Violation("forked", saw, events=rows(rank, run), about=said)
    return None


def asked(case: Case) -> tuple[str, str]:
    """The start method that a case asks for, "" if none, and how it is given."""
    given = arguments(case).get("multiprocessing_context")
    if isinstance(given, Raw):
        return given.value, f"a context of {given.value!r}"
    return given or "", f"multiprocessing_context={given!r}"
