"""The fault zoo: every wrong implementation is caught by the clauses it names, no right one is.

The usual run asks what is wrong the first clause that it names, beside those that no other fault
names, and what is right, one loader of each kind, in a sample of short cases; with
CONFORMANCE_ZOO=all every one is tried with all of its clauses. All at the quick effort, which is
less than the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from detect import BOUND_S, SMALL, Fewest
from detection import told
from zoo import BROKEN, HONEST, PUBLISHED, RIGHT, SAMPLING, WHOLE, ZOO, classes, wrong

from conformance.candidate import Source
from conformance.clauses import clauses
from conformance.examine import Examiner, Options
from conformance.properties import everything
from conformance.scenarios import EFFORTS
from conformance.search import Search
from conformance.verdict import VIOLATED, Verdict
from conformance.worlds.worlds import Worlds

WORLD_SIZES = (1, 2, 3)
EFFORT = {SMALL: Fewest, EFFORTS["quick"]: Examiner, EFFORTS["ci"]: Examiner}

THOROUGH = {
    "SixteenBits-distributed.cover",
    "AsksForItsRank-workers.rank-seeds",
    "TriesPickleFirst-workers.same-order",
    "SendsItself-workers.same-order",
}
"""Faults that take more drawn cases, or processes, than the quick effort has."""


def right() -> Iterator[Any]:
    """A parameter for each right class and each clause of its chapters."""
    texts = {
        f"{module}.py:{kind.__name__}": chapters
        for module, chapters in RIGHT.items()
        for kind in classes(module)[: None if WHOLE or chapters is SAMPLING else 1]
    }
    texts |= {f"honest.py:{name}": SAMPLING for name in HONEST}
    for text, chapters in texts.items():
        for clause in sorted({prop.clause.id for prop in everything()}):
            if clauses()[clause].chapter in chapters:
                yield pytest.param(text, clause, id=f"{text}-{clause}")


def faults() -> Iterator[Any]:
    """A parameter for each wrong class and each clause that must catch it here."""
    tried = set()
    for fault in wrong():
        for number, clause in enumerate(fault.caught_by):
            if clause not in fault.here:
                continue  # judged on literal traces, and on a pretended accelerator
            anomaly = "" if number else fault.anomaly
            if not WHOLE and number and (clause in tried or not fault.samples):
                continue
            tried.add(clause)
            given = fault.text, clause, anomaly, fault.profile
            yield pytest.param(*given, id=f"{fault.name}-{clause}")


class Bench:
    """Examines classes of the zoo, all in the same worlds."""

    def __init__(self) -> None:
        self.worlds = Worlds("gloo", BOUND_S)
        self.examiners = {
            (effort.name, profile): kind(self.worlds, Options(effort, WORLD_SIZES, profile), [])
            for effort, kind in EFFORT.items()
            for profile in ("core", "torch")
        }
        self.properties = everything()

    def searches(
        self, text: str, clause: str, effort: str = "quick", profile: str = "core", on: str = ""
    ) -> list[Search]:
        """A search for each role that the candidate provides, or for one of them."""
        candidate = self.worlds.describe(Source(text, profile=profile))
        return [
            Search(self.examiners[effort, profile], candidate, prop)
            for prop in self.properties
            if prop.clause.id == clause and prop.role in candidate.roles and on in ("", prop.role)
        ]

    def told(self, *asked: str) -> list[Verdict]:
        """The verdict by the case that told when it was last looked for, if it still does."""
        return [*filter(None, map(told.verdict, self.searches(*asked)))]

    def verdicts(self, *asked: str, **options: str) -> list[Verdict]:
        """The verdicts of these searches."""
        found = self.searches(*asked, **options)
        return [one.examiner.examine(one.candidate, one.prop) for one in found]


@pytest.fixture(scope="session")
def bench() -> Iterator[Bench]:
    """One set of worlds for the whole zoo."""
    made = Bench()
    yield made
    made.worlds.close()


def test_every_fault_says_what_is_wrong() -> None:
    """Each wrong class has a sentence of its own and names clauses of the spec."""
    faults = list(wrong())

    assert all(fault.caught_by and set(fault.caught_by) <= set(clauses()) for fault in faults)
    assert len({fault.sentence for fault in faults} - {""}) == len(faults)


def test_no_clause_is_without_a_fault() -> None:
    """Each clause of the spec is named by some wrong class that it must catch."""
    named = {clause for fault in wrong() for clause in fault.caught_by}

    assert not set(clauses()) - named


def test_what_is_kept_is_asked() -> None:
    """What is kept because it told of a fault is of a fault and a clause that the run asks."""
    asked = {told.name(*param.values[:2]) for param in faults()}

    assert set(told.kept()) <= asked


@pytest.mark.parametrize(("text", "clause", "anomaly", "profile"), list(faults()))
def test_fault_is_caught(
    bench: Bench, request: pytest.FixtureRequest, text: str, clause: str, anomaly: str, profile: str
) -> None:
    """A wrong implementation violates the clause it names, by the anomaly it names."""
    effort = "ci" if request.node.callspec.id in THOROUGH else "quick"

    asked = text, clause, effort, profile
    verdicts = bench.told(*asked) or bench.verdicts(*asked)

    assert [verdict.outcome for verdict in verdicts] == [VIOLATED], [v.reason for v in verdicts]
    assert anomaly in ("", verdicts[0].anomaly), verdicts[0].document


@pytest.mark.parametrize(("clause", "role"), BROKEN.items())
def test_published_fault_is_caught(bench: Bench, clause: str, role: str) -> None:
    """The published balanced samplers and their wrapper violate each clause meant for them."""
    verdicts = bench.verdicts(PUBLISHED.text, clause, on=role)

    assert [verdict.outcome for verdict in verdicts] == [VIOLATED], [v.reason for v in verdicts]


@pytest.mark.parametrize("clause", ["wrapper.agree", "balanced.distributed"])
def test_disagreement_shows_across_real_processes(bench: Bench, clause: str) -> None:
    """Ranks that draw from numpy's global state are caught in a real process group too."""
    candidate = bench.worlds.describe(Source(PUBLISHED.text))
    wanted = clause, BROKEN[clause]
    found = next(p for p in bench.properties if (p.clause.id, p.role) == wanted)
    drawn = tuple(replace(scenario, small=None) for scenario in found.scenarios)

    verdict = bench.examiners["quick", "core"].examine(candidate, replace(found, scenarios=drawn))

    assert (verdict.outcome, verdict.anomaly) == (VIOLATED, "ranks-disagree")
    assert "world='group'" in verdict.case


@pytest.mark.parametrize(("text", "clause"), list(right()))
def test_right_is_not_accused(bench: Bench, text: str, clause: str) -> None:
    """An unusual but right implementation violates no clause."""
    verdicts = bench.verdicts(str(ZOO / text), clause, effort="quick" if WHOLE else "small")

    accused = [verdict.document for verdict in verdicts if verdict.outcome == VIOLATED]
    assert not accused, "\n\n".join(accused)
