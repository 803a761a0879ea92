"""Habits of a run: selection, `--lf`, Ctrl-C, JUnit, strictness, two candidates, the live line."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import psutil
import pytest
from runs import command, run
from test_command_line import WRONG

QUICK = ("--effort=quick", "--backend=simulated")

SHOULD = """
import torch.utils.data as data
SubsetRandomSampler = data.SubsetRandomSampler
"""


def test_last_failed_runs_what_failed(tmp_path: Path) -> None:
    """`--lf` examines again only what did not hold."""
    (tmp_path / "shards.py").write_text(WRONG)
    chosen = ("--impl=shards", "--clause=distributed.cover", "--clause=distributed.no-group")
    for options in (QUICK, (*QUICK, "--lf")):
        done = run(tmp_path, *chosen, "-p", "cacheprovider", *options)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "distributed.cover" in done.stdout and "distributed.no-group" not in done.stdout


def test_keywords_select(tmp_path: Path) -> None:
    """`-k` chooses by clause and role, as it does among all tests."""
    done = run(tmp_path, "--impl=reference", "-k", "epoch-type and Distributed", *QUICK)

    assert done.returncode == 0, done.stdout
    assert "sampler.epoch-type" in done.stdout and "sampler.length" not in done.stdout


def test_what_small_cases_show_goes_first(tmp_path: Path) -> None:
    """With `-x` the run begins with the clause that small cases show to be violated."""
    seedless = WRONG.replace(
        "return iter([index for index in super().__iter__() if index != 3])",
        "self.seed = 0\n        return super().__iter__()",
    )
    (tmp_path / "shards.py").write_text(seedless)

    done = run(tmp_path, "--impl=shards", "--clause=distributed.*", "-x", *QUICK)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "distributed.seed (MUST) is violated" in done.stdout
    assert re.search(r"= 1 failed in", done.stdout)


def test_junit_has_clause_level_and_anomaly(tmp_path: Path) -> None:
    """pytest's own JUnit report carries what a verdict says as properties of each case."""
    (tmp_path / "shards.py").write_text(WRONG)

    run(tmp_path, "--impl=shards", "--clause=distributed.cover", *QUICK, "--junit-xml=r.xml")

    (case,) = ElementTree.parse(tmp_path / "r.xml").iter("testcase")
    found = {p.get("name"): p.get("value") for p in case.iter("property")}
    assert case.find("failure") is not None
    assert found.pop("case", "").startswith("Case(")
    assert found == {
        "candidate": "shards", "clause": "distributed.cover", "level": "MUST",
        "role": "DistributedSampler", "outcome": "violated", "anomaly": "lost-index",
    }  # fmt: skip


def test_a_should_warns_and_strict_makes_it_fail(tmp_path: Path) -> None:
    """A violated SHOULD is a warning; pytest's `--strict` and the file's `strict` fail the run."""
    (tmp_path / "mine.py").write_text(SHOULD)
    chosen = ("--impl=mine", "--clause=sampler.arguments-copied", *QUICK)

    lenient, option = run(tmp_path, *chosen), run(tmp_path, *chosen, "--strict")
    (tmp_path / "conformance.toml").write_text("strict = true\n")
    declared = run(tmp_path, *chosen)

    assert "ShouldViolated" in lenient.stdout
    assert [done.returncode for done in (lenient, option, declared)] == [0, 1, 1]


def test_every_report_links_to_the_spec(tmp_path: Path) -> None:
    """With `spec-url` the terminal, the page and the Markdown link to the clause."""
    (tmp_path / "shards.py").write_text(WRONG)
    (tmp_path / "conformance.toml").write_text('spec-url = "https://example.org/spec"\n')
    chosen = ("--impl=shards", "--clause=distributed.cover", *QUICK)

    done = run(tmp_path, *chosen, "--conformance-html=r.html", "--conformance-md=r.md")

    link = "https://example.org/spec/distributed.html#distributed.cover"
    assert f"  spec   {link}" in done.stdout
    assert link in (tmp_path / "r.html").read_text() and link in (tmp_path / "r.md").read_text()


def test_two_candidates_stand_side_by_side(tmp_path: Path) -> None:
    """Two `--impl` give two columns of one result, and a baseline for one leaves the other."""
    (tmp_path / "shards.py").write_text(WRONG)
    (tmp_path / "others.py").write_text(WRONG.replace("!= 3", "!= 2"))
    chosen = ("--impl=shards", "--impl=others", "--clause=distributed.cover", *QUICK)

    first = run(tmp_path, *chosen, "--conformance-json=r.json", "--write-baseline=known.toml")
    known = (tmp_path / "known.toml").read_text()
    only = known[: known.rindex("[[deviation]]")]
    (tmp_path / "known.toml").write_text(only)
    second = run(tmp_path, *chosen, "--baseline=known.toml")

    candidates = json.loads((tmp_path / "r.json").read_text())["candidates"]
    assert first.returncode == 0 and len(re.findall("candidate = ", known)) == 2
    assert [candidate["name"] for candidate in candidates] == ["shards", "others"]
    assert second.returncode == 1
    assert re.search(r"shards: 1 declared deviation\b", second.stdout)
    assert re.search(r"others: 1 violated\b", second.stdout)


def heed_ctrl_c() -> None:
    """A shell may have these tests run in the background, where Ctrl-C is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_leaves_a_partial_report_and_no_process(tmp_path: Path) -> None:
    """An interrupted run tells what it has seen, marks it partial, and ends all it has started."""
    options = ("--impl=reference", "--effort=nightly", "--conformance-json=r.json", "-v")
    chosen = ("--clause=sampler.works", "--clause=distributed.cover")
    process = subprocess.Popen(
        command(*options, *chosen, "-p", "no:cacheprovider"), cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, start_new_session=True, preexec_fn=heed_ctrl_c,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if " holds" in line:
            break
    family = psutil.Process(process.pid).children(recursive=True)

    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=120)  # a rank may be waited for as long as 80 s
    except subprocess.TimeoutExpired:
        process.kill()  # or it would go on for minutes beside the tests that follow
        pytest.fail(f"it goes on: {process.communicate()[0]}")

    (candidate,) = json.loads((tmp_path / "r.json").read_text())["candidates"]
    assert process.returncode == pytest.ExitCode.INTERRUPTED
    assert not candidate["run"]["complete"] and candidate["verdicts"]
    assert family and not psutil.wait_procs(family, timeout=20)[1]


def test_a_live_line_on_a_terminal_only(tmp_path: Path) -> None:
    """A terminal shows clause, cases and rate while a clause is examined; a pipe shows nothing."""
    options = ("--impl=reference", "--clause=random.uniform", *QUICK)
    main, other = pty.openpty()
    with subprocess.Popen(
        command(*options, "-p", "no:cacheprovider"), cwd=tmp_path, stdout=other, stdin=other,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "120"},
    ) as process:  # fmt: skip
        os.close(other)
        seen, end = b"", time.monotonic() + 120
        while time.monotonic() < end:
            try:
                seen += os.read(main, 65536)
            except OSError:  # nobody writes any more
                break
        process.wait(30)
    os.close(main)
    piped = run(tmp_path, *options)

    assert re.search(rb"  [a-z]+\.[a-z-]+ \w+: [\d,]+ cases, [\d,]+/s", seen), seen[-2000:]
    assert "cases, " not in piped.stdout.partition("= conformance of")[0]
