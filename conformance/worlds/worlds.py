"""The worlds of one run: which pool a case goes to, and how long it may take there."""

from __future__ import annotations

import collections
import itertools
import time
from collections.abc import Iterable, Iterator
from multiprocessing import util

from conformance.candidate import CandidateError, Description, Source
from conformance.case import Case
from conformance.machine import accelerators
from conformance.roles import LOADERS
from conformance.trace import Event, RankTrace, Trace
from conformance.worlds.alone import Window
from conformance.worlds.chunks import CHUNK, Sent, chunks
from conformance.worlds.early import Ahead, Early
from conformance.worlds.forkserver import compact, stop_servers
from conformance.worlds.losses import Losses
from conformance.worlds.pool import Pool
from conformance.worlds.turns import BUSY, LOADING, SAMPLING, Turns

WARY_S = 2.0
"""The bound for further cases of a role that has once failed to answer."""

AT_ONCE = 2
"""Of shared processes so many are at work at a time."""

SUSPECT_S = 1.5
"""A loader's case that takes longer may never come back."""


class Worlds:
    """Standing pools by world size, started when first needed and replaced when broken.

    backend: "auto" (NCCL where there is a GPU for each rank, else gloo), "gloo", "nccl" or
    "simulated" (no group at all). bound_s: seconds a rank may take for a case.
    """

    def __init__(self, backend: str = "auto", bound_s: float = 20.0) -> None:
        self.backend, self.bound_s = backend, bound_s
        self.pools: dict[tuple[int, str, str], Pool] = {}
        self.descriptions: dict[Source, Description] = {}
        self.losses = Losses()
        self.window = Window(bound_s)
        self.turns = Turns()
        self.early = Early(self._begun, self.let_go)
        # Whoever forgets to close waits for standing ranks at exit, and for ever.
        self._end = util.Finalize(self, _close, (self.pools, self.window), exitpriority=100)

    def describe(self, source: Source) -> Description:
        """What a candidate provides. Raises CandidateError if it cannot be examined."""
        if source not in self.descriptions:
            pool, began = self._pool(1, "simulated"), time.monotonic()
            found = pool.describe(source, self.bound_s * 6)
            self.turns.imported(source, time.monotonic() - began)
            if isinstance(found, str):
                reason = "did not return" if found == "stuck" else f"ended the process ({found})"
                raise CandidateError(f"--impl {source}: the import {reason}")
            if isinstance(found, Exception):
                raise found
            self.descriptions[source] = found
        return self.descriptions[source]

    def expect(self, ahead: Ahead = lambda: None) -> None:
        """Simulated samplers' cases that will be asked for begin while others are under way."""

        def possible() -> tuple[Source, Iterable[Case]] | None:
            found = ahead()
            return found and (found[0], self._possible(*found))

        self.early.expect(possible)

    def run(self, source: Source, case: Case) -> Trace:
        """Carry out one case; one that is too large for its speed is not tried again."""
        if self.losses.too_large(source, case):
            return self._made(source, case, [RankTrace(0, (Event(None),), "slow")])
        if case.world == "alone":
            return next(self._alone(source, [case]))[1]
        self.window.turn()
        self.early.forget()
        pool, bound_s = self._place(source, case), self._bound(source, case)
        ranks = pool.run(source, [case], bound_s)[0]
        if _is_loaders(case) and (ranks[0].fate == "stuck" or _hung(ranks)):
            return self._tried_alone(source, case, pool)
        _end_if_slow(pool, case, ranks)
        if any(rank.fate == "stuck" for rank in ranks) and not self.losses.any_of(source, case):
            # The machine may have stood still; nobody is accused of what does not repeat.
            ranks = self._place(source, case).run(source, [case], bound_s)[0]
        return self._trace(source, case, ranks)

    def begin(self, source: Source, case: Case) -> Sent | None:
        """Send a case of a sampler to ranks that may be at work on another; None if there is reason
        to wait until it is asked for."""
        wary = self.losses.too_large(source, case) or self.losses.any_of(source, case)
        if wary or case.world == "alone":
            return None
        self.early.forget()
        return self._begun(source, [case])

    def end(self, source: Source, case: Case, sent: Sent | None) -> Trace:
        """What became of a case that `begin` was asked to send."""
        ready = self._received(source, sent) if sent else None
        return ready[0][1] if ready else self.run(source, case)

    def _tried_alone(self, source: Source, case: Case, pool: Pool) -> Trace:
        """A loader's case that did not come back may have waited for what another had left."""
        if not pool.broken:
            pool.kill()
        self.losses.stuck(source, case.role)
        trace = self.run(source, case.in_world("alone"))
        if _hung(trace.ranks):
            self.losses.first.setdefault((source, case.role), trace)
        return trace

    def tried(self, source: Source, case: Case, within_s: float) -> Trace:
        """Carry out a case alone; one that takes longer is let go, as if it were too slow."""
        ranks = self.window.within((source, case), within_s)
        return self._made(source, case, ranks or [RankTrace(0, (Event(None),), "slow")])

    def afresh(self, source: Source, case: Case) -> Trace:
        """Carry out a simulated case in a process in which nothing was done before."""
        pool = Pool(1, "simulated", self.bound_s)
        try:
            return self._made(source, case, pool.run(source, [case], self._bound(source, case))[0])
        finally:
            if not pool.broken:
                pool.kill()

    def run_many(self, source: Source, cases: Iterable[Case]) -> Iterator[tuple[Case, Trace]]:
        """Carry out simulated cases in order, ahead of whoever judges them.

        Cases that want to be alone are carried out side by side; those too large, not at all.
        """
        cases = self._possible(source, cases)
        first = next(cases, None)
        if first is None:
            return
        cases = itertools.chain([first], cases)
        if first.world == "alone":
            yield from self._alone(source, cases)
        elif first.world == "group":
            yield from self._one_by_one(source, cases)
        else:
            yield from self._taking_turns(source, first.role, cases)

    def _taking_turns(
        self, source: Source, role: str, cases: Iterable[Case]
    ) -> Iterator[tuple[Case, Trace]]:
        """Two chunks are under way at a time; of samplers' cases, some of those that will be asked
        for next as soon as there are no more of these."""
        loads = role in LOADERS
        divided = chunks(cases, 1 if loads else CHUNK)
        sent = (self._sent(source, some) for some in divided)
        under_way = collections.deque[Sent]()

        def send() -> None:
            under_way.extend(itertools.islice(sent, AT_ONCE - len(under_way)))
            if not loads:
                self.early.begin(AT_ONCE - len(under_way))

        self.early.asked()
        try:
            send()
            while under_way and not self.losses.given_up(source, role):
                oldest = under_way[0]
                ready = self._received(source, oldest)
                if ready is None:
                    yield from self._one_by_one(source, oldest.cases)
                under_way.popleft()
                send()
                yield from ready or ()
        finally:
            for one in under_way:
                self.let_go(one)

    def _alone(self, source: Source, cases: Iterable[Case]) -> Iterator[tuple[Case, Trace]]:
        """Each case in a process of its own; the traces come in order."""
        for case, ranks in self.window.traces(source, cases):
            trace = self._made(source, case, ranks)
            if trace.slow:
                self.losses.count(source, case, trace)
            yield case, trace

    def _possible(self, source: Source, cases: Iterable[Case]) -> Iterator[Case]:
        """Those that are not too large."""
        return (case for case in cases if not self.losses.too_large(source, case))

    def _sent(self, source: Source, cases: list[Case]) -> Sent:
        """A chunk that is under way, perhaps since before anybody asked."""
        return self.early.taken(source, cases) or self._begun(source, cases)

    def _begun(self, source: Source, cases: list[Case]) -> Sent:
        self.window.turn()
        pool = self._place(source, cases[0], self.turns.next(source, cases[0]))
        return Sent(pool, pool.send(source, cases), source, cases)

    def _received(self, source: Source, sent: Sent) -> list[tuple[Case, Trace]] | None:
        """The traces of a chunk, or None if it broke the pool."""
        if sent.pool.broken:
            return None
        found = self._awaited(source, sent)
        if sent.pool.broken:
            return None
        if _hung(found[0]):
            return [(case, self._tried_alone(source, case, sent.pool)) for case in sent.cases]
        _end_if_slow(sent.pool, sent.cases[0], found[0])
        pairs = zip(sent.cases, found, strict=True)
        return [(case, self._trace(source, case, ranks)) for case, ranks in pairs]

    def _awaited(self, source: Source, sent: Sent) -> list[list[RankTrace]]:
        """The traces of a chunk. A loader's case that takes long is tried alone meanwhile, lest
        one that waits for ever be waited for twice."""
        case, bound_s = sent.cases[0], self._bound(source, sent.cases[0])
        if not _is_loaders(case) or sent.pool.waits(SUSPECT_S):
            return sent.pool.receive(sent.ticket, bound_s)
        key = source, case.in_world("alone")
        self.window.begin(key)
        found = sent.pool.receive(sent.ticket, bound_s)
        if not (sent.pool.broken or _hung(found[0])):
            self.window.drop(key)
        return found

    def let_go(self, sent: Sent) -> None:
        """Nobody waits for a chunk; who failed to come back before is not even given the time."""
        if not self.losses.any_of(sent.source, sent.cases[0]):
            sent.pool.forget(sent.ticket, self.bound_s)
        elif not sent.pool.broken:
            sent.pool.kill()

    def _one_by_one(self, source: Source, cases: Iterable[Case]) -> Iterator[tuple[Case, Trace]]:
        """Each case for itself, as long as the role is not given up and somebody judges."""
        for case in cases:
            if not self.losses.given_up(source, case.role):
                yield case, self.run(source, case)

    def _bound(self, source: Source, case: Case) -> float:
        return WARY_S if self.losses.any_of(source, case) else self.bound_s

    def _made(self, source: Source, case: Case, ranks: list[RankTrace]) -> Trace:
        found = self.descriptions[source]
        names = found.binding(case.role).renamed
        return Trace(case, tuple(ranks), found.stated(case.role), names=names)

    def _trace(self, source: Source, case: Case, ranks: list[RankTrace]) -> Trace:
        trace = self._made(source, case, ranks)
        self.losses.count(source, case, trace)
        return trace

    def _place(self, source: Source, case: Case, place: str = "") -> Pool:
        """The pool for a case; place: which of the simulating processes, if it is simulated."""
        if case.world == "simulated":
            return self._pool(1, "simulated", place or self.turns.places(source, case)[0])
        return self._pool(case.world_size, self.backend_for(case.world_size))

    def backend_for(self, world_size: int) -> str:
        """The backend that a group of this size gets."""
        if self.backend != "auto":
            return self.backend
        return "nccl" if 0 < world_size <= accelerators() else "gloo"

    def _pool(self, world_size: int, backend: str, of: str = SAMPLING[0]) -> Pool:
        """The pool for this, started if need be; a loader's worker processes disturb no sampler."""
        key = world_size, backend, of
        if key not in self.pools or self.pools[key].broken:
            if of in BUSY:
                compact()
            self.pools[key] = Pool(world_size, backend, self.bound_s)
            if of == LOADING[-1]:  # the next to be forked are those with workers
                compact()
        return self.pools[key]

    def close(self) -> None:
        """End every process; a forgotten one is closed at exit."""
        _close(self.pools, self.window)


def _close(pools: dict[tuple[int, str, str], Pool], window: Window) -> None:
    window.forget()
    for pool in pools.values():
        if not pool.broken:
            pool.close()
    pools.clear()
    stop_servers()


def _is_loaders(case: Case) -> bool:
    """Whether a loader's case shares its process with others."""
    return case.role in LOADERS and case.world == "simulated"


def _end_if_slow(pool: Pool, case: Case, ranks: list[RankTrace]) -> None:
    """End a shared process whose loader was given up as slow: it is at work still."""
    if _is_loaders(case) and ranks[0].fate == "slow":
        pool.kill()


def _hung(ranks: Iterable[RankTrace]) -> bool:
    """Whether an operation did not return, as a watching thread has told."""
    errors = (event.error for rank in ranks for event in rank.events)
    return any(error is not None and error.kind == "Hang" for error in errors)
