"""Stand-alone scripts: they find the fault without the suite, and find nothing once it is gone."""

from __future__ import annotations

import ast
import builtins
import contextlib
import itertools
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from conformance import loading as lo
from conformance import operations as op
from conformance.baseline import Deviation, read_baseline
from conformance.candidate import Description, Source, describe
from conformance.case import Case
from conformance.clauses import clauses
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.drawing import Found
from conformance.laws import Violation
from conformance.loading import LOADING
from conformance.operations import OPERATIONS
from conformance.recipes import Probe
from conformance.report.reproduction import reproduction
from conformance.report.reproduction.confirm import scripts
from conformance.report.reproduction.functions import LISTS, PLACES
from conformance.report.reproduction.gives import GIVES, NUMBERS
from conformance.report.reproduction.probes import PLAIN, UNSIZED, first_seen
from conformance.roles import LOADERS, ROLES
from conformance.scenarios.loader_forms import KNOWN, LARGE, SIGNALS
from conformance.trace import Event, RankTrace, Trace
from conformance.worlds.mishaps import EXCEPTIONS
from conformance.worlds.mishaps import GIVES as GIVEN_INSTEAD
from conformance.worlds.probes import PROBES
from conformance.worlds.worlds import Worlds

MISHAPS = (*EXCEPTIONS, *GIVEN_INSTEAD, "exit 3", "SIGKILL")
LINES_MAX = 45

RUNNER = """
import os, runpy, sys, torch, torch.distributed
sys.modules["conformance"] = None  # not to be imported, from anywhere

def run(path):
    os.dup2(os.open(path + ".out", os.O_WRONLY | os.O_CREAT), 1)
    os.dup2(1, 2)
    sys.argv = [path]
    try:
        runpy.run_path(path, run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    sys.stdout.flush()
    os._exit(code)

started = {}
for path in sys.argv[1:]:
    pid = os.fork()
    if not pid:
        run(path)
    started[pid] = path
    if len(started) % 2 == 0:
        ended, status = os.wait()
        print(os.waitstatus_to_exitcode(status), started.pop(ended))
while started:
    ended, status = os.wait()
    print(os.waitstatus_to_exitcode(status), started.pop(ended))
"""
"""Runs scripts in children of one process that has imported torch, without the suite."""


def codes(paths: list[Path], elsewhere: Path) -> dict[Path, int]:
    """How each script ended."""
    done = subprocess.run(
        [sys.executable, "-I", "-c", RUNNER, *map(str, paths)],
        cwd=elsewhere, capture_output=True, text=True, timeout=300, check=True,
    )  # fmt: skip
    lines = (line.split(" ", 1) for line in done.stdout.splitlines())
    return {Path(path): int(code) for code, path in lines}


def printed(path: Path) -> str:
    """What a script printed."""
    return Path(f"{path}.out").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Deviation, Path]]:
    """The scripts of all entries of the shipped baseline that speak of samplers."""
    entries = [entry for entry in read_baseline("torch") if entry.role not in LOADERS]
    folder, worlds = tmp_path_factory.mktemp("scripts"), Worlds()
    try:
        candidate = worlds.describe(Source("torch.utils.data"))
        found = list(scripts(worlds, candidate, entries, folder))
    finally:
        worlds.close()
    return [(entry, path) for entry, path in found if isinstance(path, Path)]


def test_every_entry_has_a_script(written: list[tuple[Deviation, Path]]) -> None:
    """Each entry shows its violation again, and gets a script of its own."""
    entries = [entry for entry in read_baseline("torch") if entry.role not in LOADERS]

    assert len({path for _, path in written}) == len(entries)


def test_scripts_confirm_the_baseline(
    written: list[tuple[Deviation, Path]], tmp_path: Path
) -> None:
    """Run without the suite, each script sees the fault, says so and exits 1."""
    ended = codes([path for _, path in written], tmp_path)

    for entry, path in written:
        assert ended[path] == 1, (entry, printed(path))
        assert all(word in printed(path) for word in ("demands: ", "seen: ", "now: "))


def test_scripts_find_nothing_in_the_reference(
    written: list[tuple[Deviation, Path]], tmp_path: Path
) -> None:
    """The same scripts exit 0 with a candidate that keeps the clauses."""
    root = str(Path(__file__).parents[1])
    right = []
    for _, path in written:
        text = path.read_text(encoding="utf-8").replace("from torch.utils.data", "from reference")
        right.append(tmp_path / path.name)
        right[-1].write_text(
            text.replace("\nimport sys\n", f"\nimport sys\nsys.path[:0] = [{root!r}]\n")
        )

    ended = codes(right, tmp_path)

    for path in right:
        assert ended[path] == 0, printed(path)


WITHOUT_TORCH = """
import sys, pytest
code = pytest.main(["--pyargs", "conformance", "-x", "-q", "-p", "no:cacheprovider", *sys.argv[1:]])
sys.exit("torch was imported" if "torch" in sys.modules else int(code != 1))
"""
"""Examines a wrong candidate. Nothing else may import torch there, such as another's plugin."""


@pytest.mark.parametrize(
    ("fault", "clause"),
    [
        ("batches.py:LengthRoundsUp", "sampler.length"),
        ("wrappers.py:DividesTwice", "wrapper.double"),
        ("loaders.py:IgnoresCollateFn", "loader.batches"),
    ],
)
def test_a_violation_is_told_without_torch(fault: str, clause: str, tmp_path: Path) -> None:
    """The process that judges does not import torch to tell of a violation: it would take longer
    than the search."""
    impl = f"--impl={Path(__file__).parent / 'faults' / fault}"

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, impl, f"--clause={clause}"],
        cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr + done.stdout


def test_a_script_shows_settings_that_were_left_changed(tmp_path: Path) -> None:
    """It has all the modules that it needs, and looks at what the run looked at."""
    impl = f"--impl={Path(__file__).parent / 'faults' / 'loaders_settings.py'}:OneThreadForAll"
    asked = [impl, "--clause=lifecycle.leftovers", "--repro-dir=scripts", "-p", "no:cacheprovider"]
    ways = {"cwd": tmp_path, "capture_output": True, "text": True, "timeout": 120, "check": False}

    subprocess.run([sys.executable, "-m", "pytest", "--pyargs", "conformance", *asked], **ways)
    [script] = (tmp_path / "scripts").iterdir()
    done = subprocess.run([sys.executable, str(script)], **ways)

    assert (done.returncode, done.stderr) == (1, "")
    assert "['settings']" in done.stdout


@pytest.mark.parametrize("name", PROBES)
def test_a_script_knows_the_probes(name: str) -> None:
    """What is said of a probe in a script is what the probe itself says."""
    recipe = Probe(name, 7)
    made = PROBES[name](recipe.count, recipe.at)

    assert (name in UNSIZED) == (not hasattr(made, "__len__"))
    assert dict(made.seen) == first_seen(recipe)
    if name in PLAIN:
        assert PLAIN[name](recipe) == list(made)


def test_scripts_are_short_and_need_torch_alone(written: list[tuple[Deviation, Path]]) -> None:
    """A script fits on a screen, and imports the standard library, torch and numpy."""
    for _, path in written:
        text = path.read_text(encoding="utf-8")
        roots = {
            name.partition(".")[0]
            for node in ast.walk(ast.parse(text))
            for name in (
                [alias.name for alias in node.names] if isinstance(node, ast.Import)
                else [str(node.module)] if isinstance(node, ast.ImportFrom) else []
            )
        }  # fmt: skip

        assert len(text.splitlines()) <= LINES_MAX, path
        assert roots <= {*sys.stdlib_module_names, "torch", "numpy"}, path


SAMPLES: dict[type, Any] = {
    lo.Consume: lo.Consume("a"),
    op.SetEpoch: op.SetEpoch(2), op.Passes: op.Passes(2), op.Epochs: op.Epochs(2),
    op.Open: op.Open("a"), op.Take: op.Take("a"), op.Drain: op.Drain("a"),
    op.Group: op.Group(), op.Reseed: op.Reseed(3), op.Resize: op.Resize(4),
    op.Lengthen: op.Lengthen(2),
    lo.Tell: lo.Tell(2),
    lo.Strike: lo.Strike(0), lo.Interrupt: lo.Interrupt("a"), lo.Limit: lo.Limit("memory", 1),
    lo.Drop: lo.Drop("a"), lo.Schedule: lo.Schedule((1, 0), dies=1),
    lo.Trickle: lo.Trickle(1, 0.3),
}  # fmt: skip
"""Operations that need arguments."""

CANDIDATE = Description(Source("torch.utils.data"), dict.fromkeys((*ROLES[:6], *LOADERS), ("**",)))


def written_for(case: Case, clause: str) -> str:
    """The script of a case that showed nothing but its construction."""
    trace = Trace(case, (RankTrace(0, (Event(None),)),))
    found = Found(case, trace, Violation("by-hand", "something"))
    return reproduction(CANDIDATE, clauses()[clause], case.role, found)


def unknown(script: str) -> set[str]:
    """The names that a script uses and neither imports, defines nor assigns; SyntaxError if it is
    no script."""
    compile(script, "script", "exec")
    nodes = [*ast.walk(ast.parse(script))]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    known = {node.id for node in nodes if isinstance(node, ast.Name) and _is_set(node)}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {node.name for node in nodes if isinstance(node, DEFINING) and node.name}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            known |= {(one.asname or one.name).partition(".")[0] for one in node.names}
    return used - known - {*dir(builtins), "__doc__", "__file__"}


DEFINING = ast.FunctionDef, ast.ClassDef, ast.ExceptHandler


def _is_set(node: ast.Name) -> bool:
    return not isinstance(node.ctx, ast.Load)


@pytest.mark.parametrize("kind", OPERATIONS)
def test_every_operation_of_samplers_compiles(kind: type) -> None:
    """Whatever the plan asks of a sampler can be written down."""
    arguments = {"sampler": Probe("Counting", 5), "batch_size": 2, "drop_last": False}
    plan = [op.Open("a"), SAMPLES[kind] if kind in SAMPLES else kind()]

    text = written_for(Case("BatchSampler", arguments, plan), "batch.sizes")

    assert not unknown(text)


@pytest.mark.parametrize("kind", (*LOADING, op.Iterate, op.Take, op.Drain, op.SetEpoch, op.Resize))
def test_every_operation_of_loaders_compiles(kind: type) -> None:
    """Whatever the plan asks of a loader can be written down."""
    data = Mapped(6, gives="marked", gated=1)
    plan = [op.Open("a"), SAMPLES[kind] if kind in SAMPLES else kind()]

    for clause in ("loader.batches", "loader.fetch-once"):
        text = written_for(Case("DataLoader", {"dataset": data, "num_workers": 2}, plan), clause)
        assert not unknown(text)


WAYS = ("list", "sum", "double", "odd", "called", "lambda")
ANSWERS = ("all", "fewer", "more", "lazy", "held", "delegated")

GIVEN: list[dict[str, Any]] = [
    *({"dataset": Mapped(4, gives=gives)} for gives in GIVES),
    *({"dataset": Stream(4, shard=s, sized=True)} for s in ("worker", "rank", "skewed", "none")),
    *({"dataset": Stream(4, faults=(Fault("iter", 0, what),))} for what in MISHAPS),
    *({"dataset": Mapped(4, faults=(Fault("item", 1, what),))} for what in MISHAPS),
    *({"dataset": Mapped(4), "sampler": Order(4, how)} for how in PLACES),
    *({"dataset": Mapped(4, gives="formed", forms=(f,))} for f in (*KNOWN, *LARGE, *SIGNALS)),
    *({"dataset": Mapped(4), "collate_fn": Collate(h)} for h in WAYS),
    *({"dataset": Mapped(4), "worker_init_fn": Init(h)} for h in ("report", "mark", "lambda")),
    *({"dataset": Mapped(4, many=many)} for many in ANSWERS),
    {"dataset": Mapped(4, sized=False)}, {"dataset": Stream(4, shard="blocks", again=True)},
    {"dataset": Stream(4, late=True)},
]  # fmt: skip


@pytest.mark.parametrize("given", GIVEN, ids=repr)
def test_every_recipe_of_loaders_compiles(given: dict[str, Any]) -> None:
    """Whatever a loader is given can be written down."""
    plan = [op.Iterate(), lo.Describe(), lo.Journal()]
    case = Case("DataLoader", {**given, "num_workers": 1}, plan)

    for clause in ("loader.batches", "loader.fetch-once"):
        assert not unknown(written_for(case, clause))


@pytest.mark.parametrize("how", NUMBERS)
def test_indices_that_are_no_numbers_lead_to_the_items(how: str) -> None:
    """The dataset of a script gives what the suite's own gives for what its sampler yields."""
    n = 2 if how == "flags" else 4
    given = {"dataset": Mapped(n, gives="float"), "sampler": Order(n, how), "batch_size": None}
    text = written_for(Case("DataLoader", given, [op.Iterate()]), "loader.batches")
    scope: dict[str, Any] = {}
    exec(text.partition("def look")[0], scope)
    sampler = eval(LISTS[how].format(n=n), scope)

    assert [scope["Data"]()[index] for index in sampler] == [0.5, 1.5, 2.5, 3.5][:n]


@pytest.mark.parametrize("name", sorted(PROBES.keys() - {"Spent"}))
def test_every_probe_yields_the_same(name: str) -> None:
    """A probe in a script gives what the suite's own gives, whether or not it is looked at."""
    case = Case(
        "BatchSampler",
        {"sampler": Probe(name, 4, 2), "batch_size": 2, "drop_last": False},
        [op.Inspect()],
    )
    text = written_for(case, "batch.sizes")
    scope: dict[str, Any] = {}
    exec(text.partition("def look")[0], scope)

    def some(probe: Any) -> list[Any]:
        torch.manual_seed(1), np.random.seed(1), random.seed(1)
        found = []
        with contextlib.suppress(Exception):
            found.extend(itertools.islice(iter(probe), 6))
        return found

    made = eval(f"{name}(4)", scope)

    assert some(made) == some(PROBES[name](4, 2))
    assert made.seen == made.seen | {"passes": 1}


def test_a_spent_probe_is_a_generator() -> None:
    """What is empty after one pass, and can be closed, is a generator in scripts."""
    spent = {"sampler": Probe("Spent", 4), "batch_size": 2, "drop_last": False}
    text = written_for(Case("BatchSampler", spent, [op.Iterate()]), "batch.sizes")

    assert "(place for place in range(4))" in text
    assert [*PROBES["Spent"](4)] == [*range(4)]


def test_a_file_gives_its_own_worker_info(tmp_path: Path) -> None:
    """`get_worker_info` beside a loader in a file is imported from that file by its own name."""
    file = tmp_path / "mine.py"
    file.write_text(
        "from reference import DataLoader, get_worker_info\nclass Mine(DataLoader): ..."
    )
    case = Case("DataLoader", {"dataset": Mapped(4, gives="own-torch"), "num_workers": 2}, [])
    found = Found(case, Trace(case, (RankTrace(0, (Event(None),)),)), Violation("by-hand", ""))

    text = reproduction(
        describe(Source(f"{file}:Mine")), clauses()["workers.object-rng"], case.role, found
    )

    assert "from mine import Mine, get_worker_info" in text
