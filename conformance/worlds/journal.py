"""The journal: what every process of a case did and when, in the order in which it happened.

It is a file opened for appending: a record is one short write, which the kernel orders and a killed
worker cannot tear.
"""

from __future__ import annotations

import os
import struct
import time
from pathlib import Path

from conformance.trace import KINDS, Record

RECORD = struct.Struct("<5q")
CODES = {kind: code for code, kind in enumerate(KINDS)}


class Journal:
    """The journal in `folder`; owner: the process that reads it."""

    def __init__(self, folder: str, owner: int) -> None:
        self.folder, self.owner, self.read = folder, owner, 0
        flags = os.O_APPEND | os.O_CREAT | os.O_RDWR | os.O_CLOEXEC
        self.descriptor = os.open(Path(folder, "journal"), flags, 0o600)

    def report(self, kind: str, value: int = 0, worker: int = -1) -> None:
        """Write one record; `worker` is -1 in the main process."""
        row = CODES[kind], value, worker, os.getpid(), time.monotonic_ns()
        os.write(self.descriptor, RECORD.pack(*row))

    def records(self) -> tuple[Record, ...]:
        """What was reported since the last call."""
        raw = os.pread(self.descriptor, os.fstat(self.descriptor).st_size - self.read, self.read)
        self.read += len(raw)
        return tuple(
            Record(KINDS[kind], value, worker, pid, stamp * 1e-9)
            for kind, value, worker, pid, stamp in RECORD.iter_unpack(raw)
        )

    def everything(self) -> tuple[Record, ...]:
        """All that was reported, whether it was read before or not."""
        before, self.read = self.read, 0
        found = self.records()
        self.read = before
        return found

    def settle(self, quiet_s: float = 0.15, bound_s: float = 3.0) -> bool:
        """Wait until nothing has been reported for `quiet_s`; False if that never was."""
        end, size, since = time.monotonic() + bound_s, -1, time.monotonic()
        while time.monotonic() < end:
            now = os.fstat(self.descriptor).st_size
            if now != size:
                size, since = now, time.monotonic()
            elif time.monotonic() - since > quiet_s:
                return True
            time.sleep(0.005)
        return False
