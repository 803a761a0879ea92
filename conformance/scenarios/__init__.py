"""Scenarios: which cases a property looks at, small ones exhaustively and larger ones drawn."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from hypothesis import strategies as st

from conformance.candidate import Description
from conformance.case import Case


@dataclass(frozen=True)
class Effort:
    """How hard to look. examples: drawn cases a property; n_max, world_max: the exhaustive bounds;
    trials: the factor on statistical samples; seconds: the bound on one property's drawing."""

    name: str
    examples: int
    n_max: int
    world_max: int
    trials: float
    seconds: float

    @property
    def quick(self) -> bool:
        """Whether it is less exhaustive than the default: not all orders of workers, for one."""
        return self.n_max < 13


EFFORTS = {
    effort.name: effort
    for effort in (
        Effort("quick", 25, 7, 4, 0.5, 30.0),
        Effort("ci", 100, 13, 8, 1.0, 120.0),
        Effort("nightly", 600, 24, 12, 4.0, 1200.0),
    )
}


@dataclass(frozen=True)
class Setting:
    """What a scenario may know: the candidate's description, the role, and the run's options.

    simulated: there are no real groups, in which ranks could find each other.
    """

    candidate: Description
    role: str
    world_sizes: tuple[int, ...]
    effort: Effort
    seed: int
    simulated: bool = False

    def accepts(self, parameter: str, role: str = "") -> bool:
        return self.candidate.accepts(role or self.role, parameter)

    @property
    def has_epochs(self) -> bool:
        return self.role in self.candidate.epochs

    @property
    def hands_over(self) -> bool:
        """Whether inner items reach the class as they are: nothing is put in between."""
        binding = self.candidate.binding(self.role)
        return binding.copied is None and not binding.batched


@dataclass(frozen=True)
class Scenario:
    """A source of cases. small: every small one, smallest first, or a fixed few; simulated.
    drawn: a strategy over larger ones, in real groups. Either may be missing or empty.
    share: the share of the effort's drawn cases that is enough here. slow: each small case takes
    about a second of the processor, so a glance leaves them for the end."""

    name: str
    small: Callable[[Setting], Iterable[Case]] | None = None
    drawn: Callable[[Setting], st.SearchStrategy[Case] | None] | None = None
    share: float = 1.0
    slow: bool = False

    def count(self, effort: Effort) -> int:
        """How many cases are drawn."""
        return max(1, int(effort.examples * self.share))

    def seed(self, seed: int, role: str) -> int:
        """The seed of the drawing: another one for each run, scenario and role."""
        return zlib.crc32(f"{seed} {self.name} {role}".encode())
