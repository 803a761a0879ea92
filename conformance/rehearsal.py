"""What a glance needs first, made ready while the first rank still imports torch.

Which cases go first is known once all small cases of a scenario have been compared: for all roles
that takes two seconds. What the candidate can be given is not known yet; it is presumed to take
what its role takes, as most do. Where that is wrong the cases are divided anew, and only idle time
was spent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib.machinery import PathFinder
from pathlib import Path
from threading import Event, Thread
from types import TracebackType

from conformance.aliases import ARGUMENTS
from conformance.candidate import Description, Source
from conformance.examine import Examiner
from conformance.properties import Property, everything
from conformance.roles import FIRST, ROLES
from conformance.scenarios import Scenario

EPOCHS = (
    "DistributedSampler",
    "BalanceClassSampler",
    "WeightedBalanceClassSampler",
    "DistributedSamplerWrapper",
)
"""The roles of which most classes have `set_epoch`."""


class Rehearsal:
    """Divides cases in a thread of its own, until somebody leaves the context.

    examiner: one that nobody else uses. sources: the candidates that will be examined.
    """

    def __init__(self, examiner: Examiner, sources: Sequence[Source]) -> None:
        self.examiner, self.sources, self.over = examiner, sources, Event()
        self.thread = Thread(target=self._divide, daemon=True)

    def __enter__(self) -> None:
        self.thread.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        self.over.set()
        self.thread.join()

    def _divide(self) -> None:
        for source in self.sources:
            candidate = presumed(source)
            for prop, scenario in _asked(source):
                if self.over.is_set():
                    return
                self.examiner.parts(candidate, prop.role, scenario)


def presumed(source: Source) -> Description:
    """What is known of a candidate before it is imported, if it takes what each role takes."""
    roles = {role: (FIRST.get(role, ""), *ARGUMENTS.get(role, ("**",))) for role in ROLES}
    return Description(source, roles, dict(source.policies), EPOCHS)


def _asked(source: Source) -> Iterator[tuple[Property, Scenario]]:
    """The scenarios with small cases, of the roles that the candidate's file names."""
    text = f"{source.text} {_text(source)}"
    said = {role for role in ROLES if re.search(rf"\b{role}\b", text)}
    for prop in everything():
        if prop.role in said:
            yield from ((prop, scenario) for scenario in prop.scenarios if scenario.small)


def _text(source: Source) -> str:
    """What the candidate's module says, "" where it cannot be found without an import."""
    name = source.text.partition(":")[0]
    if not name.endswith(".py"):
        top, *rest = name.split(".")
        found = PathFinder.find_spec(top)
        place = Path(found.origin) if found and found.origin else Path()
        name = str(place.parent.joinpath(*rest).with_suffix(".py") if rest else place)
    path = Path(name)
    return path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
