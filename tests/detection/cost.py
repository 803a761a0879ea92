"""What a search costs: CPU seconds of this process and of all that it has started.

On a machine with other work wall seconds tell more of that work than of the search; CPU seconds
hardly do. They leave out waiting, and count twice what two ranks do at once.
"""

from __future__ import annotations

import contextlib

import psutil


def cpu_s() -> float:
    """User and system seconds so far, of processes that have ended too."""
    own = psutil.Process()
    total = 0.0
    for process in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])  # of itself, and of children that it waited for
    return total
