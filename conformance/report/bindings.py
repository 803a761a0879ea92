"""How a candidate's classes are given their arguments, told before anything is concluded."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.aliases import ARGUMENTS, RANKS
from conformance.candidate import Description
from conformance.roles import FIRST


def bindings(found: Description) -> Iterator[str]:
    """A line for each role, and one for each of its arguments."""
    for role in found.roles:
        if role not in ARGUMENTS:
            continue
        binding = found.binding(role)
        yield f"  {role}, of {found.source}"
        yield f"    {FIRST[role]:<14} {(binding.first or 'the first argument') + binding.form}"
        for name in ARGUMENTS[role]:
            yield f"    {name:<14} {_how(found, role, name)}"
        for name in binding.filled:
            yield f"    {name:<14} made up"
        if role in found.epochs:
            yield f"    {'set_epoch':<14} {binding.epoch or 'set_epoch'}"


def _how(found: Description, role: str, name: str) -> str:
    """Where an argument goes."""
    binding = found.binding(role)
    if name in RANKS and binding.ambient:
        return "not taken: what the process group says"
    if not found.accepts(role, name):
        return "not taken"
    if name in binding.opposites:
        return f"not {binding.opposites[name]}"
    needed = ", needed: without it, what the process group says" if name in binding.needs else ""
    return binding.called(name) + needed
