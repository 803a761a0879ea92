"""The options of the command line."""

from __future__ import annotations

from collections.abc import Collection
from fnmatch import fnmatch

import pytest

PROFILES = ("core", "torch")
BACKENDS = ("auto", "gloo", "nccl", "simulated")

FORMS = {
    "json": "write the result of the run: everything that was seen, as one JSON document",
    "html": "write the result as one self-contained page",
    "md": "write the result as Markdown, fit for a comment on a pull request",
    "badge": "write the result as a badge's JSON, in the form of shields.io",
}
"""The forms in which a result is written."""


def add_options(parser: pytest.Parser) -> None:
    """The options of the suite."""
    group = parser.getgroup("conformance", "conformance of samplers")
    group.addoption(
        "--impl", action="append", default=[], metavar="MODULE",
        help="the candidate: a dotted module, module:object or a .py file; may be repeated",
    )  # fmt: skip
    group.addoption(
        "--role", action="append", default=[], metavar="ROLE=NAME",
        help="the candidate's name for a role, e.g. DistributedSampler=MyShards; may be repeated",
    )  # fmt: skip
    group.addoption("--world-sizes", default="1,2,3,4", help="sizes of the real groups (1,2,3,4)")
    group.addoption(
        "--backend", default="auto", choices=BACKENDS,
        help="auto takes NCCL when there is a GPU for each rank, else gloo",
    )  # fmt: skip
    group.addoption("--effort", default="ci", choices=("quick", "ci", "nightly"))
    group.addoption(
        "--smoke",
        action="store_true",
        help="only see how the candidate's arguments are bound, and whether it works at all",
    )
    group.addoption(
        "--conformance-profile", default="core", choices=PROFILES,
        help="core: what any right sampler obeys; torch: also torch's order, bit for bit",
    )  # fmt: skip
    group.addoption("--conformance-seed", type=int, default=0, help="another seed, other cases")
    group.addoption(
        "--clause", action="append", default=[], help="only clauses like this: distributed.*"
    )
    group.addoption("--on", action="append", default=[], metavar="ROLE", help="only this role")
    group.addoption("--case", default=None, help="replay one case, as a violation printed it")
    group.addoption(
        "--case-timeout", type=float, default=20.0, help="seconds a rank may take for a case"
    )
    group.addoption(
        "--baseline", action="append", default=[], metavar="[IMPL=]FILE",
        help="known deviations: a TOML file, or `torch`; may be repeated",
    )  # fmt: skip
    group.addoption(
        "--write-baseline", default=None, metavar="FILE", help="write what is violated now"
    )
    for form, what in FORMS.items():
        group.addoption(f"--conformance-{form}", default=None, metavar="PATH", help=what)
    group.addoption(
        "--repro-dir", default=None, metavar="DIR",
        help="write a stand-alone script for each violation and each confirmed deviation",
    )  # fmt: skip
    group.addoption(
        "--strict-should",
        action="store_true",
        help="a violated SHOULD fails the run too; pytest's own --strict says it as well",
    )


def like(name: str, patterns: Collection[str]) -> bool:
    """Whether a name is like one of the patterns; without patterns every name is."""
    return not patterns or any(fnmatch(name, pattern) for pattern in patterns)


def strict(config: pytest.Config, declared: bool = False) -> bool:
    """Whether a violated SHOULD fails: said to the suite, in its file, or to pytest itself.

    pytest 8 has an option for it, later ones a setting that the option changes.
    """
    if declared or config.getoption("--strict-should"):
        return True
    try:
        return bool(config.getini("strict"))
    except (KeyError, ValueError):
        return bool(config.getoption("strict", False))
