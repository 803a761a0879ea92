"""The pictures of a violation, as far as they can be judged without a browser."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from results import lost, overtaken

from conformance.report.evidence import evidence
from conformance.report.picture import BATCH_GAP, CELL_W, STEPS, grid, marked, timeline


def seen(found: Any = None) -> dict[str, Any]:
    return evidence(found or lost(), "again", "script")


def gaps(picture: str) -> list[int]:
    """How far apart the cells of the picture begin."""
    places = [int(x) for x in re.findall(r'<rect x="(\d+)"', picture)]
    return [after - before for before, after in pairwise(places)]


def test_a_pass_without_items_is_not_drawn() -> None:
    """Where no rank yielded anything there is no grid; one that did is enough for all."""
    told = seen()
    first, second = (rank["events"][1] for rank in told["ranks"])
    first["items"] = []
    half = grid(told)
    second["items"] = []

    assert "rank 0, event 1" in half and grid(told) == ""


def test_batches_stand_apart() -> None:
    """Between two batches is a gap; batches of one item each are drawn like single items."""
    told = seen()
    told["shown"] = [[0, 1]]
    event = told["ranks"][0]["events"][1]
    event |= {"items": [4, 5, 6, 7], "items_in_all": 4, "batches": [2, 2]}

    assert gaps(grid(told)) == [CELL_W, CELL_W + BATCH_GAP, CELL_W]
    event["batches"] = [1, 1, 1, 1]
    assert gaps(grid(told)) == [CELL_W] * 3


def test_marks_are_in_sight() -> None:
    """Of a long pass the part with the mark is drawn, and the row says from where on."""
    told = seen()
    event = told["ranks"][0]["events"][1]
    event |= {"items": list(range(200)), "items_in_all": 200}
    told["marks"] = [[0, 1, 150, "wrong"]]

    assert "rank 0, event 1, from 146" in grid(told)
    assert "position 150: 150, wrong" in grid(told)


def test_the_key_names_the_marks_that_are_there() -> None:
    """Kinds of marks that the picture does not show are not explained."""
    assert marked(seen()) == [("doubled", "*"), ("out-of-range", "#")]


def test_a_long_journal_is_cut_and_says_so() -> None:
    """What is not drawn is counted."""
    event = seen(overtaken())["ranks"][0]["events"][1]
    event |= {"journal": [["fetch", n, 0, 0.0] for n in range(200)], "journal_in_all": 500}

    assert f"{500 - STEPS} more" in timeline(event)
    assert timeline(event).count("<circle") == STEPS
