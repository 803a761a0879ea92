"""What is made ready while the first rank imports torch: `conformance/rehearsal.py`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance import spread
from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.properties import everything
from conformance.rehearsal import Rehearsal, presumed
from conformance.scenarios import EFFORTS
from conformance.worlds.worlds import Worlds

OPTIONS = Options(EFFORTS["quick"], (1, 2))


@pytest.fixture
def examiner() -> Iterator[Examiner]:
    """One whose worlds start no process, and nothing that was divided before."""
    for divided in (spread.parts, spread.portions):
        divided.cache_clear()
    with contextlib.closing(Worlds("simulated")) as worlds:
        yield Examiner(worlds, OPTIONS, [])


def divided(examiner: Examiner) -> set[str]:
    """The roles of which cases were divided."""
    return {role for _, role, _ in examiner.divided}


def rehearsed(examiner: Examiner, text: str) -> set[str]:
    """The roles of a candidate that are made ready if there is time enough."""
    ready = Rehearsal(examiner, [Source(text)])
    with ready:
        ready.thread.join(60)
    assert not ready.thread.is_alive()
    return divided(examiner)


def test_the_roles_that_the_file_names_are_made_ready(examiner: Examiner, tmp_path: Path) -> None:
    """A word of the text of a `.py` file names a role; a part of a word does not."""
    file = tmp_path / "shards.py"
    file.write_text("class MySampler(RandomSampler): # no SubsetRandomSampler2\n    ...\n")

    assert rehearsed(examiner, str(file)) == {"RandomSampler"}


def test_a_module_is_found_without_an_import(
    examiner: Examiner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A module of a package is read, and neither it nor the package is executed."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "package").mkdir()
    for name in ("__init__", "module"):
        text = "# SequentialSampler\nraise SystemExit\n"
        (tmp_path / "package" / f"{name}.py").write_text(text * (name == "module"))

    assert rehearsed(examiner, "package.module:Anything") == {"SequentialSampler"}


@pytest.mark.parametrize("text", ["no_such_module", "no.such.module:Class", "missing.py:Class"])
def test_of_what_cannot_be_found_nothing_is_made_ready(examiner: Examiner, text: str) -> None:
    """Whoever describes the candidate says what is wrong with it; this does not."""
    assert rehearsed(examiner, text) == set()


def test_a_glance_finds_what_was_made_ready(examiner: Examiner) -> None:
    """What is presumed is so for the reference: hardly a scenario has to be divided again."""
    source = Source("reference:DistributedSampler")
    rehearsed(examiner, source.text)
    before = spread.portions.cache_info()
    anew = Examiner(examiner.worlds, OPTIONS, [])
    described = examiner.worlds.describe(Source("reference"))
    for prop in everything():
        for scenario in prop.scenarios:
            if scenario.small and prop.role == "DistributedSampler":
                anew.parts(described, prop.role, scenario)
    after = spread.portions.cache_info()

    assert after.misses - before.misses <= 1 < before.misses


def test_whoever_leaves_waits_for_one_scenario_at_most(
    examiner: Examiner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The thread ends with what it is at when the candidate is described."""
    ready = Rehearsal(examiner, [Source("reference:DataLoader")])
    known = presumed(ready.sources[0])
    monkeypatch.setattr(examiner, "parts", lambda *asked: ready.over.set())
    with ready:
        ready.thread.join(60)

    assert not ready.thread.is_alive() and known.roles.keys() >= {"DataLoader"}
