"""The sequences of torch.utils.data, bit for bit."""

from itertools import product

import numpy as np
import pytest
import torch
from torch.utils import data

import reference
from reference import drop_in


def passes(sampler, count=2):
    return [list(sampler) for _ in range(count)]


def generator(seed):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("num_replicas", range(1, 9))
def test_drop_in_distributed_sampler_is_torchs(num_replicas):
    """Every rank's shard is torch's, for all small lengths, flags and epochs."""
    grid = product(range(14), range(num_replicas), (True, False), (True, False), (0, 7, -1))

    for n, rank, shuffle, drop_last, seed in grid:
        arguments = (range(n), num_replicas, rank, shuffle, seed, drop_last)
        ours = drop_in.DistributedSampler(*arguments)
        theirs = data.DistributedSampler(*arguments)
        for epoch in range(3):
            ours.set_epoch(epoch)
            theirs.set_epoch(epoch)
            assert list(ours) == list(theirs), arguments
            assert len(ours) == len(theirs), arguments


@pytest.mark.parametrize("seed", [-1, -(2**63), 2**63, 2**64 - 1])
def test_drop_in_takes_every_seed_that_torch_takes(seed):
    """Seeds at the ends of the 64-bit range give torch's order."""
    ours = drop_in.DistributedSampler(range(50), 2, 1, seed=seed)
    theirs = data.DistributedSampler(range(50), 2, 1, seed=seed)

    assert list(ours) == list(theirs)


GOLDEN = {
    (0, 0): [[13, 10], [12, 14], [3, 16], [5, 8]],
    (0, 1): [[11, 7], [9, 6], [15, 1], [4, 2]],
    (1, 0): [[6, 7], [12, 8], [2, 10], [11, 14]],
    (1, 1): [[16, 5], [3, 13], [1, 9], [4, 15]],
}


@pytest.mark.parametrize(("epoch", "rank"), GOLDEN)
def test_two_ranks_read_the_golden_batches(epoch, rank):
    """Data 1..16 over two ranks in batches of 2 comes out as a 2-process NCCL run printed it."""
    sampler = drop_in.DistributedSampler(range(16), num_replicas=2, rank=rank)
    sampler.set_epoch(epoch)

    batches = drop_in.BatchSampler(sampler, batch_size=2, drop_last=False)

    assert [[index + 1 for index in batch] for batch in batches] == GOLDEN[epoch, rank]


RANDOM_ARGUMENTS = [
    (n, replacement, num_samples)
    for n in (1, 2, 3, 10, 33, 100)
    for replacement in (False, True)
    for num_samples in (None, 1, 2, 3, 31, 32, 33, 64, 99, 100, 101, 200)
]


@pytest.mark.parametrize(("n", "replacement", "num_samples"), RANDOM_ARGUMENTS)
def test_random_sampler_is_torchs(n, replacement, num_samples):
    """Three passes, and the state they leave the generator in, are torch's."""
    arguments = (range(n), replacement, num_samples)
    ours, theirs = generator(3), generator(3)

    expected = passes(data.RandomSampler(*arguments, generator=theirs), 3)

    assert passes(reference.RandomSampler(*arguments, generator=ours), 3) == expected
    assert torch.equal(ours.get_state(), theirs.get_state())


@pytest.mark.parametrize(("n", "replacement", "num_samples"), RANDOM_ARGUMENTS)
def test_random_sampler_follows_manual_seed_as_torchs_does(n, replacement, num_samples):
    """Without a generator, the same manual_seed gives torch's passes."""
    arguments = (range(n), replacement, num_samples)

    torch.manual_seed(5)
    expected = passes(data.RandomSampler(*arguments))
    torch.manual_seed(5)

    assert passes(reference.RandomSampler(*arguments)) == expected


@pytest.mark.parametrize(("n", "replacement", "num_samples"), RANDOM_ARGUMENTS)
def test_a_pass_takes_at_once_what_torchs_takes_in_pieces(n, replacement, num_samples):
    """After its first item a pass has left the generator where torch leaves it at the end."""
    ours, theirs = generator(3), generator(3)
    list(data.RandomSampler(range(n), replacement, num_samples, theirs))

    next(iter(reference.RandomSampler(range(n), replacement, num_samples, ours)))

    assert torch.equal(ours.get_state(), theirs.get_state())


@pytest.mark.parametrize("n", [0, 1, 2, 5, 40])
def test_subset_random_sampler_is_torchs(n):
    """Both with a generator and with manual_seed, the sequence is torch's."""
    indices = list(range(100, 100 + n))

    theirs = passes(data.SubsetRandomSampler(indices, generator(1)))
    assert passes(reference.SubsetRandomSampler(indices, generator(1))) == theirs

    torch.manual_seed(1)
    theirs = passes(data.SubsetRandomSampler(indices))
    torch.manual_seed(1)
    assert passes(reference.SubsetRandomSampler(indices)) == theirs


WEIGHTS = {
    "integers": [1, 2, 3, 4],
    "one": [0.3],
    "zeros between": [0, 0.5, 0, 0, 2.5, 1, 0],
    "tiny": [1e-30, 2e-30, 3e-30],
    "huge": [1e30, 2e30, 3e30],
    "wide": [1e-200, 1.0, 1e200],
    "many": torch.rand(5000, generator=generator(0), dtype=torch.double),
    "float32": torch.rand(999, generator=generator(0)),
}


WEIGHTED_ARGUMENTS = [
    (name, num_samples, replacement)
    for name, weights in WEIGHTS.items()
    for replacement in (True, False)
    for num_samples in (1, 2, 3, 500, 10_000)
    if replacement or num_samples <= sum(weight > 0 for weight in weights)
]


@pytest.mark.parametrize(("name", "num_samples", "replacement"), WEIGHTED_ARGUMENTS)
def test_weighted_random_sampler_is_torchs(name, num_samples, replacement):
    """Passes, and the state they leave the generator in, are torch's where torch gives no zero."""
    weights = WEIGHTS[name]

    for seed in range(5):
        ours, theirs = generator(seed), generator(seed)
        expected = passes(data.WeightedRandomSampler(weights, num_samples, replacement, theirs))
        sampler = reference.WeightedRandomSampler(weights, num_samples, replacement, ours)
        assert passes(sampler) == expected
        assert torch.equal(ours.get_state(), theirs.get_state())


@pytest.mark.parametrize("drop_last", [True, False])
def test_batch_sampler_is_torchs(drop_last):
    """Batches and length are torch's for all small lengths and sizes."""
    for n, batch_size in product(range(14), range(1, 16)):
        theirs = data.BatchSampler(range(n), batch_size, drop_last)
        ours = reference.BatchSampler(range(n), batch_size, drop_last)
        assert list(ours) == list(theirs)
        assert len(ours) == len(theirs)


def test_batches_of_ten():
    """The example of the torch documentation."""
    whole = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]

    assert list(reference.BatchSampler(range(10), 3, drop_last=True)) == whole
    assert list(reference.BatchSampler(range(10), 3, drop_last=False)) == [*whole, [9]]


def test_sequential_sampler_is_torchs():
    """Ascending indices, like torch's."""
    for n in range(5):
        assert list(reference.SequentialSampler(range(n))) == list(data.SequentialSampler(range(n)))


def test_a_loader_takes_every_sampler():
    """torch's DataLoader reads through the samplers and through the batch sampler."""
    items = np.arange(100, 110)
    samplers = [
        reference.SequentialSampler(items),
        reference.RandomSampler(items),
        reference.SubsetRandomSampler(range(10)),
        reference.DistributedSampler(items, 1, 0),
    ]

    for sampler in samplers:
        batches = reference.BatchSampler(sampler, 3, drop_last=False)
        by_item = data.DataLoader(items, sampler=sampler, batch_size=4)
        by_batch = data.DataLoader(items, batch_sampler=batches)
        for loader in (by_item, by_batch):
            assert sorted(torch.cat(list(loader)).tolist()) == items.tolist()
