"""How often the process that judges looks for garbage.

Traces are many small objects that stay until the run is over, and none lies in a cycle. By default
Python looks through all of them again and again, for a tenth of a run; once it is over, pytest does
so twice and Python's own end several times, for seconds.
"""

from __future__ import annotations

import gc

SELDOM = 100_000
"""So many objects more than before make it look."""


def seldom() -> None:
    """Have Python look through this process's objects seldom, unless it never does."""
    young, *older = gc.get_threshold()
    if 0 < young < SELDOM:
        gc.set_threshold(SELDOM, *older)


def no_more() -> None:
    """Have Python never again look through what there is now: it lives as long as the process."""
    gc.freeze()
