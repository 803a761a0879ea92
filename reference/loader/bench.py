"""Where a loader's idle crew waits for the next pass."""

from __future__ import annotations

import os
from multiprocessing.context import BaseContext
from typing import Any

from reference.loader.crew import Crew
from reference.loader.parcel import packed
from reference.loader.worker import Begin, Job


class Bench:
    """At most one idle crew, and none unless `keep`. Two passes at a time have two crews."""

    def __init__(self, keep: bool) -> None:
        self._keep = keep
        self._idle: Crew | None = None
        self._shared: bool | None = None

    def begin(self, job: Job, context: BaseContext, seed: int) -> Crew:
        """A crew for a new pass that has been told to begin."""
        if self._keep and self._shared is None:  # now: a start that is no fork shares all tensors
            self._shared = context.get_start_method() == "fork" or _shares(job.dataset)
        crew, self._idle = self._idle, None
        if crew is not None:
            if crew.healthy() and (parcel := _packed(job.dataset, bool(self._shared))):
                dataset, descriptor = parcel
                if crew.begin(Begin(seed, dataset), descriptor):
                    return crew
            crew.dismiss()
        crew = Crew(job, context)
        crew.begin(Begin(seed, None))
        return crew

    def release(self, crew: Crew) -> None:
        """Take a crew back whose pass is over."""
        if self._keep and self._idle is None and crew.healthy():
            crew.end()
            self._idle = crew
        else:
            crew.dismiss()


def _packed(dataset: Any, refuses_shared: bool = True) -> tuple[bytes, int | None] | None:
    """None for a dataset that only the start of a process can hand over, or share."""
    try:
        return packed(dataset, refuses_shared)
    except Exception:
        return None


def _shares(dataset: Any) -> bool:
    """Whether the caller has put tensors of the dataset into shared memory."""
    parcel = _packed(dataset)
    if parcel and parcel[1] is not None:
        os.close(parcel[1])
    return parcel is None
