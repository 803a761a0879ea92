"""Shared memory that the processes of a case have made: by name, and as this process maps it.

Of some names it can be told whose they are: torch puts the number of the maker into its own. All
others are heard of as they are made, here and in what is forked from here.
"""

from __future__ import annotations

import contextlib
import os
import sys
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

SHARED = Path("/dev/shm")


class Heard:
    """The names that this process and its forks have made in shared memory, on a board without a
    name of its own. A fork that has closed the board says nothing more."""

    def __init__(self) -> None:
        self.board = os.memfd_create("heard")
        self.inode = os.fstat(self.board).st_ino

    def add(self, name: str) -> None:
        """Take in a name."""
        with contextlib.suppress(OSError):
            if os.fstat(self.board).st_ino == self.inode:
                os.write(self.board, f"{name}\0".encode(errors="surrogateescape"))

    def standing(self) -> set[str]:
        """Those names that are there still."""
        size = os.fstat(self.board).st_size
        text = os.pread(self.board, size, 0).decode(errors="surrogateescape")
        return {name for name in text.split("\0")[:-1] if (SHARED / name).exists()}


_heard: Heard | None = None
_register = resource_tracker.register


def hear_of_segments() -> None:
    """Remember from now on what is made by name: by `multiprocessing.shared_memory` or as a file.

    A hook cannot be taken back, so only the first call sets one.
    """
    global _heard
    if _heard is None:
        _heard = Heard()
        resource_tracker.register = _registered
        sys.addaudithook(_opens)


def _registered(name: Any, rtype: str) -> None:
    if rtype == "shared_memory" and _heard:
        _heard.add(name.lstrip("/"))
    _register(name, rtype)


def _opens(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "open" or not _heard or not (arguments[2] or 0) & os.O_CREAT:
        return
    with contextlib.suppress(OSError, TypeError, ValueError):  # what is wrong with it, `open` tells
        path = Path(os.fsdecode(arguments[0]))
        if path.is_relative_to(SHARED) and not path.exists():
            _heard.add(str(path.relative_to(SHARED)))


def named_segments() -> list[tuple[Path, int]]:
    """torch's segments in shared memory, and the process that made each: its number is in the name.

    They outlive a maker that is killed.
    """
    return [(path, int(path.name.split("_")[1])) for path in SHARED.glob("torch_*")]


def segments_standing(pids: frozenset[int] | None) -> frozenset[str]:
    """Segments in shared memory that this process maps, by address, and those that these processes
    made, or any, by name."""
    made = {path.name for path, pid in named_segments() if pids is None or pid in pids}
    made |= _heard.standing() if _heard else set()
    lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    mapped = {line.split("-")[0] for line in lines if "/memfd:" in line or f"{SHARED}/" in line}
    return frozenset(made | mapped)
