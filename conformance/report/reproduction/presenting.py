"""A class that somebody's adapter, or a binding, presents in a role."""

from __future__ import annotations

from conformance.binding import Binding
from conformance.copying import Copied
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.origin import role_name, stand_in

VARIABLES = ("sampler", "data", "given", "generator", "probe", "order", "now", "rank", "look")
"""Names that a script gives to something else."""


def first_formed(draft: Draft, binding: Binding, first: str) -> str:
    """A role's first argument in the form in which the class takes it."""
    if binding.batched:
        return f"{stand_in(draft, 'BatchSampler')}({first}, 1, False)"
    return f"len({first})" if binding.total else first


def built(draft: Draft, role: str, words: str) -> str:
    """The construction of a role, by an adapter if it has one."""
    copied = draft.candidate.binding(role).copied or Copied()
    draft.head |= dict.fromkeys(copied.head)
    alias = [f"build = {copied.build}"] * (copied.build in VARIABLES)
    if copied.lines:
        draft.define("adapter", [*copied.lines, *alias])
    name = "build" if alias else copied.build
    made = f"{name or role_name(draft, role)}({words})"
    return f"{draft.define('Presented', _presented(copied))}({made})" if copied.presents else made


def setter(draft: Draft) -> str:
    """The method that sets the epoch."""
    return draft.candidate.binding(draft.built).other_epoch or "set_epoch"


def _presented(copied: Copied) -> list[str]:
    """The class that presents what was built by hooks."""
    iterated = f"map({copied.indices}, self.made)" if copied.indices else "iter(self.made)"
    called = f"{copied.set_epoch}(self.made, epoch)"
    return [
        "class Presented:",
        *indented(
            [
                *_method("__init__(self, made)", "self.made = made"),
                *_method("__len__(self)", "return len(self.made)"),
                *_method("__iter__(self)", f"return {iterated}"),
                *_method(
                    "set_epoch(self, epoch)",
                    called if copied.set_epoch else "self.made.set_epoch(epoch)",
                ),
            ]
        ),
    ]


def _method(head: str, body: str) -> list[str]:
    return [f"def {head}:", f"    {body}"]
