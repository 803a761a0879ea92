"""Right loaders that look unlike torch's and the reference: `spec/lifecycle.md` accuses none."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

import plain_loader
import torch.utils.data
from plain_loader import Crew, Pass

import reference


class Forking(plain_loader.DataLoader):
    """Forks, whatever the start method; kills at once; takes lambdas; daemonic or not."""


class _Asking(Crew):
    """Workers may finish, for two seconds all together."""

    def close(self) -> None:
        if os.getpid() != self.owner:
            return
        for _, pipe in self.members:
            pipe.close()
        end = time.monotonic() + 2.0
        for pid, _ in self.members:
            while os.waitpid(pid, os.WNOHANG) == (0, 0):
                if time.monotonic() > end:
                    os.kill(pid, signal.SIGKILL)
                time.sleep(0.005)
        self.members = []

    def start(self, worker: int) -> Any:
        for _, pipe in self.members:
            os.set_inheritable(pipe.fileno(), False)
        return super().start(worker)


class Asking(plain_loader.DataLoader):
    """Ends its workers by asking first, and kills those that have not ended after two seconds."""

    crews = _Asking


class _Patient(Pass):
    """Goes on with the other workers when one has died, and gives its batches to a new crew."""

    def received(self) -> tuple[str, Any]:
        try:
            return self.crew.receive(self.pending[0])
        except RuntimeError as error:
            self.over = True
            raise RuntimeError("a worker died; the next pass has new ones") from error


class Wrapping(plain_loader.DataLoader):
    """Wraps the death of a worker in an error of its own."""

    passes = _Patient


class Threaded:
    """Loads in a thread; there are no worker processes at all."""


class Eager(reference.DataLoader):
    """Starts a pass only when its first batch is asked for, but the workers at once."""

    def __iter__(self) -> Any:
        return super().__iter__()


class Alone(torch.utils.data.DataLoader):
    """Has no workers, however many are asked for."""

    def __init__(self, *args: Any, **options: Any) -> None:
        for name in ("prefetch_factor", "persistent_workers", "multiprocessing_context"):
            options.pop(name, None)
        super().__init__(*args, **(options | {"num_workers": 0}))
