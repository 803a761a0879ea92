"""Cases of `spec/sampler.md`: each scenario is a plan for every role, over its arguments."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from conformance.case import Case
from conformance.operations import Inspect, Iterate, Len, Rebuild, SetEpoch
from conformance.recipes import Data, Probe, Values
from conformance.scenarios import Scenario, Setting, subjects, subjects_drawn
from conformance.scenarios import sampler_fits as fit
from conformance.scenarios import sampler_plans as plans
from conformance.scenarios import sampler_surroundings as around
from conformance.scenarios.besides import history, instead, turned
from conformance.scenarios.sampler_plans import Made, Plan
from conformance.scenarios.subjects import RANKED


def _widths(setting: Setting) -> tuple[int, ...]:
    """World sizes of small cases: ranks matter to some roles only."""
    return (1, 2, 3, 4, 5) if setting.role in RANKED else (1,)


def scenario(
    name: str, *chosen: Callable[[Setting, Made], Plan | None], narrow: Any = None,
    large: Callable[[Setting, Made], Plan] | None = None, share: float = 0.3,
    more: Callable[[Setting], Iterator[Made]] | None = None,
) -> Scenario:  # fmt: skip
    """Plans for every role. `narrow` changes or drops (None) the arguments that they are for.

    large: a plan over very many items. more: arguments beside the small ones.
    """

    def adapt(setting: Setting, made: Made) -> list[tuple[Made, Plan]]:
        fitted = narrow(setting, made) if narrow else made
        found = [plan(setting, fitted) for plan in chosen] if fitted is not None else []
        return [(fitted, steps) for steps in found if steps is not None]

    def small(setting: Setting) -> Iterator[Case]:
        for made in (*subjects.small(setting), *(more(setting) if more else ())):
            for fitted, steps in adapt(setting, made):
                for width in _widths(setting):
                    yield Case(setting.role, fitted, steps, width, ambient=setting.seed)
        if large is None:
            return
        widths = (2, 1) if setting.role in RANKED else (1,)  # a rank's share may be as large
        for width, made in itertools.product(widths, subjects.large(setting)):
            fitted = narrow(setting, made) if narrow else made
            if fitted is not None:
                steps = large(setting, fitted)
                yield Case(setting.role, fitted, steps, width, ambient=setting.seed)

    def drawn(setting: Setting) -> st.SearchStrategy[Case] | None:
        if not any(adapt(setting, made) for made in subjects.small(setting)):
            return None
        return _drawn(setting, adapt)

    return Scenario(name, small, drawn, share)


@st.composite
def _drawn(draw: st.DrawFn, setting: Setting, adapt: Any) -> Case:
    fitting = subjects_drawn.drawn(setting).map(lambda made: adapt(setting, made)).filter(bool)
    found = draw(fitting)
    arguments, plan = found[0] if len(found) == 1 else draw(st.sampled_from(found))
    return Case(
        setting.role, arguments, plan, draw(st.sampled_from(setting.world_sizes)), world="group",
        passed=draw(st.booleans()), ambient=draw(st.integers(0, 99)),
    )  # fmt: skip


def _empty_small(setting: Setting) -> Iterator[Case]:
    made: dict[str, list[Made]] = {
        "SequentialSampler": [{"data_source": Data(0)}],
        "RandomSampler": [{"data_source": Data(0)}, {"data_source": Data(0), "replacement": True}],
        "SubsetRandomSampler": [{"indices": Values(())}],
        "BatchSampler": [
            {"sampler": Probe("Counting", 0), "batch_size": 2, "drop_last": drop}
            for drop in (False, True)
        ],
        "DistributedSampler": [
            {"dataset": Data(0), "shuffle": s, "drop_last": d}
            for s in (False, True)
            for d in (False, True)
        ],
        "DistributedSamplerWrapper": [{"sampler": Probe("Counting", 0)}],
    }
    for arguments in made[setting.role]:
        for width in _widths(setting):
            yield Case(setting.role, arguments, [Len(), Iterate(), Iterate()], width)


def _histories(setting: Setting) -> Iterator[Case]:
    """One of two processes has made other samplers before; whichever it made last, and once more
    after them."""
    for turn, made in enumerate(subjects.small(setting)):
        fitted, epoch = fit.same_shard(setting, made), 12
        others = history(setting, fitted, epoch, rank=1) if fitted is not None else []
        if fitted is None or not others:
            continue
        place = turn % len(others)
        told = [SetEpoch(epoch)] if subjects.has_epochs(setting) else []
        passed = [*told, Iterate()]
        plan = [*others[place:], *others[:place], *passed, Rebuild(), *passed]
        yield Case(setting.role, fitted, plan, 2, "alone", ambient=setting.seed)
    for short, made in subjects.abridged(setting):
        fitted, long = fit.same_shard(setting, short), tuple(made.items())
        if fitted is not None:
            plan = [*turned(setting, fitted | made, 12, rank=1), Rebuild(long), Iterate()]
            yield Case(setting.role, fitted, plan, 2, "alone", ambient=setting.seed)
    for short, one, other in subjects.hashed(setting):
        fitted, later = fit.same_shard(setting, short), tuple(other.items())
        if fitted is not None:
            plan = [*instead(setting, fitted, one, rank=1), Rebuild(later), Iterate()]
            yield Case(setting.role, fitted, plan, 2, "alone", ambient=setting.seed)


def _raising_together(setting: Setting) -> Iterator[Case]:
    """Real ranks, which may have agreed on who draws, and an inner sampler that raises in each."""
    for width in setting.world_sizes if setting.role == "DistributedSamplerWrapper" else ():
        if width in (2, 3):
            arguments = {"sampler": Probe("Raising", 8, 4)}
            yield Case(
                setting.role, arguments, [Iterate(), Iterate()], width, world="group", passed=False
            )


def _inner_epochs(setting: Setting) -> Iterator[Case]:
    """Passes of an inner sampler that has epochs: those before which it is told one, and others."""
    others: dict[str, Made] = {
        "BatchSampler": {"batch_size": 2, "drop_last": False}, "DistributedSamplerWrapper": {},
    }  # fmt: skip
    rounds = ([SetEpoch(epoch), Iterate(), Inspect(), Iterate(), Inspect()] for epoch in (3, 0, 5))
    plan = [Iterate(), Inspect(), *itertools.chain.from_iterable(rounds)]
    if setting.role in others:
        for inner in ("Epoched", "Delegating"):
            arguments = {"sampler": Probe(inner, 8), **others[setting.role]}
            for width in _widths(setting):
                yield Case(setting.role, arguments, plan, width, ambient=setting.seed)


def _flags(setting: Setting) -> Iterator[Case]:
    """A flag that is 1 or 0 may be refused; if not, it is true or false to all of the sampler."""
    given: dict[str, Made] = {
        "BatchSampler": {"sampler": Probe("Counting", 7), "batch_size": 2},
        "DistributedSampler": {"dataset": Data(7)},
        "DistributedSamplerWrapper": {"sampler": Probe("Descending", 7)},
    }
    if setting.role in given and setting.accepts("drop_last"):
        for flag, width in itertools.product((1, 0), _widths(setting)):
            arguments = {**given[setting.role], "drop_last": flag}
            yield Case(setting.role, arguments, [Len(), Iterate()], width, ambient=setting.seed)


INNER_EPOCHS = Scenario("inner epochs", _inner_epochs)
TOUR = scenario("tour", plans.tour, more=subjects.sources, large=plans.once)
VALIDATED = scenario("inference mode", around.validated, share=0.1)
SURROUNDED = scenario("loop and autocast", around.anywhere_within, share=0.1)
HELD_OPEN = scenario("held open", around.held_open, share=0.1)
LEN_BETWEEN = scenario("len between", plans.len_between, more=subjects.uncounted)
IDLE = scenario("idle iterator", plans.idle_between)
RESTART = scenario("restart", plans.restart)
INTERLEAVED = scenario("interleaved", plans.interleaved, narrow=fit.steady, large=plans.woven_late)
INTERLEAVED_DRAWS = scenario("interleaved draws", plans.interleaved_draws)
ARGUMENTS = scenario("arguments kept", plans.arguments_kept, narrow=fit.listed)
ALIASED = scenario(
    "arguments overwritten", plans.aliased, narrow=fit.mutable, more=subjects.containers
)
LENGTHENED = scenario("arguments lengthened", plans.lengthened, narrow=fit.listed)
ELSEWHERE = scenario(
    "other global states", plans.elsewhere, narrow=fit.private, more=subjects.containers,
    large=plans.often,
)  # fmt: skip
ELSEWHERE_RAISING = scenario(
    "global states at an error", plans.globals_at_an_error, narrow=fit.privately(fit.raising)
)
ELSEWHERE_COPIED = scenario(
    "global states at a copy", plans.globals_at_a_copy, narrow=fit.private, share=0.1
)
MANUAL = scenario(
    "manual seed", plans.manual, narrow=fit.global_states, more=subjects.containers,
    large=plans.often,
)  # fmt: skip
ANYWHERE = scenario(
    "another process", around.anywhere, around.anywhere_built, around.anywhere_in_threads,
    around.anywhere_akin, around.refilled, around.anywhere_in_a_worker, around.anywhere_within,
    narrow=fit.same_shard, large=around.anywhere,
)  # fmt: skip
ANYWHERE_SEEDED = scenario(
    "another process, seeded", around.anywhere_seeded, narrow=fit.global_states, share=0.1
)
HISTORIES = Scenario("another history", _histories)
RESIZED = scenario(
    "resized", plans.resized, plans.resized_measured, plans.resized_unmeasured,
    plans.resized_epochs, narrow=fit.sizable, more=subjects.paged,
)  # fmt: skip
FLAGGED = Scenario("numbers for flags", _flags)
RAISING = scenario("raising", plans.to_the_error, plans.to_the_error_once, narrow=fit.raising)
RAISING_TOGETHER = Scenario("raising together", _raising_together)
PICKLED = scenario(
    "pickled",
    plans.copied("pickle"),
    plans.copied_midway("pickle"),
    narrow=fit.private,
    more=subjects.learned,
)
DEEPCOPIED = scenario(
    "deepcopied",
    plans.copied("deepcopy"),
    plans.copied_midway("deepcopy"),
    narrow=fit.private,
    more=subjects.learned,
)
RESIZED_COPIES = scenario(
    "resized copies", plans.resized_copied("pickle"), plans.resized_copied("deepcopy"),
    narrow=fit.privately(fit.sizable),
)  # fmt: skip
REVISITED = scenario(
    "epochs revisited", plans.revisited, plans.epochs_given_up,
    narrow=lambda s, m: fit.steady(s, m) if subjects.has_epochs(s) else None,
    large=plans.revisited_midway,
)  # fmt: skip
EMPTY = Scenario("empty", _empty_small)
