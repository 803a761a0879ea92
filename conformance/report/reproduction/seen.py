"""What a run saw, in the words of a script: plain lists, numbers and names of exceptions.

Process numbers, addresses and times are left out, so that the same fault is the same value again.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance import operations as op
from conformance.report.reproduction.draft import Draft
from conformance.trace import Event, Items, RankTrace

NOTHING = "nothing raised"
"""What is seen where a plan looks at nothing and no exception came."""

LONG = 60
"""More items than these are compared by their number, their beginning and a checksum."""

BRIEF = [
    "def brief(items):",
    "    return [len(items), items[:4], zlib.crc32(repr(items).encode())]",
]


def brief(items: list[Any]) -> list[Any]:
    """What is compared of many items."""
    return [len(items), items[:4], zlib.crc32(repr(items).encode())]


def brief_defined(draft: Draft) -> str:
    """The name of the script's own function for it."""
    draft.need("zlib")
    return draft.define("brief", BRIEF)


@dataclass(frozen=True)
class Form:
    """How items are written down: each of them, and all of them; where a pass was cut off."""

    each: str = "i"
    wrap: str = "{}"
    cut: int = 0
    extra: int = 0


def form_of(event: Event, draft: Draft) -> Form:
    """The form in which an event's items are told apart from right ones."""
    found = event.value[0] if isinstance(event.value, tuple) else event.value
    if not isinstance(found, Items):
        return Form()
    wrap = "{}"
    if len(found.values) > LONG:
        wrap = brief_defined(draft) + "({})"
    return Form(_each(found), wrap, draft.case.limit if found.cut else 0, found.extra)


def _each(items: Items) -> str:
    """The expression for one item `i`."""
    if items.unreadable:
        return "type(i).__name__"
    plain = set(items.kinds) <= {"int"}
    if items.sizes is None:
        told = "(type(i).__name__, int(i))" if len(items.kinds) == 1 else "int(i)"
        return "i" if plain else told
    if plain and set(items.containers) <= {"list"}:
        return "i"
    inner = "[int(k) for k in i]"
    return inner if len(items.containers) > 1 else f"(type(i).__name__, {inner})"


def _short(kinds: tuple[str, ...]) -> list[str]:
    return [kind.rpartition(".")[2] for kind in kinds]


def _items(found: Items) -> list[Any]:
    """The items in their form."""
    values, each = found.tolist(), _each(found)
    if each.startswith("type"):
        kinds = _short(found.containers or found.kinds)
        return [kinds[min(place, len(kinds) - 1)] for place in range(len(values))]
    if each.startswith("(type"):
        kind = _short(found.kinds if found.sizes is None else found.containers)[0]
        return [(kind, value) for value in values]
    return values


def shown(found: Items) -> list[Any]:
    """What is appended for a pass."""
    items = _items(found)
    told = brief(items) if len(found.values) > LONG else items
    return [told, found.extra] if found.extra else [told]


def idle(events: tuple[Event, ...]) -> set[int]:
    """The places of operations on an iterator that could not be opened: they do nothing."""
    closed, found = set[str](), set[int]()
    for place, event in enumerate(events):
        name = getattr(event.operation, "name", None)
        if isinstance(event.operation, op.Open):
            closed = closed | {str(name)} if event.error else closed - {str(name)}
        elif name in closed:
            found.add(place)
    return found


class Seen:
    """What one rank saw, event by event."""

    def __init__(self, trace: RankTrace) -> None:
        self.trace, self.states = trace, dict[str, int]()
        if trace.settings is not None:
            self.states["settings"] = trace.settings

    def all(self) -> list[Any]:
        """All that a script would have appended to `now`."""
        events, skipped = self.trace.events, idle(self.trace.events)
        shown = (event for place, event in enumerate(events) if place not in skipped)
        found = [seen for event in shown for seen in self.one(event)]
        return found or [NOTHING]

    def one(self, event: Event) -> list[Any]:
        """What one event shows."""
        if event.error is not None:
            return [event.error.kind]
        tell = TELL.get(type(event.operation))
        return tell(self, event.value) if tell else []

    def globals(self, value: dict[str, int]) -> list[Any]:
        """The states that have changed."""
        before, self.states = self.states, value
        return [sorted(name for name in value if value[name] != before.get(name))]


def _looked(_: Seen, value: Any) -> list[Any]:
    return [*shown(value[0]), value[1].kind if value[1] else NOTHING]


def _same(_: Seen, value: Any) -> list[Any]:
    return ["as handed over" if value[0] == value[1] else "changed"]


TELL: dict[type, Callable[[Seen, Any], list[Any]]] = {
    op.Len: lambda _, value: [value],
    op.Iterate: lambda _, value: shown(value), op.Validate: lambda _, value: shown(value),
    op.Within: lambda _, value: shown(value),
    op.Passes: lambda _, value: shown(value),
    op.Epochs: lambda _, value: shown(value), op.Take: lambda _, value: shown(value),
    op.Drain: lambda _, value: shown(value), op.Inner: lambda _, value: shown(value),
    op.Twin: lambda _, value: shown(value),
    op.Look: _looked, op.Globals: Seen.globals, op.Arguments: _same,
    op.Inspect: lambda _, value: [value], op.Scribble: lambda _, value: [value],
}  # fmt: skip
