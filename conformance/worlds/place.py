"""Where a process of a pool stands, and how it begins; known without torch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from multiprocessing.connection import Connection


@dataclass(frozen=True)
class Place:
    """Where a process stands: its rank in a group of `world_size`, met through the file `store`.

    backend: "gloo", "nccl", or for a process without a group "simulated", or "alone" if it serves
    one case only; two such processes are the same program twice, and no ranks. slow_s: the CPU
    seconds after which a pass that still yields is given up.
    """

    rank: int
    world_size: int
    backend: str
    store: str
    slow_s: float = math.inf

    @property
    def environment(self) -> dict[str, str]:
        """What a launcher tells a rank: of ranks on a CPU, that they are on two nodes.

        So a rank is no local rank, nor the number of a task that a scheduler started on its node.
        On accelerators each rank has a device of this one node.
        """
        alone = self.backend == "nccl" or self.world_size == 1
        most = self.world_size if alone else (self.world_size + 1) // 2
        node, local = divmod(self.rank, most)
        told = {"RANK": self.rank, "WORLD_SIZE": self.world_size, "LOCAL_RANK": local}
        told |= {"LOCAL_WORLD_SIZE": min(most, self.world_size - node * most)}
        told |= {"GROUP_RANK": node, "NODE_RANK": node}
        tasks = {} if alone else {"SLURM_PROCID": node, "OMPI_COMM_WORLD_RANK": node}
        return {name: str(number) for name, number in (told | tasks).items()}

    @property
    def grouped(self) -> bool:
        return self.backend not in ("simulated", "alone")


def begin(connection: Connection, place: Place) -> None:
    """What a new process does first; its fork server has imported the rest."""
    from conformance.worlds.process import serve

    serve(connection, place)
