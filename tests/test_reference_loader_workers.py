"""What workers draw, hold and see, and how far they work ahead."""

import os
import random

import numpy as np
import pytest
import torch
from test_reference_loader import Squares
from test_reference_loader import bounded as bounded

from reference import DataLoader, get_worker_info
from reference.loader.seeds import base_seed

EITHER = pytest.mark.parametrize("persistent", [False, True])


class Draws:
    """Each item is what all the random streams of its worker draw."""

    of_class = random.Random(3)

    def __init__(self):
        self.rngs()

    def rngs(self):
        self.generator = np.random.default_rng(3)
        self.state = np.random.RandomState(3)
        self.random = random.Random(3)
        self.torch = torch.Generator().manual_seed(3)

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return (
            torch.rand(1, dtype=torch.double).item(),
            np.random.rand(),
            random.random(),
            self.generator.random(),
            self.state.rand(),
            self.random.random(),
            torch.rand(1, generator=self.torch, dtype=torch.double).item(),
            self.of_class.random(),
        )


def drawn(passes=1, **options):
    loader = DataLoader(Draws(), None, num_workers=2, **options)
    return [tuple(float(x) for x in item) for _ in range(passes) for item in loader]


@EITHER
def test_streams_differ_and_repeat(persistent):
    """No two workers, items or passes draw the same; the same torch seed gives all again."""
    torch.manual_seed(1)
    first = drawn(3, persistent_workers=persistent)
    torch.manual_seed(1)
    assert drawn(3) == first
    assert len({number for item in first for number in item}) == 3 * 4 * 8
    torch.manual_seed(2)
    assert not set(drawn(1)[0]) & set(first[0])


def test_streams_follow_the_given_generator():
    """With a generator of its own, a loader's streams follow that."""
    first = drawn(generator=torch.Generator().manual_seed(1))
    assert drawn(generator=torch.Generator().manual_seed(1)) == first
    assert drawn(generator=torch.Generator().manual_seed(2)) != first


def test_own_seeds_of_the_dataset_matter():
    """A generator of the dataset that was seeded differently gives other streams."""

    class Other(Draws):
        def rngs(self):
            super().rngs()
            self.generator = np.random.default_rng(4)

    torch.manual_seed(1)
    first = drawn()[0]
    torch.manual_seed(1)
    (other, *_) = list(DataLoader(Other(), None, num_workers=2))
    differs = [a != float(b) for a, b in zip(first, other, strict=True)]
    assert differs == [False, False, False, True, False, False, False, False]


def test_ranks_have_different_seeds(monkeypatch):
    """The rank of a process group is part of the seed."""
    monkeypatch.setattr(torch.distributed, "is_initialized", lambda: True)
    seeds = set()
    for rank in range(3):
        monkeypatch.setattr(torch.distributed, "get_rank", lambda rank=rank: rank)
        seeds.add(base_seed(None, 1))
    assert len(seeds) == 3


class Info(Squares):
    def __getitem__(self, index):
        info = get_worker_info()
        theirs = torch.utils.data.get_worker_info()
        assert info.dataset is self and theirs.id == info.id and torch.initial_seed() == info.seed
        return info.id, info.num_workers, info.seed - info.id, os.getpid()


def test_worker_info():
    """A worker knows itself, and the workers of a pass can agree on a seed."""
    assert get_worker_info() is None
    loader = DataLoader(Info(6), None, num_workers=3, collate_fn=tuple, persistent_workers=True)
    first, second = list(loader), list(loader)
    assert [item[:2] for item in first] == [(0, 3), (1, 3), (2, 3)] * 2
    assert len({item[2] for item in first}) == 1 and first[0][2] != second[0][2]
    assert [item[3] for item in first] == [item[3] for item in second]
    assert get_worker_info() is None


class State(Squares):
    epoch = 0
    seen = 0

    def __getitem__(self, index):
        self.seen += 1
        return self.epoch * 100 + self.seen


@EITHER
def test_each_pass_sees_the_dataset_of_its_start(persistent):
    """What the main process sets before iter() arrives; what workers change does not stay."""
    dataset = State(4)
    loader = DataLoader(dataset, None, num_workers=2, persistent_workers=persistent)
    passes = []
    for dataset.epoch in range(3):
        passes.append(list(loader))
    assert passes == [[1, 1, 2, 2], [101, 101, 102, 102], [201, 201, 202, 202]]


class Written(Squares):
    def __init__(self, n):
        super().__init__(n)
        self.tensor = torch.zeros(10**5)

    def __getitem__(self, index):
        self.tensor += 1
        return self.tensor[0].item()


def test_tensors_of_the_dataset_are_private():
    """What a worker of a persistent loader writes into the dataset stays in that worker."""

    dataset = Written(4)
    loader = DataLoader(dataset, None, num_workers=2, persistent_workers=True)
    assert [list(loader) for _ in range(3)] == [[1, 1, 2, 2]] * 3
    assert not dataset.tensor.any() and loader._bench._idle.turn == 6


class Counts(Written):
    """Counts in memory that it shares on purpose."""

    def __init__(self, n):
        super().__init__(n)
        self.tensor.share_memory_()

    def __getitem__(self, index):
        self.tensor[index] += 1
        return index


@EITHER
def test_shared_tensors_of_the_dataset_stay_shared(persistent):
    """What a worker writes into a shared tensor of the dataset is seen in the main process."""
    dataset = Counts(4)
    loader = DataLoader(dataset, None, num_workers=2, persistent_workers=persistent)
    assert [list(loader) for _ in range(2)] == [[0, 1, 2, 3]] * 2
    assert dataset.tensor[:5].tolist() == [2, 2, 2, 2, 0]


def test_tensors_that_a_start_shares_cost_no_second_start():
    """A dataset whose tensors a spawned worker was sent keeps that worker for the next pass."""
    loader = DataLoader(
        State(2), None, num_workers=1, persistent_workers=True, multiprocessing_context="spawn"
    )
    loader.dataset.held = torch.zeros(3)
    assert [list(loader) for _ in range(3)] == [[1, 2]] * 3
    assert loader.dataset.held.is_shared() and loader._bench._idle.turn == 6


def test_unpicklable_dataset_of_a_persistent_loader():
    """A dataset that only a fork can hand over is handed over by a new fork for each pass."""
    dataset = State(2)
    dataset.function = lambda: 0
    loader = DataLoader(
        dataset, None, num_workers=1, persistent_workers=True, multiprocessing_context="fork"
    )
    assert [list(loader) for dataset.epoch in range(2)] == [[1, 2], [101, 102]]


def test_persistent_workers_are_given_a_class_that_is_younger_than_they():
    """An object of a class that idle workers do not know reaches new ones, and no pass fails."""
    dataset = State(2)
    loader = DataLoader(
        dataset, None, num_workers=2, persistent_workers=True, multiprocessing_context="fork"
    )
    assert list(loader) == [1, 1]
    younger = type("Younger", (), {"__module__": __name__})
    globals()["Younger"], dataset.held, dataset.epoch = younger, younger(), 1
    try:
        assert [list(loader) for _ in range(2)] == [[101, 101]] * 2
    finally:
        del globals()["Younger"]


@EITHER
def test_worker_init_fn_is_called_for_each_pass(persistent):
    """It may prepare the dataset, which each pass has anew."""

    def start(worker):
        get_worker_info().dataset.epoch = worker + 1

    loader = DataLoader(
        State(2), None, num_workers=2, worker_init_fn=start, persistent_workers=persistent
    )
    assert [list(loader) for _ in range(2)] == [[101, 201]] * 2


@pytest.mark.parametrize(("workers", "factor"), [(1, 1), (2, 1), (2, 3), (3, 2)])
def test_work_ahead_is_limited(workers, factor):
    """Neither sampler nor workers are ever more than prefetch_factor * W batches ahead."""
    delivered, ahead = 0, []

    def sampler():
        for index in range(30):
            ahead.append(index + 1 - delivered)
            yield index

    fetched = torch.multiprocessing.Value("i", 0)

    class Counted(Squares):
        def __getitem__(self, index):
            with fetched.get_lock():
                fetched.value += 1
            return index

    loader = DataLoader(Counted(30), sampler=sampler(), num_workers=workers, prefetch_factor=factor)
    for _ in loader:
        delivered += 1
        assert fetched.value - delivered <= workers * factor
    # The batch that a call is about to return counts as delivered.
    assert delivered == 30 and max(ahead) == workers * factor + 1


@EITHER
def test_dropped_pass_leaves_nothing_to_the_next(persistent):
    """A pass that is left early does not show in later ones."""
    loader = DataLoader(Squares(20), num_workers=2, persistent_workers=persistent)
    for count in range(4):
        assert [b[0].item() for _, b in zip(range(count), loader, strict=False)] == [*range(count)]
    assert [b[0].item() for b in loader] == [*range(20)]


def test_big_tasks_and_big_batches_at_once():
    """Messages larger than any buffer go both ways at the same time."""
    sampler = [torch.full((10**6,), k) for k in range(6)]

    class Echo(Squares):
        def __getitem__(self, index):
            return index.tolist()

    loader = DataLoader(
        Echo(1), None, sampler=sampler, num_workers=2, prefetch_factor=3, collate_fn=bytes
    )
    assert [(len(b), b[0], b[-1]) for b in loader] == [(10**6, k, k) for k in range(6)]


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_start_methods(method):
    """Workers that are started in another way deliver the same."""
    loader = DataLoader(
        Squares(5), 2, num_workers=2, multiprocessing_context=method, persistent_workers=True
    )
    for _ in range(2):
        assert [b[0].tolist() for b in loader] == [[0, 1], [2, 3], [4]]
