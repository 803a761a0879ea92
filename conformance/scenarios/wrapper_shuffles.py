"""Cases of `spec/wrapper.md` in which the wrapper itself shuffles."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from conformance.case import Case
from conformance.operations import Epochs, Iterate, Rebuild, SetEpoch
from conformance.recipes import Probe
from conformance.scenarios import Scenario, Setting
from conformance.scenarios.distributed import NEAR_AND_FAR, SEEDS
from conformance.scenarios.wrapped import Plan, in_groups, wrapped


def _shuffled(setting: Setting) -> Iterator[Case]:
    if not setting.accepts("shuffle"):
        return
    epochs: Plan = [step for e in (0, 1, 2, 7) for step in (SetEpoch(e), Iterate())]
    seeds = (1, 256) if setting.accepts("seed") else ()
    plan = [*epochs, *(step for seed in seeds for step in (Rebuild((("seed", seed),)), *epochs))]
    for count, width in itertools.product((16, 17, 42, 333, 2003), (1, 2, 3, 4, 5)):
        yield wrapped(Probe("Descending", count), plan, width, {"shuffle": True}, setting.seed)
    far: Plan = [step for e in NEAR_AND_FAR for step in (SetEpoch(e), Iterate())]
    for seed in SEEDS if seeds else ():
        far += [Rebuild((("seed", seed),)), SetEpoch(1), Iterate()]
    for count, width in ((16, 1), (40, 3)):
        yield wrapped(Probe("Descending", count), far, width, {"shuffle": True}, setting.seed)


def _many(setting: Setting) -> Iterator[Case]:
    """Enough epochs to see a biased shuffle, short and long, by one rank and by two."""
    trials = int(2000 * setting.effort.trials)
    flags = {"shuffle": True}
    for count, width in ((40, 1), (5, 1), (16, 1), (4, 2)) if setting.accepts("shuffle") else ():
        yield wrapped(Probe("Descending", count), [Epochs(trials)], width, flags, setting.seed)
    for count, width in ((3002, 2), (20_003, 1)) if setting.accepts("shuffle") else ():
        yield wrapped(Probe("Descending", count), [Epochs(2)], width, flags, setting.seed)
    if setting.accepts("shuffle") and setting.accepts("drop_last"):
        cut = {**flags, "drop_last": True}
        yield wrapped(Probe("Descending", 5), [Epochs(trials)], 3, cut, setting.seed)


SHUFFLED = Scenario("wrapped and shuffled", _shuffled, in_groups(_shuffled), share=0.2)
MANY = Scenario("many wrapped passes", _many)
