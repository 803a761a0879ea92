"""The live line: which clause is examined, how many cases it has had, and how many a second.

It stands to the right of what pytest has written, on a terminal only, and leaves the cursor where
it was: pytest goes on as if nothing had been there.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.properties import Property

EVERY_S = 0.25

SAVED, RESTORED, CLEARED = "\x1b7", "\x1b8", "\x1b[K"
"""Keep the cursor's place, go back to it, and clear the line from there on (ECMA-48, DEC)."""


class Progress:
    """Writes the line. terminal: pytest's terminal reporter. capture: its capture manager."""

    def __init__(self, terminal: Any, capture: Any) -> None:
        self.writer, self.capture = terminal._tw, capture
        self.prop: Property | None = None
        self.began = self.told = time.monotonic()
        self.cases = 0

    def heard(self, prop: Property, cases: int) -> None:
        """A case of `prop` was judged; it has had so many."""
        now = time.monotonic()
        if prop is not self.prop:
            self.prop, self.began, self.cases = prop, now, cases
        if now - self.told >= EVERY_S:
            self.told = now
            rate = (cases - self.cases) / max(now - self.began, EVERY_S)
            self._show(f"  {prop.clause.id} {prop.role}: {cases:,} cases, {rate:,.0f}/s")

    def clear(self) -> None:
        """Take the line away."""
        self._write(CLEARED)

    def _show(self, text: str) -> None:
        room = self.writer.fullwidth - self.writer.width_of_current_line - 1
        self._write(f"{SAVED}{text[: max(0, room)]}{CLEARED}{RESTORED}")

    def _write(self, text: str) -> None:
        """Write past pytest, which holds back what is printed during a test."""
        with self.capture.global_and_fixture_disabled():
            self.writer._file.write(text)
            self.writer._file.flush()
