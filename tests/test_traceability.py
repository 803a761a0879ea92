"""From each clause a way leads to a law, a property and a fault; the page of them is current."""

from __future__ import annotations

import pytest
import traceability
from traceability import PAGE, Excluded, excluded, faults, gaps, page, static


def test_nothing_is_missing() -> None:
    """Clauses have laws, properties and faults, these have clauses; the excluded have reasons."""
    assert gaps() == []


def test_page_is_current() -> None:
    """The page is what the command makes today, apart from the marks of the detection score."""
    assert static(PAGE.read_text(encoding="utf-8")) == static(page())


def test_gap_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clause that lost its fault, its law and its property is told with each of them."""
    left = [fault for fault in faults() if "batch.fresh" not in fault.caught_by]
    for name in ("laws", "properties"):
        held = {c: text for c, text in getattr(traceability, name)().items() if c != "batch.fresh"}
        monkeypatch.setattr(traceability, name, lambda held=held: held)
    monkeypatch.setattr(traceability, "faults", lambda: left)

    told = gaps()

    assert told[:2] == ["clause batch.fresh has no law", "clause batch.fresh has no property"]
    assert "clause batch.fresh has no fault" in told


def test_what_is_left_out_is_read() -> None:
    """Both tables of the chapter are read: whole laws, and parts of laws."""
    laws = {entry.law for entry in excluded()}

    assert {"BT7", "WR8"} <= laws, "whole laws"
    assert {"SP7", "PT3"} <= laws, "parts"


def test_a_reason_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that is left out without a reason is told."""
    monkeypatch.setattr(traceability, "excluded", lambda: [Excluded("SP1", "a length", "")])

    assert "law SP1 is excluded without a reason" in gaps()
