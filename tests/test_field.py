"""The field: kept results of published packages, what is made of them, and whether they hold."""

from __future__ import annotations

import ast
import json
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest
from detect import SMALL, sampled
from field import bare, confirmed, findings, looks, table
from field.changes import changes
from field.measure import stored, subject, violations
from field.packages import Candidate, candidates, packages, ranked
from field.replay import gone
from results import mixed
from zoo import WHOLE

from conformance.candidate import Source
from conformance.examine import Options
from conformance.policies import NUMBERS, POLICIES
from conformance.properties import everything
from conformance.report.result import SCHEMA, read
from conformance.tables import tomllib
from conformance.verdict import VIOLATED

ROOT = Path(__file__).parents[1]
ADAPTERS = sorted((ROOT / "conformance" / "adapters").glob("[a-z]*.py"))
SCREEN = 90
"""Lines of a screenful."""

LIGHT = [
    found for found in candidates(light=True)
    if ":" in found.text and not found.slow and find_spec(found.package.name) is not None
]  # fmt: skip
"""Classes of packages that are here; the project's own test command installs the light ones."""


LONG = () if WHOLE else ("ignite", "lightning")
"""Minutes for one class, as it wraps samplers of every kind: not in the usual run."""

QUICK = [found for found in LIGHT if found.package.name not in LONG]

FIRST = list({found.package.name: found for found in reversed(QUICK)}.values())
"""One class of each."""


def test_the_field_is_wide() -> None:
    """At least 19 packages and 45 classes are listed, and each has a result."""
    listed = list(candidates())
    missing = [found.text for found in listed if not found.result.exists()]

    assert len(packages()) >= 19 and len(listed) >= 45
    assert not missing


@pytest.mark.parametrize("found", [*candidates()], ids=lambda found: found.slug)
def test_results_have_their_form(found: Candidate) -> None:
    """A kept result is a document of the published form, of that class, with its versions."""
    document = read(found.result)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))

    jsonschema.validate(document, schema)
    (candidate,) = document["candidates"]
    assert candidate["name"] == found.text and candidate["version"] != "unknown"
    assert candidate["run"]["complete"] and candidate["run"]["torch"]


def test_the_pages_are_current() -> None:
    """Both pages are what the kept results and second looks make."""
    documents = [read(found.result) for found in candidates() if found.result.exists()]
    found = findings.findings(documents, confirmed.read())

    assert table.PAGE.read_text(encoding="utf-8") == table.page(documents)
    assert findings.PAGE.read_text(encoding="utf-8") == findings.page(found)


def test_no_finding_without_a_script_and_a_look() -> None:
    """Each violated MUST was shown by its script, and somebody has looked at it twice."""
    documents = [read(found.result) for found in candidates()]

    assert not list(findings.open_points(findings.findings(documents, confirmed.read())))


def test_no_look_without_a_violation() -> None:
    """A second look is at something that a kept result has."""
    seen = {
        (found.text, v["clause"]) for found in candidates() for v in violations(read(found.result))
    }

    assert not {(one.candidate, one.clause) for one in looks.looks()} - seen


@pytest.mark.parametrize("found", QUICK, ids=lambda found: found.slug)
def test_what_was_found_reproduces(found: Candidate) -> None:
    """Each violation on record of a package that is here occurs again, by its case."""
    assert not list(gone(read(found.result)))


@pytest.mark.parametrize("found", FIRST, ids=lambda found: found.slug)
def test_nothing_else_is_found(found: Candidate) -> None:
    """One class of each package is told nothing that is not on record, in a sample of cases."""
    known = {subject(v) for v in violations(read(found.result))}

    told = sampled(Source(found.text), everything(), Options(SMALL, (1, 2, 3)))

    assert not {f"{v.clause} {v.role}" for v in told if v.outcome == VIOLATED} - known


def test_the_light_packages_are_here() -> None:
    """The project's own test command installs packages of four publishers at least."""
    assert {found.package.name for found in LIGHT} >= {
        "torch", "torchdata", "accelerate", "lightning", "ignite",
    }  # fmt: skip


def test_each_class_that_knows_ranks_was_tried_without_code() -> None:
    """Of every class that gives a rank its share it is on record whether it runs as it is."""
    known = bare.read()

    assert set(known) == {found.text for found in ranked()}


@pytest.mark.parametrize("path", ADAPTERS, ids=lambda path: path.stem)
def test_adapters_are_a_screenful(path: Path) -> None:
    """An adapter is short, has an extra of its name, and quotes the documentation for a policy."""
    text = path.read_text(encoding="utf-8")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert len(text.splitlines()) <= SCREEN
    assert path.stem in extras["optional-dependencies"]
    tree = ast.parse(text)
    for call in _adapters(tree):
        given = {k.arg: k.value for k in call.keywords}
        said, quoted = (_policies(given.get(name), tree) for name in ("policies", "documented"))
        assert said - {"ranks", "sentinel", "largest"} <= quoted, call.lineno


def _policies(node: ast.expr | None, tree: ast.Module) -> set[str]:
    """The policies that an expression names, itself or by the name of a constant."""
    if node is None:
        return set()
    names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    assigned = [n for n in tree.body if isinstance(n, ast.Assign)]
    held = [n for n in assigned if names & {getattr(t, "id", "") for t in ast.walk(n.targets[0])}]
    nodes = [n for top in (node, *held) for n in ast.walk(top)]
    words = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return words & {*POLICIES, *NUMBERS}


def _adapters(tree: ast.Module) -> list[ast.Call]:
    """The constructions of adapters in a module."""
    return [
        node for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Adapter"
    ]  # fmt: skip


def test_changes_are_told() -> None:
    """What is new, fixed, another anomaly, gone or come since, is told by clause and role."""
    before, after = mixed(), mixed()
    was, now = (d["candidates"][0]["verdicts"] for d in (before, after))
    broken = next(v for v in now if v["outcome"] == VIOLATED)
    whole = next(v for v in now if v["outcome"] == "holds")
    assert not list(changes(before, after))

    broken["evidence"]["anomaly"] = "another"
    told = [str(change) for change in changes(before, after)]
    assert told == [f"other  {subject(broken)}  lost-index is now another"]

    broken.update(outcome="holds", evidence=None)
    whole.update(outcome=VIOLATED, evidence=next(v for v in was if v["evidence"])["evidence"])
    now.pop()
    assert {change.what for change in changes(before, after)} == {"fixed", "new", "gone"}


def test_a_stored_result_leaves_out_what_is_not_provided() -> None:
    """Verdicts on roles that a class does not have are not kept, the others are."""
    document = mixed()

    kept = stored(document)["candidates"][0]["verdicts"]

    assert {v["outcome"] for v in kept} == {"holds", "violated", "declared deviation"}
