"""How often the process that judges looks for garbage.

Traces are many small objects that stay until the run is over, and none lies in a cycle. By default
Python looks through all of them again and again, for a tenth of a run.
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
