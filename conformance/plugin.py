"""The pytest plugin: options, one item for each candidate x clause x role, and the summary.

It is loaded wherever the package is installed, so it imports nothing heavy, and does nothing until
`--impl` is given.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from conformance.conclusion import Check
from conformance.options import add_options, like, strict

if TYPE_CHECKING:
    from conformance.report.progress import Progress
    from conformance.session import Session

VERDICT = "conformance_verdict"
"""Where a report carries the verdict, from xdist's workers too."""


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """The options of the suite.

    Where they name a candidate, ranks will be needed: torch is imported while pytest gets ready.
    """
    add_options(parser)
    config: Any = pluginmanager.get_plugin("pytestconfig")
    given = [arg.partition("=")[0] for arg in config.invocation_params.args] if config else []
    if "--impl" in given and not {"--collect-only", "--co", "--help", "-h"}.intersection(given):
        from conformance import garbage
        from conformance.worlds.forkserver import HASH_SEEDS, server, stop_servers

        garbage.seldom()
        server(HASH_SEEDS[0])
        config.add_cleanup(stop_servers)


def pytest_configure(config: pytest.Config) -> None:
    """Open a session where a candidate is given; a usage error ends the run at once."""
    if config.getoption("--impl") and not config.getoption("--collect-only"):
        from conformance.candidate import CandidateError
        from conformance.interrupt import listen
        from conformance.worlds.forkserver import HASH_SEEDS, server, stop_servers

        server(HASH_SEEDS[0])
        from conformance.properties import everything
        from conformance.session import Session

        everything()  # collection imports all that, while the candidate would be waited for
        listen()
        try:
            config.stash[SESSION] = Session(config)
        except CandidateError as error:
            stop_servers()
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


def pytest_collection_finish(session: pytest.Session) -> None:
    """With `-x`, what a glance shows to be violated goes first; else what waits begins now."""
    config = session.config
    if SESSION not in config.stash:
        return
    from conformance.session import glances, looks_ahead

    if not looks_ahead(config):
        return
    items = {_parameters(item).get("subject"): item for item in session.items}
    subjects = [subject for subject in items if subject]
    if not glances(config):
        config.stash[SESSION].begin(subjects)
        return
    found = config.stash[SESSION].first(subjects)
    if found is not None:
        session.items.sort(key=lambda item: item is not items[found])


def _chapter(item: pytest.Item) -> int:
    """The place of an item's chapter in the spec."""
    from conformance.clauses import CHAPTERS

    subject = _parameters(item).get("subject")
    clause = getattr(subject[1], "clause", None) if subject else None
    return CHAPTERS.index(clause.chapter) if clause else -1


def _parameters(item: pytest.Item) -> dict[str, Any]:
    """What an item is parametrized with."""
    return getattr(getattr(item, "callspec", None), "params", {})


def pytest_unconfigure(config: pytest.Config) -> None:
    """End every process, and leave nothing for pytest to look through."""
    if SESSION in config.stash:
        config.stash[SESSION].close()
    if "conformance.marks" in sys.modules:
        sys.modules["conformance.marks"].close()
    if "conformance.garbage" in sys.modules:
        sys.modules["conformance.garbage"].no_more()


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One item for each property and candidate."""
    properties = getattr(metafunc.function, "properties", None)
    smoke = getattr(metafunc.function, "smoke", False)
    if properties is None and not smoke:
        return
    config = metafunc.config
    config.stash[COLLECTED] = True
    named = dict(_roles(config)) if smoke else dict(_subjects(config, properties or []))
    subjects: list[Any] = [*named.values()] or [None]
    metafunc.parametrize("subject", subjects, ids=[*named] or ["none"])


def _subjects(config: pytest.Config, properties: list[Any]) -> Iterator[tuple[str, Any]]:
    """The candidates with the chosen clauses, by the name of the item."""
    if config.getoption("--smoke"):
        return
    for impl in config.getoption("--impl"):
        for prop in properties:
            chosen = like(prop.clause.id, config.getoption("--clause"))
            if chosen and like(prop.role, config.getoption("--on")):
                yield f"{prop.clause.id}-{prop.role}-{impl}", (impl, prop)


def _roles(config: pytest.Config) -> Iterator[tuple[str, Any]]:
    """The candidates with their roles, where nothing else is asked than whether they work."""
    if config.getoption("--smoke") and SESSION in config.stash:
        for impl, role in config.stash[SESSION].roles():
            if like(role, config.getoption("--on")):
                yield f"{role}-{impl}", (impl, role)


@pytest.fixture
def check(request: pytest.FixtureRequest, subject: Any) -> Check:
    """Examine the property of this item."""
    session = request.config.stash[SESSION]
    return Check(lambda: session.examine(*subject))


@pytest.fixture
def trial(request: pytest.FixtureRequest, subject: Any) -> Callable[[], str]:
    """Try the role of this item; gives why it does not work, if so."""
    session = request.config.stash[SESSION]
    return lambda: session.smoke(*subject)


@pytest.fixture
def subject() -> None:
    """Replaced by parametrization."""
    pytest.fail("this test is for properties")


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Show a live line where there is a terminal to show it on."""
    plugins = session.config.pluginmanager
    terminal: Any = plugins.get_plugin("terminalreporter")
    capture = plugins.get_plugin("capturemanager")
    if SESSION in session.config.stash and terminal and capture and terminal.isatty:
        from conformance.report.progress import Progress

        progress = session.config.stash[PROGRESS] = Progress(terminal, capture)
        session.config.stash[SESSION].run.examiner.heard = progress.heard


PROGRESS: pytest.StashKey[Progress] = pytest.StashKey()


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Tell a check how strict this run is."""
    checked = pyfuncitem.funcargs.get("check")
    if isinstance(checked, Check):
        own = pyfuncitem.config.stash.get(SESSION, None)
        checked.strict = own.strict if own else strict(pyfuncitem.config)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Generator[None, Any, Any]:
    """Give the report the verdict, and JUnit its properties."""
    if PROGRESS in item.config.stash and call.when == "call":
        item.config.stash[PROGRESS].clear()
    checked = getattr(item, "funcargs", {}).get("check")
    if call.when != "call" or not isinstance(checked, Check) or checked.verdict is None:
        return (yield)
    item.user_properties += checked.told()
    report = yield
    setattr(report, VERDICT, checked.verdict.dumps())
    return report


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
    verdicts = [Verdict.loads(getattr(r, VERDICT)) for r in reports if hasattr(r, VERDICT)]
    session = config.stash[SESSION]
    if config.getoption("--smoke"):
        for line in session.told_of_smoke():
            terminalreporter.write_line(line)
    if verdicts:
        write_summary(terminalreporter, session.run.ordered(verdicts), session.facts())
        stopped = terminalreporter._session.shouldfail or terminalreporter._session.shouldstop
        for line in session.finish(verdicts, int(exitstatus) in (0, 1) and not stopped):
            terminalreporter.write_line(line)


def pytest_report_teststatus(report: Any, config: pytest.Config) -> Any:
    """The word for each item is its verdict, not pytest's."""
    if not hasattr(report, VERDICT):
        return None
    word = re.search(r'"outcome": "([^"]+)"', getattr(report, VERDICT))
    letter = {"passed": ".", "failed": "F", "skipped": "s"}[report.outcome]
    return report.outcome, letter, word.group(1) if word else report.outcome
