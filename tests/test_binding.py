"""Classes that nobody prepared: what they call their arguments, and which role they play."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from runs import run
from torch.utils.data import BatchSampler, DistributedSampler, Sampler, SequentialSampler

from conformance.aliases import inferred, parameters
from conformance.binding import Bound, bound
from conformance.candidate import CandidateError, Source, describe

ODD = '''
import math, torch

class Shards(torch.utils.data.Sampler):
    """Everything has another name; the flag means the opposite; the rank has to be given."""

    def __init__(self, world_size, global_rank, data, batch_shuffle=True, keep_last=True,
                 data_seed=0):
        self.width, self.rank, self.n = world_size, global_rank, len(data)
        self.shuffle, self.seed, self.epoch = batch_shuffle, data_seed, 0
        self.count = math.ceil(self.n / self.width) if keep_last else self.n // self.width

    def reshuffle(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return self.count

    def __iter__(self):
        chance = torch.Generator().manual_seed(self.seed * 1000003 + self.epoch)
        order = torch.randperm(self.n, generator=chance).tolist()
        order = order if self.shuffle else list(range(self.n))
        while order and len(order) < self.count * self.width:
            order += order[: self.count * self.width - len(order)]
        return iter(order[self.rank : self.count * self.width : self.width])
'''


SEEDLESS = ODD.replace("data_seed=0", "other=0").replace("data_seed", "0")
"""The same without a seed."""


class Kept(DistributedSampler):  # type: ignore[type-arg]
    """Takes what torch takes, most of it through `**kwargs`."""

    def __init__(self, dataset: Any, *, extra: int = 0, **kwargs: Any) -> None:
        super().__init__(dataset, **kwargs)


class Lengths(Sampler[int]):
    """Takes the world size and the rank under other names, and the data second."""

    def __init__(self, world_size: int, dataset: Any, process_index: int = 0) -> None:
        self.width, self.rank, self.n = world_size, process_index, len(dataset)

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.rank, self.n, self.width))

    def __len__(self) -> int:
        return math.ceil((self.n - self.rank) / self.width)


class Halves(BatchSampler):
    """Divides batches among ranks: a wrapper, whatever its base class."""

    def __init__(self, batch_sampler: Any, num_processes: int = 1, process_index: int = 0) -> None:
        self.inner = batch_sampler


class Proxy(DistributedSampler):  # type: ignore[type-arg]
    """Derives from one role and plays another."""

    def __init__(self, sampler: Any, num_replicas: int | None = None, rank: int | None = None):
        super().__init__(sampler, num_replicas, rank)


class Around(Sampler[int]):
    """A wrapper around a sampler."""

    def __init__(self, sampler: Any, num_replicas: int, rank: int) -> None:
        self.sampler = sampler


class Feeds:
    """Loads by itself: it derives from no loader, and workers are its own."""

    def __init__(self, dataset: Any, batch_size: int = 1, num_workers: int = 0) -> None:
        self.dataset = dataset


class Divides:
    """`num_workers` beside a rank is a world size."""

    def __init__(self, dataset: Any, rank: int, num_workers: int) -> None:
        self.dataset = dataset


def test_arguments_are_found_through_kwargs() -> None:
    """`**kwargs` is what the next base class takes, up to one that takes no more."""
    assert {"dataset", "extra", "num_replicas", "rank", "seed", "drop_last"} <= set(
        parameters(Kept)
    )
    assert bound(Kept, "dataset") is Kept


def test_arguments_go_where_the_class_calls_them() -> None:
    """torch's names become the class's, and the data goes to its parameter wherever it stands."""
    made = bound(Lengths, "dataset")(range(10), num_replicas=3, rank=2)

    assert list(made) == [2, 5, 8]


def test_weights_and_a_flag_have_other_names() -> None:
    """numpy's names for weights and replacement are known: `probs`, `replace`."""
    seen: dict[str, Any] = {}

    def kind(num_samples: int, probs: Any, replace: bool = False) -> None:
        seen.update(num_samples=num_samples, probs=probs, replace=replace)

    bound(kind, "weights")([1.0, 2.0], num_samples=3, replacement=True)

    assert seen == {"num_samples": 3, "probs": [1.0, 2.0], "replace": True}


@pytest.mark.parametrize(("value", "given"), [(True, False), (False, True), ("no", "no")])
def test_an_opposite_flag_is_turned(value: Any, given: Any) -> None:
    """`drop_last` is the opposite of `keep_last`; what is no flag stays as it is."""
    seen: dict[str, Any] = {}

    def kind(dataset: Any, keep_last: Any = True) -> None:
        seen["keep_last"] = keep_last

    made = bound(kind, "dataset")
    assert isinstance(made, Bound)
    made(range(3), drop_last=value)

    assert seen == {"keep_last": given}


@pytest.mark.parametrize(
    ("kind", "role"),
    [(Lengths, "DistributedSampler"), (Around, "DistributedSamplerWrapper"), (Path, ""),
     (Feeds, "DataLoader"), (Divides, "DistributedSampler")],
)  # fmt: skip
def test_a_role_is_told_by_what_a_class_takes(kind: type, role: str) -> None:
    """Data and a rank make a distributed sampler, a sampler and a rank a wrapper, data and workers
    a loader."""
    assert inferred(kind) == role


@pytest.mark.parametrize(
    ("name", "takes", "role"),
    [("Feistel", "data_source replacement num_samples", "RandomSampler"),
     ("RoundRobin", "labels mode", "BalanceClassSampler"),
     ("Rounding", "labels weight length", "WeightedBalanceClassSampler"),
     ("PlainSequentialSampler", "data", "SequentialSampler"),
     ("MyWeightedRandomSampler", "chances count", "WeightedRandomSampler"),
     ("Draws", "probs num_samples with_replacement", "WeightedRandomSampler"),
     ("Cycles", "data replace", "RandomSampler"),
     ("LazyDatasetFromSampler", "sampler", "DatasetFromSampler"),
     ("Grouped", "labels", "")],
)  # fmt: skip
def test_the_arguments_of_a_role_or_its_name_tell_it(name: str, takes: str, role: str) -> None:
    """What only one role takes tells it, and else the name of a role within that of the class."""
    made: dict[str, Any] = {}
    exec(f"def __init__(self, {', '.join(takes.split())}): ...", made)

    assert inferred(type(name, (), {"__init__": made["__init__"]})) == role


@pytest.mark.parametrize(
    ("name", "role"),
    [("Kept", "DistributedSampler"), ("Lengths", "DistributedSampler"),
     ("Around", "DistributedSamplerWrapper")],
)  # fmt: skip
def test_a_class_is_loaded_in_its_role(name: str, role: str) -> None:
    """A class of a file needs no adapter: role and parameters are told."""
    found = describe(Source(f"{__file__}:{name}"))

    assert tuple(found.roles) == (role,)
    assert found.accepts(role, "num_replicas") and found.accepts(role, "rank")


def test_a_rank_is_not_ignored_for_a_base_class() -> None:
    """A batch sampler that takes a rank is no mere BatchSampler: it is a wrapper of batches."""
    found = describe(Source(f"{__file__}:Halves"))

    assert tuple(found.roles) == ("DistributedSamplerWrapper",)
    assert found.binding("DistributedSamplerWrapper").batched


def test_a_wrapper_is_known_by_what_it_wraps() -> None:
    """A class that divides a sampler is a wrapper, even where its base class divides a dataset."""
    found = describe(Source(f"{__file__}:Proxy"))

    assert tuple(found.roles) == ("DistributedSamplerWrapper",)


def test_a_name_is_believed_if_the_class_takes_what_it_says(tmp_path: Path) -> None:
    """A DistributedSampler that is given a sampler and a rank is a wrapper (determined 0.38)."""
    (tmp_path / "odd.py").write_text(
        "class DistributedSampler:\n    def __init__(self, sampler, num_workers, rank): ...\n"
    )

    found = describe(Source(f"{tmp_path}/odd.py:DistributedSampler"))

    assert tuple(found.roles) == ("DistributedSamplerWrapper",)


def test_a_module_is_taken_at_its_word() -> None:
    """A class that has the name of a role keeps its constructor: nothing is turned over."""
    found = describe(Source("torch.utils.data"))

    assert not found.bound


def test_any_class_is_examined(tmp_path: Path) -> None:
    """A class with names of its own holds, across real groups too, and the run says what it did."""
    (tmp_path / "odd.py").write_text(ODD)
    chosen = ("--impl=odd.py:Shards", "--clause=distributed.[cn]*", "--effort=quick")

    done = run(tmp_path, *chosen)

    assert done.returncode == 0, done.stdout[-3000:]
    assert "roles DistributedSampler" in done.stdout
    for told in ("num_replicas -> world_size", "drop_last -> not keep_last",
                 "set_epoch -> reshuffle", "the first argument -> data"):  # fmt: skip
        assert told in done.stdout
    assert "no case fits what the constructor takes" in done.stdout  # distributed.no-group


def test_a_class_is_asked_for_nothing_that_it_does_not_take(tmp_path: Path) -> None:
    """Without a seed, clauses about seeds have no case; the others are examined all the same."""
    (tmp_path / "odd.py").write_text(SEEDLESS)

    chosen = ("--clause=distributed.[cs]*", "--clause=distributed.ep*", "--backend=simulated")

    done = run(tmp_path, "--impl=odd.py:Shards", *chosen, "--effort=quick")

    assert done.returncode == 0, done.stdout[-3000:]
    lines = [line for line in done.stdout.splitlines() if line.startswith("distributed.")]
    told = {line.split()[0]: line for line in lines}
    assert "not applicable" in told["distributed.seed"]
    assert "holds" in told["distributed.epochs-differ"]
    assert "holds" in told["distributed.cover"]


DEMANDING = """
from torch.utils.data import DistributedSampler

class Shards(DistributedSampler):
    def __init__(self, data, total_size, rank, world_size, shuffle, seed, drop_last, lengths=None):
        if total_size != len(data) or len(lengths) != len(data):
            raise ValueError("lengths")
        super().__init__(data, world_size, rank, shuffle, seed, drop_last)
"""


def test_what_must_be_given_is_given(tmp_path: Path) -> None:
    """Arguments that torch has a default for, and what only the data could tell, are given."""
    (tmp_path / "odd.py").write_text(DEMANDING)
    chosen = "--clause=distributed.cover", "--clause=distributed.drop", "--effort=quick"

    done = run(tmp_path, "--impl=odd.py:Shards", *chosen)

    assert done.returncode == 0, done.stdout[-3000:]
    assert "shuffle=True given always" in done.stdout and "lengths -> made up" in done.stdout
    assert "2 holds" in done.stdout


def test_a_wrong_class_of_any_names_is_caught(tmp_path: Path) -> None:
    """The bug of such a class is found, and its script shows it."""
    (tmp_path / "odd.py").write_text(ODD.replace("[self.rank :", "[self.rank + 1 :"))
    chosen = ("--impl=odd.py:Shards", "--clause=distributed.cover", "--effort=quick")

    done = run(tmp_path, *chosen, "--repro-dir=repro")

    assert done.returncode == pytest.ExitCode.TESTS_FAILED
    assert "lost-index" in done.stdout
    (script,) = (tmp_path / "repro").glob("*.py")
    shown = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert shown.returncode == 1 and not shown.stderr


def test_torch_is_what_it_was() -> None:
    """A sampler that takes what torch takes is itself, and behaves so."""
    assert bound(SequentialSampler, "data_source") is SequentialSampler
    assert torch.utils.data.DistributedSampler is bound(DistributedSampler, "dataset")


def test_what_is_no_class_is_told_so(tmp_path: Path) -> None:
    """A callable object, such as a functools.partial, is refused by its type."""
    (tmp_path / "odd.py").write_text("from functools import partial\nShards = partial(int)\n")

    with pytest.raises(CandidateError, match="it is of type partial, and no class or function"):
        describe(Source(f"{tmp_path}/odd.py:Shards"))
