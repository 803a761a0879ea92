"""Views that the laws of failing workers share: what each `next()` gave, and what was planned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from conformance import loading as lo
from conformance import operations as op
from conformance.case import Case
from conformance.classes import faults
from conformance.datasets import Collate, Fault, Init, Mapped, Order
from conformance.laws.loading import arguments, got
from conformance.trace import Error, Event, RankTrace, writable
from conformance.worlds.mishaps import EXCEPTIONS, GIVES

ASKS = (op.Take, op.Drain, lo.Interrupt)

COUNTED_AS_DEATH = ("SystemExit", "CleanExit", "KeyboardInterrupt")
"""Exceptions that end a worker; loaders may report them as exceptions all the same."""


@dataclass(frozen=True)
class Step:
    """What one call of `next()` gave: an item, an error, or the end if there is neither.

    event: its event's number. An error of `iter()` itself is a step as well: the only one.
    """

    event: int
    item: object = None
    error: Error | None = None
    ended: bool = False


def walks(rank: RankTrace) -> list[list[Step]]:
    """The steps of each iterator of the plan, in the order in which they were begun."""
    found: list[list[Step]] = []
    named: dict[str, list[Step]] = {}
    for number, event in enumerate(rank.events):
        did = event.operation
        if isinstance(did, (op.Iterate, op.Open)):
            found.append([])
            if isinstance(did, op.Open) and event.error is None:
                named[did.name] = found[-1]
                continue
            found[-1].extend(_steps(number, event))
        elif isinstance(did, ASKS) and did.name in named:
            named[did.name].extend(_steps(number, event))
    return found


def _steps(number: int, event: Event) -> Iterator[Step]:
    items = got(event)
    for item in items:
        yield Step(number, item)
    if event.error is not None:
        yield Step(number, error=event.error)
    elif len(items) < _asked(event):
        yield Step(number, ended=True)


def _asked(event: Event) -> float:
    """How many items an operation asked for; one that was cut off at the limit has not ended."""
    if isinstance(event.operation, op.Take):
        return event.operation.count
    if isinstance(event.operation, lo.Interrupt):
        return 1
    return 0 if getattr(event.value, "cut", False) else float("inf")


def items(walk: list[Step]) -> list[object]:
    """All that an iterator delivered."""
    return [step.item for step in walk if step.error is None and not step.ended]


def first_error(walk: list[Step]) -> int | None:
    """The place of the first error among the steps of an iterator."""
    return next((place for place, step in enumerate(walk) if step.error is not None), None)


def raises(fault: Fault) -> bool:
    """Whether it is an exception that a worker survives."""
    others = (*GIVES, "StopIteration", *COUNTED_AS_DEATH)
    return fault.what not in others and not fault.what.startswith(("SIG", "exit "))


def kills(fault: Fault) -> bool:
    """Whether it ends the process in which it happens."""
    return fault.what.startswith(("SIG", "exit ")) or fault.what in COUNTED_AS_DEATH


def chain(error: Error) -> Iterator[Error]:
    """An error and all that stand behind it."""
    yield error
    for other in error.behind:
        yield from chain(other)


def text(error: Error) -> str:
    """All that an error tells, by itself, in its notes, and by what stands behind it."""
    parts = [(f"{one.kind}: {one.message}", *one.notes) for one in chain(error)]
    return "\n".join(line for part in parts for line in part)


def unfaithful(error: Error, fault: Fault) -> str:
    """What is wrong with an error that reports a planned exception; "" if nothing is.

    It is of its own type with its message, or it tells both and the worker's traceback: that
    names the function that raised, whatever its form.
    """
    told = text(error)
    if not names(told, fault) or kind_of(fault) not in told:
        return "other-error"
    if fault.what == "Long" and own_text(fault) not in told:
        return "changed-message"
    if error.kind != kind_of(fault):
        return "" if "happen" in told else "no-traceback"
    return "changed-message" if _requoted(error.message, fault) else ""


def kind_of(fault: Fault) -> str:
    """The name of the planned exception's class; of what is none, its own."""
    made = EXCEPTIONS.get(fault.what)
    return type(made("")).__name__ if made else fault.what


def own_text(fault: Fault) -> str:
    """What the planned exception says of itself; "" if it is none."""
    made = EXCEPTIONS.get(fault.what)
    return writable(str(made(f"planned {fault.at}"))) if made else ""


def names(told: str, fault: Fault) -> bool:
    """Whether a text has the text of this very exception; a clean exit has none but its class."""
    if fault.what == "CleanExit":
        return kind_of(fault) in told
    return re.search(rf"planned {fault.at}\b", told) is not None


def _requoted(message: str, fault: Fault) -> bool:
    """Whether a message is not that of the exception, though it has no words but those of it."""
    own = own_text(fault) or message
    return message != own and set(re.findall(r"\w+", message)) == set(re.findall(r"\w+", own))


def wrong(case: Case) -> str:
    """All in a case that goes wrong, in a few words."""
    found = [f"{fault.what} in {fault.where}" for fault in faults(case)]
    found += [_unsendable(name, value) for name, value in case.arguments]
    data = arguments(case).get("dataset")
    writing = " that writes a large result" if getattr(data, "gives", "") == "bulk" else ""
    for step in case.plan:
        if isinstance(step, lo.Strike):
            found.append(f"{step.how} of a worker{writing}")
        if isinstance(step, lo.Schedule) and step.dies >= 0:
            found.append(f"{step.how} at a turn")
        if isinstance(step, lo.Limit) and step.spare >= 0:
            found.append(f"few {step.what}")
    return ", ".join(dict.fromkeys(filter(None, found)))


def _unsendable(name: str, value: object) -> str:
    if isinstance(value, Order) and value.how == "lambdas":
        return "unpicklable index"
    if isinstance(value, (Collate, Init)) and value.how == "lambda":
        return f"unpicklable {name}"
    if isinstance(value, Mapped) and value.gives == "bursting":
        return f"{name} that cannot be unpickled"
    return ""
