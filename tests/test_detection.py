"""The detection score: what a search tells, how rows are kept, and what the page makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from detect import IMPORT, Detector
from detection.faults import key, scored
from detection.rows import (
    CAUGHT,
    DATA,
    LATE,
    MISSED,
    NEEDS_ACCELERATOR,
    Row,
    Rows,
    add,
    keep,
    read,
)
from detection.search import Job, search
from detection.table import PAGE, page, stale
from zoo import ZOO

FAULTS = {key(fault): fault for fault in scored()}
FAULT = FAULTS["shares.OnePaddingPass"]
ROW = Row(
    "shares.OnePaddingPass", "ci", 0, CAUGHT, ("sampler.works",), "sampler.works",
    "DistributedSampler", "crash", 14, 2.0, 1.0, 0.5, 1.0,
)  # fmt: skip


@pytest.fixture(scope="module")
def detector() -> Iterator[Detector]:
    """One detector for all searches of this file."""
    made = Detector("quick")
    yield made
    made.close()


def test_whole_run_ends_at_the_first_violation(detector: Detector) -> None:
    """A whole run tells of the first clause in the spec's order; each named one is asked too."""
    row = search(detector, Job(FAULT, "quick", 0, True, 60.0))

    assert (row.outcome, row.clause, row.anomaly) == (CAUGHT, "sampler.works", "crash")
    assert row.told == FAULT.caught_by
    assert row.cases > 0


def test_named_clauses_alone_end_at_the_first_that_tells(detector: Detector) -> None:
    """Where no whole run is wanted, the clauses after the first that tells are not asked."""
    row = search(detector, Job(FAULT, "quick", 1, False, 60.0))

    assert (row.outcome, row.told, row.whole) == (CAUGHT, FAULT.caught_by[:1], False)


def test_another_clause_than_the_named_may_catch(detector: Detector) -> None:
    """Where the named clause is silent the rest of the suite is asked, and that is recorded."""
    elsewhere = replace(FAULT, caught_by=("random.uniform",))

    row = search(detector, Job(elsewhere, "quick", 0, False, 60.0))

    assert (row.outcome, row.told, row.clause) == (CAUGHT, (), "sampler.works")


def test_right_candidate_is_not_detected(detector: Detector) -> None:
    """What is not wrong is not caught."""
    text = f"{ZOO / 'honest.py'}:DistributedSampler"

    assert detector.first(text, ["distributed.no-group", "sampler.ends"]) is None


def test_failing_import_is_a_detection(detector: Detector) -> None:
    """A candidate that cannot be imported is caught at its import."""
    found = detector.first(str(ZOO / "imports" / "raises.py"))

    assert found is not None and found.clause == IMPORT


def test_search_out_of_time_raises(detector: Detector) -> None:
    """The bound on a search is looked at after each clause."""
    with pytest.raises(TimeoutError):
        detector.first(f"{ZOO / 'honest.py'}:DistributedSampler", ("sampler.length",), within_s=0.0)


def test_fresh_ranks_remember_nothing(detector: Detector) -> None:
    """After `fresh` no rank stands, and no role counts as given up."""
    detector.first(FAULT.text, FAULT.caught_by)
    detector.worlds.losses.counts[None, ""] = 8  # type: ignore[index]

    detector.fresh()

    assert not detector.worlds.pools and not detector.worlds.losses.counts


def test_fault_may_need_an_accelerator(detector: Detector, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one, a fault at clauses about accelerators is not called missed."""
    monkeypatch.setattr("zoo.accelerators", lambda: 0)

    row = search(detector, Job(FAULTS["transfers.PinnedInPairs"], "quick", 0, True, 60.0))

    assert row.outcome == NEEDS_ACCELERATOR


def test_rows_accumulate(tmp_path: Path) -> None:
    """A row replaces the one with its fault, effort and seed; all others stay."""
    path = tmp_path / "rows.json"

    add([ROW, replace(ROW, seed=1)], [(1.0, 2.0)], path)
    add([replace(ROW, seed=1, outcome=MISSED)], path=path)

    held = read(path)
    assert [row.outcome for row in held.grouped()[ROW.fault, "ci"]] == [CAUGHT, MISSED]
    assert held.by_key[ROW.key] == ROW
    assert held.startups == [(1.0, 2.0)]


def test_rows_of_lost_faults_are_dropped(tmp_path: Path) -> None:
    """Only the rows of the faults that are named stay."""
    path = tmp_path / "rows.json"
    add([ROW, replace(ROW, fault="shares.Gone")], path=path)

    keep([ROW.fault], path)

    assert list(read(path)) == [ROW]


def test_page_counts_seeds() -> None:
    """The page tells the share of seeds that caught a fault, and adds start-up to the seconds."""
    rows = [ROW, replace(ROW, seed=1, outcome=MISSED, told=(), clause="", anomaly="")]

    said = page(Rows({row.key: row for row in rows}, [(3.0, 4.0)]))

    line = next(line for line in said.splitlines() if line.startswith("| shares.OnePaddingPass"))
    assert [cell.strip() for cell in line.split("|")][3:10] == [
        "ci", "1 of 2", "sampler.works", "1 of 2", "14, 14", "5.0, 5.0", "5.0, 5.0",
    ]  # fmt: skip
    assert "- shares.OnePaddingPass, ci: missed; seeds 1" in said


def test_page_tells_what_was_out_of_time() -> None:
    """A whole run that its bound has ended is no detection time."""
    row = replace(ROW, clause=LATE, seconds=120.0)

    said = page(Rows({row.key: row}))

    assert "out of time" in said and "120.0" not in said


def test_stale_rows_are_told() -> None:
    """Rows of a fault that is gone or has changed are told, and a fault without rows."""
    gone = replace(ROW, fault="shares.Gone")

    told = stale(Rows({row.key: row for row in (gone, ROW)}))

    assert "shares.Gone: no such fault, but rows" in told
    assert f"{ROW.fault}: has changed since its rows were made" in told
    assert "share_orders.SeedByRank: no row" in told


def test_committed_page_is_that_of_the_committed_data() -> None:
    """The page is what `python tests/benchmarks/detection.py --table` makes of the data."""
    assert PAGE.read_text(encoding="utf-8") == page(read(DATA))
