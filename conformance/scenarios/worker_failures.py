"""Cases of `spec/workers.md` in which workers raise, die, or get what cannot be sent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.loading import Journal, Limit, Schedule, Strike, Trickle
from conformance.operations import Drain, Open, Operation, Take
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import ROLE, loader, parcels, takes
from conformance.worlds.mishaps import ORDINARY

KINDS = (
    "Planned", "ValueError", "KeyError", "OSError", "Coded", "UnicodeDecodeError", "TwoArguments",
    "KeywordOnly", "WithMessage", "ExceptionGroup", "Building",
)  # fmt: skip

COMMON = (
    "MemoryError", "OSError", "RuntimeError", "TypeError", "AssertionError", "EOFError",
    "ArithmeticError", "LookupError", "AttributeError", "ImportError", "BufferError",
    "ReferenceError", "SyntaxError", "SystemError", "NameError", "Warning", "Planned",
)  # fmt: skip
"""One of each branch of the builtin exceptions."""

UNSENT = ("Local", "Unpicklable", "Explosive")
"""Exceptions that pickle does not carry."""

AT_ONCE = 18  # exceptions of different classes in one pass

TWICE: list[Operation] = [step for name in "ab" for step in (Open(name), *[Drain(name)] * 3)]
"""Two passes, each read to its end past two errors."""


def walk(count: int) -> list[Operation]:
    """One pass, with every `next()` an operation of its own."""
    return [Open("a"), *(Take("a") for _ in range(count)), Journal()]


def faulty(what: str, *places: int, where: str = "item") -> tuple[Fault, ...]:
    """The same mishap at these places."""
    return tuple(Fault(where, at, what) for at in places)


def _errors(setting: Setting) -> Iterator[Case]:
    """Every kind of exception, in an item, in collation, and in an item of an iterable dataset.

    Alone, because torch takes 5 s a worker to end an iterator that is dropped after an error.
    """
    plan: list[Operation] = [Open("a"), Drain("a"), Drain("a")]
    one: dict[str, Any] = {"world": "alone", "batch_size": 2, "num_workers": 1}
    for kind in KINDS:
        yield loader(Mapped(4, faults=faulty(kind, 2)), plan, **one)
    for kind in KINDS:
        collate = Collate(faults=faulty(kind, 2, where="collate"))
        yield loader(Mapped(4), plan, collate_fn=collate, **one)
    for kind in KINDS:
        data = Stream(6, faults=faulty(kind, 3))
        yield loader(data, plan, "alone", batch_size=None, num_workers=2)
    yield from _every_class()
    passing = Mapped(4, faults=(Fault("item", 2, "OSError", once=True),))
    yield loader(passing, plan, **one)
    three = Mapped(7, faults=faulty("OSError", 2, 5))
    ways: list[dict[str, Any]] = [{}, {"persistent_workers": True}, {"pin_memory": True}]
    if takes(setting, in_order=1):
        ways.append({"in_order": False})
    if setting.effort.name == "nightly":
        ways += [{"multiprocessing_context": start} for start in ("spawn", "forkserver")]
    for options in ways:
        yield loader(three, TWICE, "alone", num_workers=3, **options)
    for kind in ("Located", "Percent", "LocalPercent", "Hollow", "Slotted"):
        yield loader(Mapped(4, faults=faulty(kind, 2)), plan, **one)


def _every_class() -> Iterator[Case]:
    """Every builtin class, many in one pass; one that no handler of Exception sees."""
    kinds = (*ORDINARY, "Dropped", "Empty", "Full", "Long", "FileName")
    for number, start in enumerate(range(0, len(kinds), AT_ONCE)):
        several = kinds[start : start + AT_ONCE]
        where = ("item", "collate")[number % 2]
        faults = tuple(Fault(where, at, kind) for at, kind in enumerate(several))
        collate = Collate(faults=faults if where == "collate" else ())
        data = Mapped(len(several) + 1, faults=faults if where == "item" else ())
        plan: list[Operation] = [Open("a"), *[Drain("a")] * (len(several) + 1)]
        options: dict[str, Any] = {"collate_fn": collate, "num_workers": 1 + number % 2}
        yield loader(data, plan, "alone", **options)
    for kind in ("Direct", "Chained"):
        data = Mapped(2, faults=faulty(kind, 0))
        yield loader(data, [Open("a"), Drain("a"), Drain("a")], "alone", num_workers=1)


def _places(setting: Setting) -> Iterator[Case]:
    """Errors of the dataset, at the first, at middle and at last places."""
    plan: list[Operation] = [Open("a"), *(Drain("a") for _ in range(3))]
    for workers in (1, 2, 3):
        for at in (0, 1, 4, 7):
            data = Mapped(8, faults=faulty("Planned", at))
            yield loader(data, plan, batch_size=None, num_workers=workers)
    # The error is under way while an earlier batch still waits at the gate.
    for turns in ((1, 1, 0, 0, 0, 1), (0, 1, 1, 0, 1, 0)):
        slow = parcels(6, num_workers=2, prefetch_factor=3)
        slow["dataset"] = Mapped(6, gives="parcel", gated=1, faults=faulty("Planned", turns[0] * 2))
        yield Case(ROLE, slow, [Schedule(turns, arrival=False), *plan])
    collate = Collate(faults=faulty("Planned", 4, where="collate"))
    yield loader(Mapped(8), plan, batch_size=2, num_workers=2, collate_fn=collate)


def _late_places(setting: Setting) -> Iterator[Case]:
    """Errors of every kind, each of which arrives before the batch that it has to wait for."""
    several = tuple(Fault("item", 2 * at + 2, kind) for at, kind in enumerate(COMMON))
    data = Mapped(2 * len(COMMON) + 2, gated=2, faults=several)
    walked = [Trickle(-1, 0.05), Open("a"), *[Drain("a")] * (len(COMMON) + 1)]
    yield loader(data, walked, "alone", batch_size=None, num_workers=2)


def _sampling(setting: Setting) -> Iterator[Case]:
    """Errors of the sampler, at first, middle and last places."""
    plan: list[Operation] = [Open("a"), *(Take("a") for _ in range(10))]
    for workers, at in ((1, 0), (1, 1), (1, 7), (2, 1), (2, 6), (3, 4)):
        failing = Order(8, faults=_in_sampler(at))
        options: dict[str, Any] = {"num_workers": workers, "sampler": failing}
        yield loader(Mapped(8), plan, "alone", batch_size=None, **options)
    down = Order(8, "descending", _in_sampler(5))
    options = {"num_workers": 2, "prefetch_factor": 1, "sampler": down}
    yield loader(Mapped(8), plan, "alone", batch_size=2, **options)
    batches = Order(5, "batches", _in_sampler(3))
    yield loader(Mapped(10), plan, "alone", num_workers=1, batch_sampler=batches)
    if takes(setting, in_order=1):
        for workers, at in ((1, 3), (2, 0), (2, 7)):
            free: dict[str, Any] = {"in_order": False, "num_workers": workers}
            yield loader(Mapped(8), plan, "alone", sampler=Order(8, faults=_in_sampler(at)), **free)
    options = {"sampler": Order(8, faults=_in_sampler(6)), "persistent_workers": True}
    again: list[Operation] = [*plan, Open("b"), *(Take("b") for _ in range(10))]
    yield loader(Mapped(8), again, "alone", num_workers=2, **options)


def _in_sampler(at: int, what: str = "Planned") -> tuple[Fault, ...]:
    return faulty(what, at, where="sampler")


def _starts(setting: Setting) -> Iterator[Case]:
    """`worker_init_fn`, or an iterable dataset's `__iter__`, fails in one worker or in all."""
    kinds = ("Planned", "OSError", "KeywordOnly", "TwoArguments", "Building")
    for workers, failing in ((1, 0), (2, 1), (3, 0)):
        for kind in kinds:
            init = Init(faults=faulty(kind, failing, where="init"))
            options: dict[str, Any] = {"num_workers": workers, "worker_init_fn": init}
            yield loader(Mapped(4), walk(7), "alone", **options)
    for kind in kinds:
        data = Stream(6, faults=faulty(kind, 0, where="iter"))
        yield loader(data, walk(6), "alone", batch_size=None, num_workers=1)
    data = Stream(6, faults=faulty("Planned", 1, where="iter"))
    yield loader(data, walk(9), "alone", batch_size=None, num_workers=2)
    again: list[Operation] = [*walk(5)[:-1], Open("b"), *(Take("b") for _ in range(5))]
    init = Init(faults=faulty("Planned", 0, where="init"))
    for options in ({}, {"persistent_workers": True}):
        one: dict[str, Any] = {"num_workers": 1, **options}
        yield loader(Mapped(3), again, "alone", worker_init_fn=init, **one)
        failing_iter = Stream(6, faults=faulty("Planned", 0, where="iter"))
        yield loader(failing_iter, again, "alone", batch_size=2, **one)


def _unsent(setting: Setting) -> Iterator[Case]:
    """What cannot be sent to a worker or back; the first seven make torch wait for ever."""
    plan = walk(6)
    two: dict[str, Any] = {"num_workers": 2, "world": "alone"}
    lists: dict[str, Any] = {"collate_fn": Collate("list"), **two}
    yield loader(Mapped(4, faults=faulty("unpicklable", 1)), plan, **lists)
    yield loader(Mapped(4, faults=faulty("Local", 1)), plan, **two)
    yield loader(Mapped(4, faults=faulty("bursting", 1)), plan, **lists)
    yield loader(Mapped(4), plan, sampler=Order(4, "lambdas"), **two)
    yield loader(Mapped(4), plan, sampler=Order(4, faults=_in_sampler(1, "bursting")), **lists)
    local = Init(faults=faulty("Local", 0, where="init"))
    yield loader(Mapped(4), plan, worker_init_fn=local, **two)
    yield loader(Stream(4, faults=faulty("unpicklable", 1)), plan, **lists)
    yield _writing()
    many = Mapped(12, faults=faulty("ValueError", *range(12)))
    yield loader(many, walk(14), "alone", batch_size=None, num_workers=2)
    for kind in ("Unpicklable", "Explosive"):
        yield loader(Mapped(4, faults=faulty(kind, 2)), plan, **two)
        collate = Collate(faults=faulty(kind, 2, where="collate"))
        yield loader(Mapped(4), plan, collate_fn=collate, **two)
    for at in (0, 1, 3):
        yield loader(Mapped(4), plan, sampler=Order(4, faults=_in_sampler(at)), **two)
    unread = Order(4, faults=faulty("Planned", 0, where="begin"))
    yield loader(Mapped(4), plan, sampler=unread, batch_size=None, **two)
    start: dict[str, Any] = {"multiprocessing_context": "spawn", "collate_fn": Collate("lambda")}
    yield loader(Mapped(4), plan, **start, **two)


def _bursting(setting: Setting) -> Iterator[Case]:
    """Spawned workers that cannot even unpickle what they are to work on."""
    for count, persistent in ((1, False), (2, True)):
        options: dict[str, Any] = {"num_workers": count, "persistent_workers": persistent}
        data = Mapped(4, gives="bursting")
        yield loader(data, walk(3), "alone", multiprocessing_context="spawn", **options)


def _unforked(setting: Setting) -> Iterator[Case]:
    """Forks that fail."""
    few: dict[str, Any] = {"num_workers": 2, "multiprocessing_context": "fork"}
    yield loader(Mapped(4), [Limit("processes", 1), *walk(3)], "alone", **few)


def _writing() -> Case:
    """A worker is killed while it writes a large result, and holds what it holds for that.

    The result does not report its arrival, so that the turn lasts, and the other worker waits.
    """
    options: dict[str, Any] = {"num_workers": 2, "prefetch_factor": 4, "batch_size": None}
    plan: list[Operation] = [Schedule((0,)), Open("a"), Strike(0), *walk(8)[1:]]
    return loader(Mapped(12, gives="bulk", gated=1), plan, "alone", **options)


ERRORS = Scenario("worker-errors", _errors)
PLACES = Scenario("error-places", _places)
LATE_PLACES = Scenario("late-places", _late_places)
SAMPLING = Scenario("sampler-errors", _sampling)
STARTS = Scenario("failing-starts", _starts)
UNSENDABLE = Scenario("unsendable", _unsent)
BURSTING = Scenario("bursting", _bursting, slow=True)
UNFORKED = Scenario("unforked", _unforked)
