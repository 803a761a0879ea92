"""DistributedSamplerWrapper: one inner sequence, divided; in one process and in a gloo group."""

import json
import os
import random
import subprocess
import sys
from collections import Counter
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from torch.utils import data

from reference import (
    BatchSampler,
    DatasetFromSampler,
    DistributedSampler,
    DistributedSamplerWrapper,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
)
from reference.wrapper import seeded


class Inner:
    """Yields `items`, claims the length `declared`, and remembers what was asked of it."""

    def __init__(self, items, declared=None):
        self.items, self.declared, self.passes, self.epochs = list(items), declared, 0, []

    def __iter__(self):
        self.passes += 1
        yield from self.items

    def __len__(self):
        if self.declared is None:
            raise TypeError("no length")
        return self.declared

    def set_epoch(self, epoch):
        self.epochs.append(epoch)


class Drawing:
    """Draws its order from the global generator of torch, numpy or random."""

    def __init__(self, source):
        self.source = source

    def __iter__(self):
        if self.source == "torch":
            return iter(torch.randperm(20).tolist())
        if self.source == "numpy":
            return iter(np.random.permutation(20).tolist())
        return iter(random.sample(range(20), 20))


def shards(make_inner, num_replicas, **keywords):
    ranks = range(num_replicas)
    return [
        list(DistributedSamplerWrapper(make_inner(), num_replicas, r, **keywords)) for r in ranks
    ]


def interleaved(parts):
    return [item for places in zip(*parts, strict=True) for item in places]


@pytest.mark.parametrize("drop_last", [True, False])
def test_ranks_read_the_inner_sequence_in_turns(drop_last):
    """The inner order is kept, and padded from its start or cut off at the end."""
    for n, num_replicas in product(range(14), range(1, 9)):
        items = [10 * index for index in range(n)]
        order = interleaved(shards(items.copy, num_replicas, drop_last=drop_last))
        if drop_last:
            assert order == items[: n - n % num_replicas]
        else:
            assert order == (items * num_replicas)[: -(-n // num_replicas) * num_replicas]


def test_shuffle_keeps_the_items():
    """With shuffle every inner item is still read, and the order follows the epoch."""
    items = list("abcdefghijklmnop")
    wrapper = DistributedSamplerWrapper(items, 1, 0, shuffle=True)
    first = list(wrapper)

    wrapper.set_epoch(1)

    assert sorted(first) == sorted(wrapper) == items
    assert len({tuple(first), tuple(wrapper), tuple(items)}) == 3


def test_shuffle_does_not_repeat_the_inner_permutation():
    """The wrapper's permutation is not the one an inner sampler of the same seed has used."""
    wrapper = DistributedSamplerWrapper(DistributedSampler(range(50), 1, 0), 1, 0, shuffle=True)
    of_the_inner = list(DistributedSampler(range(50), 1, 0))

    assert list(wrapper) != [of_the_inner[index] for index in of_the_inner]


@pytest.mark.parametrize("source", ["torch", "numpy", "random"])
def test_ranks_with_different_global_states_agree(source):
    """An inner sampler that draws from a global generator is the same on every rank."""
    parts = []
    for rank in range(4):
        torch.manual_seed(rank), np.random.seed(rank), random.seed(rank)
        parts.append(list(DistributedSamplerWrapper(Drawing(source), 4, rank)))

    assert sorted(interleaved(parts)) == list(range(20))


@pytest.mark.parametrize("source", ["torch", "numpy", "random"])
def test_inner_draws_follow_seed_and_epoch(source):
    """Another epoch or another seed is another inner order."""
    orders = set()

    for seed, epoch in product(range(3), range(3)):
        wrapper = DistributedSamplerWrapper(Drawing(source), 1, 0, seed=seed)
        wrapper.set_epoch(epoch)
        orders.add(tuple(wrapper))

    assert len(orders) == 9


def test_global_states_come_back_after_an_error():
    """Seeding for the inner pass is undone even if that pass raises."""
    before = torch.get_rng_state(), np.random.get_state()[1].copy(), random.getstate()

    with pytest.raises(KeyError), seeded(1):
        torch.rand(1), np.random.rand(), random.random()
        raise KeyError

    assert torch.equal(torch.get_rng_state(), before[0])
    assert (np.random.get_state()[1] == before[1]).all()
    assert random.getstate() == before[2]


def test_the_inner_sampler_is_drawn_anew_for_each_pass():
    """An inner sampler with a generator of its own gives its next order to the next pass."""
    expected = RandomSampler(range(20), generator=torch.Generator().manual_seed(0))
    inner = RandomSampler(range(20), generator=torch.Generator().manual_seed(0))
    wrapper = DistributedSamplerWrapper(inner, 1, 0)

    assert [list(wrapper), list(wrapper)] == [list(expected), list(expected)]


def test_nothing_is_drawn_before_the_first_item():
    """iter(wrapper) and len(wrapper) leave the inner sampler alone."""
    inner = Inner(range(4), declared=4)
    wrapper = DistributedSamplerWrapper(inner, 2, 0)

    iter(wrapper), len(wrapper)

    assert inner.passes == 0


def test_set_epoch_reaches_the_inner_sampler_once():
    """One call on the outermost wrapper is one call on the innermost sampler."""
    inner = Inner(range(4))
    nested = DistributedSamplerWrapper(inner, 1, 0)

    DistributedSamplerWrapper(BatchSampler(nested, 2, False), 2, 0).set_epoch(np.int64(3))

    assert inner.epochs == [3]
    assert type(inner.epochs[0]) is int


@pytest.mark.parametrize("declared", [0, 5, 7, 100])
@pytest.mark.parametrize("rank", [0, 1])
def test_an_inner_length_that_is_not_true_is_an_error(declared, rank):
    """An inner sampler that yields more or fewer items than its length is refused on every rank."""
    wrapper = DistributedSamplerWrapper(Inner(range(6), declared), 2, rank)

    with pytest.raises(RuntimeError, match=f"length {declared}, but yielded 6"):
        list(wrapper)


def test_an_inner_sampler_without_length_works():
    """The pass is complete; only len raises TypeError."""
    wrapper = DistributedSamplerWrapper(Inner(range(5)), 2, 1)

    assert list(wrapper) == [1, 3, 0]
    with pytest.raises(TypeError):
        len(wrapper)


def test_an_inner_error_passes_through():
    """The inner sampler's exception reaches the caller unchanged."""
    error = KeyError("inner")

    def failing():
        yield 1
        raise error

    with pytest.raises(KeyError) as caught:
        list(DistributedSamplerWrapper(failing(), 2, 0))
    assert caught.value is error


def test_whole_batches_are_divided():
    """Around a batch sampler each batch goes to one rank unchanged."""
    batches = BatchSampler(SequentialSampler(range(10)), 3, drop_last=False)

    assert shards(lambda: batches, 2) == [[[0, 1, 2], [6, 7, 8]], [[3, 4, 5], [9]]]


@pytest.mark.parametrize(
    "inner",
    [
        DistributedSampler(range(8), 2, 0),
        data.DistributedSampler(range(8), 2, 0),
        DistributedSamplerWrapper(range(8), 2, 0),
        BatchSampler(DistributedSampler(range(8), 2, 0), 2, False),
        data.BatchSampler(data.DistributedSampler(range(8), 2, 0), 2, False),
        DatasetFromSampler(DistributedSampler(range(8), 2, 0)),
    ],
    ids=lambda inner: f"{type(inner).__module__}.{type(inner).__name__}",
)
def test_a_sampler_that_is_divided_already_is_refused(inner):
    """Dividing twice is an error at construction, however deep the first division lies."""
    with pytest.raises(ValueError, match=r"^sampler is divided"):
        DistributedSamplerWrapper(inner, 2, 0)


def test_a_sampler_that_names_itself_is_asked_once():
    """Who leads back to itself by its attribute `sampler` is wrapped, and not searched for ever."""

    class Knot(SequentialSampler):
        sampler = property(lambda self: self)

    assert shards(lambda: Knot(range(4)), 2) == [[0, 2], [1, 3]]


def test_a_division_by_one_may_be_divided():
    """A distributed sampler over a single rank is an ordinary sampler."""
    inner = DistributedSampler(range(8), 1, 0, shuffle=False)

    assert shards(lambda: inner, 2) == [[0, 2, 4, 6], [1, 3, 5, 7]]


RANK_PROGRAM = """
import json, random, sys
import numpy as np, torch, torch.distributed as dist
from reference import *

rank, store = int(sys.argv[1]), sys.argv[2]
dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
torch.manual_seed(rank), np.random.seed(rank), random.seed(rank)
seen = {}

def attempt(name, sampler):
    try:
        seen[name] = list(sampler)
    except Exception as error:
        seen[name] = type(error).__name__
    dist.barrier()

class NumpyOrder:
    def __iter__(self):
        return iter(np.random.permutation(20).tolist())

def fails_on_rank_1():
    yield 0
    if rank == 1:
        raise KeyError
    yield 1

def private(seed):
    return RandomSampler(range(20), generator=torch.Generator().manual_seed(seed))

attempt("plain", DistributedSampler(range(20)))
attempt("numpy", DistributedSamplerWrapper(NumpyOrder()))
attempt("private, alike", DistributedSamplerWrapper(private(0)))
attempt("private, by rank", DistributedSamplerWrapper(private(rank)))
attempt("seed by rank", DistributedSamplerWrapper(range(20), shuffle=True, seed=rank))
long = torch.arange(2000)
long[1000] = -rank  # a repr leaves it out
attempt("long batches, by rank", DistributedSamplerWrapper([long, long]))
attempt("one rank fails", DistributedSamplerWrapper(fails_on_rank_1()))
attempt("length", DistributedSamplerWrapper(type("L", (list,), {"__len__": lambda s: 9})([1])))
attempt("after all that", DistributedSamplerWrapper(range(4)))
dist.destroy_process_group()
print(json.dumps(seen))
"""


@pytest.fixture(scope="module")
def group(tmp_path_factory):
    """What two ranks of a gloo group, with different global states, have seen."""
    folder = tmp_path_factory.mktemp("group")
    (folder / "rank.py").write_text(RANK_PROGRAM)
    root = str(Path(__file__).resolve().parents[1])
    ranks = [
        subprocess.Popen(
            [sys.executable, folder / "rank.py", str(rank), folder / "store"],
            env={**os.environ, "PYTHONPATH": root, "OMP_NUM_THREADS": "1"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        return [json.loads(rank.communicate(timeout=60)[0].splitlines()[-1]) for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
            rank.wait()


@pytest.mark.parametrize("name", ["plain", "numpy", "private, alike"])
def test_ranks_of_a_group_cover_everything_once(group, name):
    """Rank and world size come from the group, and the ranks divide one sequence."""
    union = Counter(group[0][name] + group[1][name])

    assert union == Counter(range(20))


@pytest.mark.parametrize("name", ["private, by rank", "seed by rank", "long batches, by rank"])
def test_ranks_of_a_group_that_differ_all_raise(group, name):
    """If ranks would divide different sequences, every rank says so."""
    assert [seen[name] for seen in group] == ["RuntimeError", "RuntimeError"]


def test_no_rank_waits_for_one_whose_inner_sampler_failed(group):
    """The failing rank raises its own error, the other one a RuntimeError, and both go on."""
    assert [seen["one rank fails"] for seen in group] == ["RuntimeError", "KeyError"]
    assert [seen["after all that"] for seen in group] == [[0, 2], [1, 3]]


def test_a_false_length_is_an_error_on_all_ranks_of_a_group(group):
    """Every rank raises RuntimeError, and none waits."""
    assert [seen["length"] for seen in group] == ["RuntimeError", "RuntimeError"]


def test_subset_inside_a_wrapper_covers_its_indices():
    """A subset that draws from the global generator is divided without loss."""
    parts = shards(lambda: SubsetRandomSampler(range(100, 112)), 4)

    assert sorted(interleaved(parts)) == list(range(100, 112))
