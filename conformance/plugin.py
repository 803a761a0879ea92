"""The pytest plugin: options, one item for each candidate x clause x role, and the summary.

It is loaded wherever the package is installed, so it imports nothing heavy, and does nothing until
`--impl` is given.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from conformance.session import Session

Check = Callable[[], None]
"""What a property test is given: examine the candidate, and fail unless the clause holds."""

PROPERTY = "conformance-verdict"


FORMS = {
    "json": "write the result of the run: everything that was seen, as one JSON document",
    "html": "write the result as one self-contained page",
    "md": "write the result as Markdown, fit for a comment on a pull request",
    "badge": "write the result as a badge's JSON, in the form of shields.io",
}
"""The forms in which a result is written."""


def pytest_addoption(parser: pytest.Parser) -> None:
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
        "--backend", default="auto", choices=("auto", "gloo", "nccl", "simulated"),
        help="auto takes NCCL when there is a GPU for each rank, else gloo",
    )  # fmt: skip
    group.addoption("--effort", default="ci", choices=("quick", "ci", "nightly"))
    group.addoption(
        "--conformance-profile", default="core", choices=("core", "torch"),
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
        "--baseline", action="append", default=[],
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
        "--strict-should", action="store_true", help="a violated SHOULD fails the run too"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Open a session where a candidate is given; a usage error ends the run at once."""
    if config.getoption("--impl") and not config.getoption("--collect-only"):
        from conformance.candidate import CandidateError
        from conformance.session import Session

        try:
            config.stash[SESSION] = Session(config)
        except CandidateError as error:
            raise pytest.UsageError(str(error)) from error


SESSION: pytest.StashKey[Session] = pytest.StashKey()


COLLECTED: pytest.StashKey[bool] = pytest.StashKey()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the order of the spec, without chapters that have no chosen clause.

    The protocol comes first: it names what a hostile candidate does, on the smallest cases.
    """
    if COLLECTED in config.stash and not config.getoption("--impl"):
        raise pytest.UsageError("say what to examine: pytest conformance --impl=MODULE")
    if COLLECTED in config.stash:
        items[:] = [item for item in items if _parameters(item).get("subject", ()) is not None]
        items.sort(key=_chapter)


def _chapter(item: pytest.Item) -> int:
    """The place of an item's chapter in the spec."""
    from conformance.clauses import CHAPTERS

    subject = _parameters(item).get("subject")
    return CHAPTERS.index(subject[1].clause.chapter) if subject else -1


def _parameters(item: pytest.Item) -> dict[str, Any]:
    """What an item is parametrized with."""
    return getattr(getattr(item, "callspec", None), "params", {})


def pytest_unconfigure(config: pytest.Config) -> None:
    """End every process."""
    if SESSION in config.stash:
        config.stash[SESSION].close()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item for each property and candidate."""
    properties = getattr(metafunc.function, "properties", None)
    if properties is None:
        return
    config = metafunc.config
    config.stash[COLLECTED] = True
    chosen = [
        (impl, prop)
        for impl in config.getoption("--impl")
        for prop in properties
        if _like(prop.clause.id, config.getoption("--clause"))
        and _like(prop.role, config.getoption("--on"))
    ]
    ids = [f"{prop.clause.id}-{prop.role}-{impl}" for impl, prop in chosen]
    subjects: list[Any] = [*chosen] or [None]
    metafunc.parametrize("subject", subjects, ids=ids or ["none"])


def _like(name: str, patterns: list[str]) -> bool:
    return not patterns or any(fnmatch(name, pattern) for pattern in patterns)


@pytest.fixture
def check(request: pytest.FixtureRequest, subject: Any) -> Iterator[Check]:
    """Examine the property of this item."""
    session = request.config.stash[SESSION]

    def examine() -> None:
        __tracebackhide__ = True
        verdict = session.examine(*subject)
        request.node.user_properties.append((PROPERTY, verdict.dumps()))
        session.conclude(verdict)

    yield examine


@pytest.fixture
def subject() -> None:
    """Replaced by parametrization."""
    pytest.fail("this test is for properties")


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What is examined, and with which seed."""
    return config.stash[SESSION].header() if SESSION in config.stash else []


def pytest_terminal_summary(terminalreporter: Any, exitstatus: int, config: pytest.Config) -> None:
    """The verdicts, collected from the reports, so that xdist's workers are heard too."""
    if SESSION not in config.stash:
        return
    from conformance.report.terminal import write_summary
    from conformance.verdict import Verdict

    reports = [r for group in terminalreporter.stats.values() for r in group if hasattr(r, "when")]
    texts = [
        text for report in reports if report.when == "call"
        for name, text in report.user_properties if name == PROPERTY
    ]  # fmt: skip
    verdicts = [Verdict.loads(text) for text in texts]
    session = config.stash[SESSION]
    if verdicts:
        write_summary(terminalreporter, session.ordered(verdicts), session.facts())
        stopped = terminalreporter._session.shouldfail or terminalreporter._session.shouldstop
        for line in session.finish(verdicts, int(exitstatus) in (0, 1) and not stopped):
            terminalreporter.write_line(line)


def pytest_report_teststatus(report: Any, config: pytest.Config) -> Any:
    """The word for each item is its verdict, not pytest's."""
    if report.when != "call" or not getattr(report, "user_properties", None):
        return None
    for name, text in report.user_properties:
        if name == PROPERTY:
            word = re.search(r'"outcome": "([^"]+)"', text)
            letter = {"passed": ".", "failed": "F", "skipped": "s"}[report.outcome]
            return report.outcome, letter, word.group(1) if word else report.outcome
    return None
