"""A script in the making: what it imports, defines and does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from conformance.candidate import Description
from conformance.case import Case
from conformance.recipes import Role
from conformance.roles import LOADERS, RANKED

INDENT = "    "


@dataclass
class Draft:
    """Collects the parts of a script in any order.

    kept: names of the variables that hold what the plan speaks of again, by kind ("data", "probe",
    "generator", "given"); emptied by each construction. classes: texts by name. reports: whether
    datasets and functions report what is asked of them. rests: whether is counted what was fetched
    when all was quiet. warned: whether warnings are looked at.
    messages: whether the text of an exception is. held: whether its arguments are. shared: whether
    anything was left in shared memory. head: what an adapter imports and does first.
    """

    candidate: Description
    case: Case
    reports: bool = False
    rests: bool = False
    warned: bool = False
    messages: bool = False
    held: bool = False
    shared: bool = False
    kept: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    modules: set[str] = field(default_factory=set)
    names: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    classes: dict[str, list[str]] = field(default_factory=dict)
    head: dict[str, None] = field(default_factory=dict)

    def need(self, *modules: str) -> None:
        """Import these modules."""
        self.modules.update(modules)

    def define(self, name: str, lines: Iterable[str]) -> str:
        """Put a class or function into the script, once; returns its name."""
        self.classes.setdefault(name, list(lines))
        return name

    def has(self, *operations: type) -> bool:
        """Whether the plan has one of these operations."""
        return any(isinstance(operation, operations) for operation in self.case.plan)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is made meanwhile is not what the plan speaks of again."""
        held = {kind: [*names] for kind, names in self.kept.items()}
        yield
        self.kept.clear()
        self.kept.update(held)

    @property
    def subject(self) -> str:
        """The variable that holds what is examined."""
        return "loader" if self.case.role in LOADERS else "sampler"

    @property
    def built(self) -> str:
        """The role that is built: what workers see is seen through a loader."""
        return "DataLoader" if self.case.role in LOADERS else self.case.role

    @property
    def several(self) -> bool:
        """Whether ranks differ, so that the code needs to know which one it is."""
        return self.case.world_size > 1

    @property
    def rank(self) -> str:
        """The rank, as the code says it."""
        return "rank" if self.several else "0"

    @property
    def grouped(self) -> bool:
        """Whether the ranks must be real processes in a process group."""
        ranked = any(role in RANKED for role in _roles(self.case))
        return self.case.world == "group" and not self.case.passed and (ranked or self.several)


def _roles(case: Case) -> set[str]:
    """The names of all roles that a case builds."""
    found, left = {case.role}, [value for _, value in case.arguments]
    while left:
        value = left.pop()
        if isinstance(value, Role):
            found.add(value.name)
            left += [inner for _, inner in value.arguments]
    return found


def indented(lines: Iterable[str], levels: int = 1) -> list[str]:
    """Lines further in."""
    return [INDENT * levels + line if line else line for line in lines]
