"""Where a process of a pool stands, and how it begins; known without torch."""

from __future__ import annotations

from dataclasses import dataclass
from multiprocessing.connection import Connection


@dataclass(frozen=True)
class Place:
    """Where a process stands: its rank in a group of `world_size`, met through the file `store`.

    backend: "gloo", "nccl", or for a process without a group "simulated", or "alone" if it serves
    one case only.
    """

    rank: int
    world_size: int
    backend: str
    store: str

    @property
    def grouped(self) -> bool:
        return self.backend not in ("simulated", "alone")


def begin(connection: Connection, place: Place) -> None:
    """What a new process does first; its fork server has imported the rest."""
    from conformance.worlds.process import serve

    serve(connection, place)
