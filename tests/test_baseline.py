"""Known deviations: layers, lines, and what a run says of entries that are wrong or gone."""

from __future__ import annotations

from pathlib import Path

import pytest
from runs import run

from conformance.baseline import layered, read_baseline
from conformance.candidate import CandidateError
from conformance.config import read_config
from conformance.tables import read

CASE = "Case('RandomSampler', {'data_source': Data(5), 'num_samples': True}, [], passed=False)"
ENTRY = f"""
[[deviation]]
clause = 'sampler.reject'
role = 'RandomSampler'
anomaly = 'accepted'
about = 'num_samples=True'
case = "{CASE}"
reason = 'REASON'
"""


def written(path: Path, text: str) -> str:
    """A file with this text; its name."""
    path.write_text(text)
    return str(path)


def test_an_upper_layer_takes_the_place_of_the_same_entry(tmp_path: Path) -> None:
    """The same deviation said twice counts once, with the reason of the upper layer."""
    own = read(Path(written(tmp_path / "own.toml", ENTRY)), "own")

    found = layered(["torch"], own, ["mine"])

    same = [d for d in found if (d.clause, d.about) == ("sampler.reject", "num_samples=True")]
    assert [deviation.reason for deviation in same] == ["REASON"]
    assert len(found) == len(read_baseline("torch"))


def test_fixed_takes_entries_away(tmp_path: Path) -> None:
    """`[[fixed]]` of an upper layer removes what lies below it and is like it, nothing else."""
    text = "[[fixed]]\nclause = 'sampler.reject'\nrole = 'RandomSampler'\n"

    found = layered(["torch", written(tmp_path / "mine.toml", text)], None, ["mine"])

    below = {(d.clause, d.role) for d in read_baseline("torch")}
    assert {(d.clause, d.role) for d in found} == below - {("sampler.reject", "RandomSampler")}


def test_a_layer_may_be_for_one_candidate(tmp_path: Path) -> None:
    """`IMPL=FILE` gives a baseline to one of two candidates."""
    name = written(tmp_path / "one.toml", ENTRY)

    (found,) = layered([f"mine={name}"], None, ["mine", "theirs"])

    assert found.concerns("mine") and not found.concerns("theirs")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (ENTRY.replace("sampler.reject", "sampler.rejct"), "lines 2-8: there is no clause"),
        (ENTRY.replace("RandomSampler", "Random", 1), "lines 2-8: there is no role 'Random'"),
        (ENTRY.replace("reason", "raison"), "lines 2-8: unknown ['raison']"),
        (ENTRY.replace("anomaly = 'accepted'\n", ""), "lines 2-7: missing ['anomaly']"),
        (ENTRY.replace("'REASON'", "3"), "lines 2-8: reason is a string, not 3"),
        (ENTRY + ENTRY.replace("Case(", "print("), "lines 10-16: not a case"),
        (ENTRY.replace("[[deviation]]", "[[deviations]]"), "no key 'deviations'"),
        ("[[fixed]]\nclause = 'sampler.reject'", "lines 1-2: no deviation below is like this"),
        ("deviation = 3", "deviation is written [[deviation]]"),
        ("[[deviation", "--baseline"),
    ],
)  # fmt: skip
def test_a_wrong_entry_is_told_with_its_lines(tmp_path: Path, text: str, told: str) -> None:
    """A typo in a baseline is a usage error that names the file and the lines."""
    with pytest.raises(CandidateError) as caught:
        layered([written(tmp_path / "mine.toml", text)], None, [])

    assert told in str(caught.value) and "mine.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rolls = {}", "no key 'rolls'"),
        ("roles = 3", "roles is a dict, not 3"),
        ("[roles]\nDistributed = 'X'", "no roles.Distributed"),
        ("[policies]\npad = 'wrap'", "no policies.pad"),
        ("baselines = [3]", "baselines holds names of files, not 3"),
        ("strict = 'yes'", "strict is a bool"),
    ],
)
def test_a_wrong_key_is_told(tmp_path: Path, text: str, told: str) -> None:
    """A key that `conformance.toml` does not know, or of another kind, is told by its name."""
    written(tmp_path / "conformance.toml", text)

    with pytest.raises(CandidateError, match=r"conformance\.toml"):
        read_config(tmp_path)
    with pytest.raises(CandidateError) as caught:
        read_config(tmp_path)
    assert told in str(caught.value)


def test_the_nearest_file_counts(tmp_path: Path) -> None:
    """Configuration is looked for upwards; files that it names are beside it; two are too many."""
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    written(tmp_path / "conformance.toml", "baselines = ['torch', 'more.toml', 'x=more.toml']")

    found = read_config(below)

    more = tmp_path / "more.toml"
    assert found.baselines == ("torch", str(more), f"x={more}")
    written(tmp_path / "pyproject.toml", "[tool.conformance]\nstrict = true")
    with pytest.raises(CandidateError, match="declares too"):
        read_config(below)


def test_a_deviation_that_no_longer_occurs_fails(tmp_path: Path) -> None:
    """A stale entry fails, and names the lines to remove; not one of a race; nor without it."""
    mine = (
        "import operator\n"
        "import torch.utils.data as data\n"
        "class DistributedSampler(data.DistributedSampler):\n"
        "    def set_epoch(self, epoch):\n"
        "        super().set_epoch(epoch)\n"
    )
    written(tmp_path / "shards.py", mine)
    chosen = ("--impl=shards", "--clause=sampler.epoch-type", "--backend=simulated")
    first = run(tmp_path, *chosen, "--effort=quick", "--write-baseline=known.toml")
    declared = (tmp_path / "known.toml").read_text()
    written(tmp_path / "conformance.toml", "strict = true\n" + declared)

    known = run(tmp_path, *chosen, "--effort=quick")
    written(tmp_path / "shards.py", mine.replace("(epoch)\n", "(operator.index(epoch))\n"))
    mended = run(tmp_path, *chosen, "--effort=quick")
    often = declared.replace("[[deviation]]\n", "[[deviation]]\noccurs = 'sometimes'\n")
    written(tmp_path / "conformance.toml", f"strict = true\n{often}")
    raced = run(tmp_path, *chosen, "--effort=quick")
    written(tmp_path / "conformance.toml", "strict = true\n")
    removed = run(tmp_path, *chosen, "--effort=quick")

    assert [run.returncode for run in (first, known, mended, raced, removed)] == [0, 0, 1, 0, 0]
    assert "declared deviation" in known.stdout
    assert "it no longer occurs: remove conformance.toml, lines 4-" in mended.stdout


def test_torch_s_deviations_lie_under_mine(tmp_path: Path) -> None:
    """Whoever does better than the shipped baseline is told to say so, and may."""
    better = (
        "import torch.utils.data as data\n"
        "class DistributedSampler(data.DistributedSampler):\n"
        "    def __init__(self, dataset, num_replicas=None, rank=None, **more):\n"
        "        if num_replicas is not None and type(num_replicas) is not int:\n"
        "            raise TypeError('num_replicas must be an int')\n"
        "        super().__init__(dataset, num_replicas, rank, **more)\n"
    )
    written(tmp_path / "better.py", better)
    chosen = ("--impl=better", "--clause=sampler.reject", "--baseline=torch")

    told = run(tmp_path, *chosen, "--effort=quick")
    line = 'clause = "sampler.reject"; role = "DistributedSampler"; about = "num_replicas=2.0"'
    text = "\n".join(["[[fixed]]", *line.split("; ")])
    written(tmp_path / "fixed.toml", text)
    said = run(tmp_path, *chosen, "--baseline=fixed.toml", "--effort=quick")

    assert told.returncode == 1 and f"[[fixed]] {line}" in told.stdout
    assert "num_replicas=2.0" not in said.stdout
