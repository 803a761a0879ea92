"""Who is slow is asked less, and the verdict says so."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import pytest

from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.pace import Pace
from conformance.properties import everything
from conformance.scenarios import EFFORTS
from conformance.verdict import HOLDS
from conformance.worlds.worlds import Worlds

ROLE = Source("reference"), "SequentialSampler"


def slowly(answers: list[int], seconds: float) -> Iterator[int]:
    for answer in answers:
        time.sleep(seconds)
        yield answer


@pytest.mark.parametrize(("spent_s", "asked"), [(0, 200), (99, 200), (100, 26), (250, 5), (1e9, 2)])
def test_each_time_the_patience_ends_fewer_are_asked(spent_s: float, asked: int) -> None:
    """One of eight after it, one of 64 after it has ended twice; the first two always."""
    pace = Pace(100.0)
    pace.spent_s[ROLE] = spent_s

    assert sum(map(pace.asks(ROLE), range(200))) == asked
    assert all(map(pace.asks((ROLE[0], "RandomSampler")), range(200)))


def test_waiting_counts_and_judging_does_not() -> None:
    """The time that an answer is waited for is the role's; what is then made of it is not."""
    pace = Pace(100.0)
    for _ in pace.timed(ROLE, slowly([1, 2, 3], 0.05)):
        time.sleep(0.2)

    assert 0.15 <= pace.spent_s[ROLE] < 0.4


def test_what_a_slow_role_was_not_asked_is_told() -> None:
    """A clause holds as far as it was asked, and the verdict says how many cases it was not."""
    prop = next(p for p in everything() if (p.clause.id, p.role) == ("sampler.works", ROLE[1]))
    with contextlib.closing(Worlds("simulated")) as worlds:
        examiner = Examiner(worlds, Options(EFFORTS["quick"], (1, 2), simulated=True), [])
        candidate = worlds.describe(ROLE[0])
        every = examiner.examine(candidate, prop)
        slow = Examiner(worlds, Options(EFFORTS["quick"], (1, 2), simulated=True), [])
        slow.pace.spent_s[ROLE] = 1e9
        some = slow.examine(candidate, prop)

    assert every.outcome == some.outcome == HOLDS and not every.reason
    assert 0 < some.exercise.run < every.exercise.run
    told = f"cases were left out: the others had taken {slow.pace.patience_s:.0f} s"
    assert told in some.reason
