"""Adapters: somebody's class in a role, by hooks, with its policies, and its scripts."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from runs import run

from conformance.aliases import FILLED, FILLS
from conformance.candidate import CandidateError, Source, describe
from conformance.clauses import clauses
from conformance.policies import FREED, POLICIES, checked, freed

THEIRS = '''
class Records:
    """Yields records, not indices; its epoch is an attribute."""

    def __init__(self, count, shard):
        rank, width = map(int, shard.split("/"))
        self.keys, self.epoch = [{"key": i} for i in range(count)][rank::width], 0

    def __len__(self):
        return len(self.keys)

    def __iter__(self):
        return iter(self.keys)
'''

ADAPTED = '''
"""Theirs as a candidate."""

from conformance.adapter import Adapter
from theirs import Records

SEPARATOR = "/"


def sampler(dataset, num_replicas, rank):
    """A docstring that no script needs."""
    return Records(len(dataset), shard(rank, num_replicas))


def shard(rank, width):
    return f"{rank}{SEPARATOR}{width}"


def unused():
    raise SystemExit


def key(record):
    return record["key"]


def at_epoch(made, epoch):
    made.epoch = epoch


Shards = Adapter(
    "DistributedSampler", sampler, of=Records, set_epoch=at_epoch, indices=key,
    policies={"pads": "none"},
)
Padded = Adapter("DistributedSampler", sampler, of=Records, set_epoch=at_epoch, indices=key)
'''

HOOKS = (
    THEIRS
    + """

def build(dataset, num_replicas, rank):
    return Records(len(dataset), f"{rank}/{num_replicas}")

def indices(record):
    return record["key"]

CONFORMANCE = {"role": "DistributedSampler", "build": build, "indices": indices,
               "policies": {"pads": "none"}}
"""
)

AMBIENT = '''
import torch
from torch import distributed

class Mine(torch.utils.data.Sampler):
    """Finds its rank by itself."""

    def __init__(self, dataset, shuffle=True, seed=None):
        grouped = distributed.is_initialized()
        self.rank = distributed.get_rank() if grouped else 0
        self.width = distributed.get_world_size() if grouped else 1
        self.n, self.shuffle, self.seed, self.epoch = len(dataset), shuffle, seed or 0, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return -(-self.n // self.width)

    def __iter__(self):
        chance = torch.Generator().manual_seed(self.seed * 1000003 + self.epoch)
        order = torch.randperm(self.n, generator=chance).tolist()
        order = order if self.shuffle else list(range(self.n))
        while order and len(order) < len(self) * self.width:
            order += order[: len(self) * self.width - len(order)]
        return iter(order[self.rank :: self.width])
'''


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "theirs.py").write_text(THEIRS)
    (tmp_path / "adapted.py").write_text(ADAPTED)
    (tmp_path / "hooked.py").write_text(HOOKS)
    (tmp_path / "ambient.py").write_text(AMBIENT)
    return tmp_path


def test_an_adapter_presents_a_class(folder: Path) -> None:
    """With `build`, `set_epoch`, `indices` and its policies a class of any kind is examined."""
    chosen = ("--clause=distributed.[ce]*", "--clause=sampler.works", "--effort=quick")

    done = run(folder, "--impl=adapted.py:Shards", *chosen)

    assert done.returncode == 0, done.stdout[-3000:]
    lines = {line.split()[0]: line for line in done.stdout.splitlines() if line.strip()}
    assert "holds" in lines["distributed.cover"] and "holds" in lines["distributed.equal-counts"]


def test_hooks_may_stand_in_the_module_of_the_class(folder: Path) -> None:
    """`CONFORMANCE` with hooks does what an adapter does."""
    done = run(folder, "--impl=hooked.py:Records", "--clause=distributed.cover", "--effort=quick")

    assert done.returncode == 0, done.stdout[-3000:]
    assert "holds" in done.stdout


def test_a_class_built_as_it_is_must_follow_its_dataset(tmp_path: Path) -> None:
    """An adapter that only declares something for a class hides no rule about its dataset."""
    (tmp_path / "asis.py").write_text(
        "from torch.utils.data import DistributedSampler\n"
        "from conformance.adapter import Adapter\n"
        "Same = Adapter('DistributedSampler', DistributedSampler)\n"
    )

    done = run(tmp_path, "--impl=asis.py:Same", "--clause=sampler.resize", "--effort=quick")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout[-3000:]
    assert "stale-size" in done.stdout or "resize-crash" in done.stdout


def test_hooks_want_a_role(tmp_path: Path) -> None:
    """Hooks that do not say which role the class plays are one clear error."""
    path = tmp_path / "roleless.py"
    path.write_text("class Mine: ...\nCONFORMANCE = {'indices': int}\n")

    with pytest.raises(CandidateError, match="the hook indices and no role"):
        describe(Source(f"{path}:Mine"))


def test_the_script_of_an_adapter_needs_no_suite(folder: Path) -> None:
    """Its functions are copied, with what they use and nothing else; no name is taken twice."""
    chosen = ("--clause=distributed.equal-counts", "--effort=quick", "--repro-dir=scripts")

    done = run(folder, "--impl=adapted.py:Padded", *chosen)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED, done.stdout
    (script,) = (folder / "scripts").glob("*.py")
    text = script.read_text()
    assert "conformance.adapter" not in text and "unused" not in text and "no script" not in text
    shown = subprocess.run(
        [sys.executable, str(script)], cwd=folder, capture_output=True, text=True, timeout=60
    )
    assert shown.returncode == 1 and not shown.stderr, shown


def test_a_class_that_is_not_told_its_rank_is_run_in_groups(folder: Path) -> None:
    """Where the process group alone knows the rank, small cases too are carried out there."""
    chosen = ("--clause=distributed.[ce]*", "--effort=quick", "--world-sizes=1,2,3")

    done = run(folder, "--impl=ambient.py:Mine", *chosen)

    assert done.returncode == 0, done.stdout[-3000:]
    assert "the rank -> what the process group says" in done.stdout
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("distributed.cover"))
    assert "holds" in line and "n < W" in line


def test_a_wrong_class_in_groups_is_caught(folder: Path) -> None:
    """Its violation, and its script, are those of real processes."""
    (folder / "ambient.py").write_text(AMBIENT.replace("seed or 0", "seed or self.rank"))
    chosen = ("--clause=distributed.cover", "--effort=quick", "--repro-dir=scripts")

    done = run(folder, "--impl=ambient.py:Mine", *chosen)

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "lost-index" in done.stdout
    (script,) = (folder / "scripts").glob("*.py")
    shown = subprocess.run([sys.executable, str(script)], cwd=folder, timeout=60)
    assert shown.returncode == 1


def test_what_nobody_knows_is_asked_for(tmp_path: Path) -> None:
    """An argument that must be given and means nothing here: one sentence names it."""
    path = tmp_path / "asks.py"
    path.write_text("class Mine:\n    def __init__(self, dataset, rank, world_size, key): ...\n")

    with pytest.raises(CandidateError, match=r"its argument key must be given.*adapter"):
        describe(Source(f"{path}:Mine"))


def test_an_adapter_names_the_extra_of_its_package() -> None:
    """Where the package of a shipped adapter is missing, one sentence says what to install."""
    told = r"catalyst is not installed; pip install 'sampler-conformance\[catalyst\]'"

    with pytest.raises(CandidateError, match=told):
        describe(Source("conformance.adapters.catalyst:MiniEpochSampler"))


def test_a_module_of_adapters_says_how_to_name_one(folder: Path) -> None:
    """A module that has adapters and no role is told to be asked for one of them."""
    with pytest.raises(CandidateError, match=r"name one of its adapters: .*adapted.py:Shards"):
        describe(Source(f"{folder / 'adapted.py'}"))


def test_what_is_made_up_is_what_scripts_say() -> None:
    """The values that are made up, and the words for them, are the same."""
    assert set(FILLS) == set(FILLED)
    for name, made in FILLS.items():
        assert eval(FILLED[name].format(n="5")) == made(5)


def test_policies_are_those_of_the_spec() -> None:
    """The table of the spec names each policy and each clause that it puts out of force."""
    text = (Path(__file__).parents[1] / "spec" / "README.md").read_text()
    rows = re.findall(r"^\| `(\w+)=([\w-]+)` \| [^|]+ \| ([^|]+) \|$", text, re.M)
    told = {(name, value): tuple(re.findall(r"`([^`]+)`", freed)) for name, value, freed in rows}

    assert told == FREED
    assert {name for freed in FREED.values() for name in freed} <= set(clauses())
    for name, values in list(POLICIES.items())[2:]:
        assert f"`{name}={values[0]}`" in text


def test_a_policy_frees_what_it_says() -> None:
    """A declared policy frees its clauses and no others; an unknown one is an error."""
    assert freed("distributed.cover", {"samples": "by-design"}) == "samples='by-design'"
    assert not freed("distributed.equal-counts", {"samples": "by-design"})
    assert not freed("distributed.cover", {"samples": "once"})
    with pytest.raises(ValueError, match="no policy samples='twice'"):
        checked({"samples": "twice"})
