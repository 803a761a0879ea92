"""Cases of `spec/workers.md` in which workers die."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.datasets import Collate, Init, Mapped, Order, Stream
from conformance.loading import Hold, Journal, Schedule, Settle, Strike, Trickle
from conformance.operations import Open, Operation, Take
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.loading import ROLE, loader, parcels, schedules, takes
from conformance.scenarios.worker_failures import faulty, walk


def _deaths(setting: Setting) -> Iterator[Case]:
    """Deaths at the first, a middle and the last batch, in an item, at a turn, and at the start.

    The first seven take torch 5 s each.
    """
    yield from _dying_at_batches("exit 0")
    yield _dying(Stream(8, faults=faulty("exit 0", 2)))
    yield _dying(Mapped(6, faults=faulty("KeyboardInterrupt", 0)))
    yield from _idle()
    for how in ("SIGKILL", "SIGSEGV", "exit 1"):
        yield from _dying_at_batches(how)
    yield _dying_at_turn("SIGKILL", 3, sampler=Order(8, "turning"))
    for how in ("exit 3", "SIGTERM"):
        yield _dying(Mapped(6, faults=faulty(how, 0)))
        yield _dying_at_turn(how, 4, workers=3)
        yield _dying(Mapped(6), worker_init_fn=Init(faults=faulty(how, 0, where="init")))
    collate = Collate(faults=faulty("SIGKILL", 0, where="collate"))
    yield _dying(Mapped(6), collate_fn=collate)
    yield _dying_at_turn("SIGKILL", 2, data=Stream(8, gives="parcel", gated=1))
    yield _dying(Stream(8, faults=faulty("exit 3", 0, where="iter")))
    yield _dying(Mapped(6, faults=faulty("SystemExit", 0)))
    for how in ("SIG37", "exit 139", "exit 255"):
        yield _dying(Mapped(6, faults=faulty(how, 0)))
    busy = Mapped(6, faults=faulty("SIGKILL", 0), gated=1)
    lists: dict[str, Any] = {"num_workers": 2, "collate_fn": Collate("list")}
    once: list[Operation] = [Trickle(-1, 0.1, item=0), Open("a"), Take("a"), Journal()]
    yield loader(busy, once, "alone", **lists)  # the other one is busy
    if takes(setting, timeout=1):  # it bounds how long a batch may take, not whose death is told
        yield _dying(Mapped(6, faults=faulty("SIGKILL", 0)), timeout=5)
    if takes(setting, in_order=1):
        yield _dying(Mapped(6, faults=faulty("SIGKILL", 0)), in_order=False)
        yield _dying_at_turn("SIGKILL", 3, in_order=False)
        yield loader(busy, once, "alone", **lists, in_order=False)
    # It is not the one that is waited for; whoever deals by blocks deals by one batch.
    other, lists = Mapped(6, faults=faulty("SIGKILL", 1), gated=1), {**lists, "prefetch_factor": 1}
    yield loader(other, [Trickle(-1, 0.1, item=1), *once[1:]], "alone", **lists)
    yield _beside_another()
    for kind, n in ((Stream, 8), (Mapped, 6)):
        yield _dying(kind(n, faults=faulty("CleanExit", 2)))


def _dying_at_batches(how: str) -> Iterator[Case]:
    for dies in (0, 3, 7):
        yield _dying_at_turn(how, dies)


def _dying_at_turn(how: str, dies: int, workers: int = 2, data: Any = None, **options: Any) -> Case:
    """It is not the worker whose result came last: its own last result is wholly sent, so that no
    lock of the queue dies with it."""
    arguments = parcels(4 * workers, num_workers=workers, **options)
    arguments["dataset"] = data or arguments["dataset"]
    turns = tuple(range(workers)) * 4
    plan = [Schedule(turns, dies=dies, how=how), *walk(4 * workers + 3)]
    return Case(ROLE, arguments, plan, world="alone")


def _dying(data: Any, **options: Any) -> Case:
    """The only worker dies on the way to its first batch."""
    given = {"collate_fn": Collate("list"), "num_workers": 1, **options}
    return loader(data, [Hold(), *walk(9)], "alone", **given)


def _idle() -> Iterator[Case]:
    """A worker is killed while it waits for work, in the first pass and in the second."""
    lists: dict[str, Any] = {"num_workers": 2, "collate_fn": Collate("list")}
    struck = [Open("a"), Take("a"), Settle(), Strike(1), *walk(12)[1:]]
    yield loader(Mapped(12), struck, "alone", **lists)
    first: list[Operation] = [Open("a"), *(Take("a") for _ in range(9))]
    plan = [*first, Open("b"), Take("b"), Settle(), Strike(0), *(Take("b") for _ in range(10))]
    yield loader(Mapped(8), [*plan, Journal()], "alone", persistent_workers=True, **lists)


def _beside_another() -> Case:
    """The worker of a pass is killed while another pass goes on: who waits for every child there
    takes the status that the first one has to tell."""
    both = [Open("a"), Take("a"), Open("b"), Take("b"), Settle(), Strike(0)]
    plan = [*both, *[Take("a")] * 4, *[Take("b")] * 12, Journal()]
    return loader(Mapped(12), plan, "alone", num_workers=1, collate_fn=Collate("list"))


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting) -> Case:
    """A death at a drawn moment of a drawn order."""
    workers, ahead = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    n = draw(st.integers(1, 10))
    turns = draw(schedules(workers, n, workers * ahead))
    places = [0, *(k for k in range(1, n) if workers == 1 or turns[k] != turns[k - 1])]
    dies, how = draw(st.sampled_from(places)), draw(st.sampled_from(("SIGKILL", "exit 3")))
    options: dict[str, Any] = {"num_workers": workers, "prefetch_factor": ahead}
    if draw(st.booleans()):
        options["persistent_workers"] = True
    plan = [Schedule(turns, dies=dies, how=how), *walk(n + 3)]
    return Case(ROLE, parcels(n, **options), plan, world="alone")


DEATHS = Scenario("deaths", _deaths, lambda s: _drawn(s), share=0.12)
