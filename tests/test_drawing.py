"""Drawn cases: carried out while the next is drawn, and shrunk one at a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import strategies as st

from conformance.candidate import CandidateError
from conformance.case import Case
from conformance.drawing import AHEAD, Drawing
from conformance.laws import Violation
from conformance.operations import Iterate
from conformance.recipes import Data
from conformance.scenarios import EFFORTS
from conformance.trace import RankTrace, Trace

BROKEN = Violation("too-long", "as many as that")


def case(n: int) -> Case:
    return Case("SequentialSampler", {"data_source": Data(n)}, [Iterate()])


def length(case: Case) -> int:
    data: Data = case.argument("data_source")
    return data.n


CASES = st.integers(0, 1000).map(case)


class Judging:
    """Stands for a judge: a case breaks the law from a length on; every step is written down."""

    def __init__(self, role: str, broken_from: int) -> None:
        self.prop, self.broken_from = SimpleNamespace(role=role), broken_from
        self.begun_, self.ended_, self.dropped, self.alone = [list[Case]() for _ in range(4)]

    def begun(self, case: Case) -> Any:
        self.begun_.append(case)
        return case

    def ended(self, case: Case, sent: Any) -> tuple[Trace, Violation | None]:
        assert sent is case
        self.ended_.append(case)
        return self._said(case)

    def let_go(self, sent: Any) -> None:
        self.dropped.append(sent)

    def judged(self, case: Case) -> tuple[Trace, Violation | None]:
        self.alone.append(case)
        return self._said(case)

    def given_up(self) -> bool:
        return False

    def _said(self, case: Case) -> tuple[Trace, Violation | None]:
        return Trace(case, (RankTrace(0, ()),)), self.is_broken(case)

    def is_broken(self, case: Case) -> Violation | None:
        return BROKEN if length(case) >= self.broken_from else None


def drawn(judging: Judging, shrink: bool = True, seed: int = 0) -> Drawing:
    drawing = Drawing(judging, EFFORTS["ci"])  # type: ignore[arg-type]
    drawing.run(CASES, 60, seed, shrink)
    return drawing


def test_right_cases_are_drawn_once_and_carried_out_ahead() -> None:
    """Where nothing breaks the law each case is sent once, judged in order, and none alone."""
    judging = Judging("SequentialSampler", 10**9)
    found = drawn(judging)
    assert found.best is None and not judging.alone and not judging.dropped
    assert judging.begun_ == judging.ended_ == [case for case, _ in found.traces]
    assert len({*judging.begun_}) == len(judging.begun_) > 40


def test_few_are_under_way() -> None:
    """At most so many cases wait for their turn while the next is drawn."""
    judging, waiting = Judging("SequentialSampler", 10**9), set[int]()
    ended = judging.ended

    def counted(case: Case, sent: Any) -> Any:
        waiting.add(len(judging.begun_) - len(judging.ended_))
        return ended(case, sent)

    judging.ended = counted  # type: ignore[method-assign]
    drawn(judging)
    assert max(waiting) == AHEAD + 1


@pytest.mark.parametrize("seed", range(5))
def test_first_violation_ends_the_drawing_and_is_shrunk(seed: int) -> None:
    """Nothing is judged after it, what is under way is let go, and the smallest case is found."""
    judging = Judging("SequentialSampler", 123)
    found = drawn(judging, seed=seed)
    first = next(case for case in judging.begun_ if judging.is_broken(case))
    assert judging.ended_[-1] == first and judging.begun_ == judging.ended_ + judging.dropped
    assert found.best is not None and length(found.best.case) == 123
    assert not {*judging.alone} & {*judging.ended_}


def test_without_shrinking_the_first_violation_is_told() -> None:
    """A glance wants no smaller case, and no case is carried out twice for it."""
    judging = Judging("SequentialSampler", 123)
    found = drawn(judging, shrink=False)
    assert found.best is not None and found.best.case == judging.ended_[-1] and not judging.alone


def test_what_is_drawn_does_not_depend_on_what_is_under_way() -> None:
    """A loader's cases, which are carried out one at a time, are the same for the same seed."""
    ahead, one_by_one = Judging("SequentialSampler", 10**9), Judging("DataLoader", 10**9)
    drawn(ahead, seed=3), drawn(one_by_one, seed=3)
    assert ahead.ended_ == one_by_one.alone and not one_by_one.begun_


def test_what_carrying_out_raises_is_raised() -> None:
    """An error of the run itself, such as an import that fails in a rank, is no violation."""
    judging, broken = Judging("SequentialSampler", 10**9), CandidateError("no such module")

    def raises(case: Case, sent: Any) -> Any:
        raise broken

    judging.ended = raises  # type: ignore[method-assign]
    with pytest.raises(CandidateError) as raised:
        drawn(judging)
    assert raised.value is broken
