"""What PyTorch's own tests say of the same mutants of torch's files, for comparison.

    python tests/benchmarks/mutants.py --upstream test_dataloader.py [--target FILE] [--sample N]

with the test file of a checkout of PyTorch, or the copy that pytorch/data carries. Each mutant is
run in a process of its own, which has torch's modules changed before the tests are imported, and
ends at the first failure, the quickest tests first. Tests that pass on torch itself in a fifth of a
second are taken, and those that speak of samplers or shuffling in ten seconds, each once: the whole
file takes seven minutes. Only those mutants are run that count for the score.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import multiprocessing
import os
import re
import signal
import sys
import time
import types
import unittest
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mutants.operators import Mutant
from mutants.targets import Target

FILE = Path(__file__).parent / "upstream.json"

MODULES = {
    "torch/sampler.py": "torch.utils.data.sampler",
    "torch/distributed.py": "torch.utils.data.distributed",
    "torch/dataloader.py": "torch.utils.data.dataloader",
    "torch/_utils/worker.py": "torch.utils.data._utils.worker",
    "torch/_utils/fetch.py": "torch.utils.data._utils.fetch",
    "torch/_utils/collate.py": "torch.utils.data._utils.collate",
}
STATEFUL = "from torchdata.stateful_dataloader import StatefulDataLoader as DataLoader"
PLAIN = "from torch.utils.data import DataLoader"
ABOUT = re.compile(r"sampler|shuffle|drop_last", re.I)
TEST_S, ABOUT_S = 0.2, 10.0
RUN_S, WHOLE_S = 90.0, 1200.0

HUNG = "it does not end"


def read() -> dict[str, str]:
    """By mutant, the test that failed first; "" where none did."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def measure(tests: Path, n: int, mutants: Iterable[tuple[Target, Mutant]]) -> None:
    """Run the tests against each of these mutants of torch's files, `n` at a time."""
    source = tests.read_text(encoding="utf-8").replace(STATEFUL, PLAIN)
    chosen = _run((source, "", "", ()))
    if len(chosen) < 2:  # one is what went wrong
        sys.exit(f"{tests}: the tests do not run here: {chosen}")
    print(f"{len(chosen)} tests", flush=True)
    known = read()
    jobs = {
        mutant.id: (source, MODULES[target.name], mutant.source(), tuple(chosen))
        for target, mutant in mutants
        if mutant.id not in known
    }
    with ThreadPoolExecutor(n) as pool:
        for name, told in zip(jobs, pool.map(_first, jobs.values()), strict=True):
            known[name] = told
            FILE.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    print(f"{sum(map(bool, known.values()))} of {len(known)} are told")


def _first(job: tuple[str, str, str, tuple[str, ...]]) -> str:
    return (_run(job) or [""])[0]


def _run(job: tuple[str, str, str, tuple[str, ...]]) -> list[str]:
    """In a child: the tests that pass on torch, or the one that fails first on a mutant."""
    fresh = multiprocessing.get_context("spawn")  # workers of a fork that has torch may never end
    answers = fresh.SimpleQueue()
    child = fresh.Process(target=_child, args=(*job, answers))
    child.start()
    child.join(RUN_S if job[1] else WHOLE_S)
    hung = child.exitcode is None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(int(child.pid or 0), signal.SIGKILL)  # with all that tests have started
    child.join()
    if hung:
        return [HUNG]
    return answers.get() if not answers.empty() else [f"the process ended: {child.exitcode}"]


def _child(source: str, module: str, changed: str, chosen: tuple[str, ...], answers: Any) -> None:
    os.setsid()
    multiprocessing.set_start_method("fork", force=True)  # as in a process that nobody has started
    for descriptor in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)
    try:
        if module:
            _change(module, changed)
        cases = list(_cases(_imported(source)))
    except BaseException as error:
        answers.put([f"import: {type(error).__name__}: {error}"])
        return
    if not chosen:
        taken = {case.id(): _taken_s(case) for case in cases}
        passed = {name: seconds for name, seconds in taken.items() if seconds is not None}
        answers.put(sorted(passed, key=passed.__getitem__))
        return
    wanted = sorted((case for case in cases if case.id() in chosen), key=_place(chosen))
    failed = (case.id() for case in wanted if not _runs(case))
    answers.put(list(itertools.islice(failed, 1)))


def _change(name: str, source: str) -> None:
    """Carry out a changed file in the place of a module, for all that have imported from it."""
    module = sys.modules[name]
    before = dict(vars(module))
    exec(compile(source, str(module.__file__), "exec"), vars(module))
    for other in [m for key, m in sys.modules.items() if key.startswith("torch.utils.data")]:
        for key, value in list(vars(other).items()):
            if key in before and value is before[key] and key in vars(module):
                setattr(other, key, vars(module)[key])


def _imported(source: str) -> Any:
    """The test file as a module."""
    module = types.ModuleType("upstream_tests")
    module.__file__ = "upstream_tests.py"
    sys.modules[module.__name__] = module
    exec(compile(source, "upstream_tests.py", "exec"), vars(module))
    vars(module).pop("load_tests", None)  # it wants the tests to be the running script
    return module


def _cases(module: Any) -> Iterator[unittest.TestCase]:
    """Each test once."""
    suites = [unittest.defaultTestLoader.loadTestsFromModule(module)]
    found = list[unittest.TestCase]()
    while suites:
        for one in suites.pop():
            (suites if isinstance(one, unittest.TestSuite) else found).append(one)  # type: ignore[arg-type]
    own = {case.id().rpartition(".")[2]: case for case in sorted(found, key=_inherited)}
    yield from own.values()


def _inherited(case: unittest.TestCase) -> bool:
    """Sorts the class that has a test of its own last: it wins."""
    return case.id().rpartition(".")[2] in vars(type(case))


def _runs(case: unittest.TestCase) -> bool:
    """Whether a test passes, and is not skipped."""
    result = unittest.TestResult()
    case.run(result)
    return result.wasSuccessful() and not result.skipped


def _taken_s(case: unittest.TestCase) -> float | None:
    """The seconds, if it passes in the time for one; tests on samplers may take longer."""
    began = time.monotonic()
    passed, took_s = _runs(case), time.monotonic() - began
    most = ABOUT_S if ABOUT.search(case.id()) else TEST_S
    return took_s if passed and took_s < most else None


def _place(chosen: tuple[str, ...]) -> Callable[[unittest.TestCase], int]:
    return lambda case: chosen.index(case.id())
