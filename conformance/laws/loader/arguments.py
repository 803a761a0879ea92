"""Law of `spec/loader.md`: options that are out of range or contradict each other are refused."""

from __future__ import annotations

from conformance.case import Case
from conformance.datasets import Stream
from conformance.laws import Violation, law
from conformance.laws.loading import arguments, returned
from conformance.trace import Trace


@law("loader.reject")
def reject(trace: Trace) -> Violation | None:
    """Everything that the case gives besides its dataset is what must be refused."""
    error, about = returned(trace).events[0].error, given(trace.case)
    if error is None:
        return Violation("accepted", f"{about} was accepted", about=about)
    if not error.is_a("TypeError", "ValueError"):
        return Violation("wrong-exception", f"{about} raised {error}", about=about)
    return None


def given(case: Case) -> str:
    """The options of a case as text."""
    options = {name: value for name, value in case.arguments if name != "dataset"}
    text = ", ".join(f"{name}={value!r}" for name, value in options.items())
    return text + " over an iterable dataset" * isinstance(arguments(case)["dataset"], Stream)
