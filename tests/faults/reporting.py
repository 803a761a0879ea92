"""A loader whose iterators report failures in a way of their own, worse than the reference does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from reference import DataLoader
from reference.loader.crew_pass import CrewPass


class Reporting(DataLoader[Any]):
    """Its passes with workers report failures in a way of their own."""

    rule: type[CrewPass]
    passes = 0

    def __iter__(self) -> Iterator[Any]:
        made = super().__iter__()
        self.passes += 1
        if isinstance(made, CrewPass):
            made.__class__ = self.rule
            made.number = self.passes  # type: ignore[attr-defined]
        return made


class Wrapped:
    """A dataset that stands before the right one."""

    def __init__(self, dataset: Any) -> None:
        self.dataset = dataset

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: Any) -> Any:
        return self.dataset[index]


class Worse(CrewPass):
    """A pass. `raised` is called with whatever the right iterator raises, but for the end."""

    number = 1

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except StopIteration:
            raise
        except Exception as error:
            return self.raised(error)

    def raised(self, error: Exception) -> Any:
        raise error


def wait_for_ever() -> NoReturn:
    """As a loader does that waits for what does not come."""
    threading.Event().wait()
    raise AssertionError
