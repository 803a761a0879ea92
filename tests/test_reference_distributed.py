"""DistributedSampler where it differs from torch's, and the rule by which it divides."""

from itertools import product

import pytest

from reference import BatchSampler, DistributedSampler


def shards(n, num_replicas, epoch=0, **keywords):
    samplers = [
        DistributedSampler(range(n), num_replicas, r, **keywords) for r in range(num_replicas)
    ]
    for sampler in samplers:
        sampler.set_epoch(epoch)
    return [list(sampler) for sampler in samplers]


def interleaved(parts):
    return [index for places in zip(*parts, strict=True) for index in places]


@pytest.mark.parametrize("shuffle", [True, False])
def test_padding_continues_the_global_order_from_its_start(shuffle):
    """The first n places are a permutation, and place p holds what place p - n holds."""
    for n, num_replicas, epoch in product(range(1, 14), range(1, 9), range(3)):
        order = interleaved(shards(n, num_replicas, epoch, shuffle=shuffle))
        assert len(order) == -(-n // num_replicas) * num_replicas
        assert sorted(order[:n]) == list(range(n))
        assert order[n:] == order[: len(order) - n]


@pytest.mark.parametrize("shuffle", [True, False])
def test_drop_last_cuts_the_global_order_off(shuffle):
    """Ranks are disjoint, and fewer items than ranks are lost, all from the end."""
    for n, num_replicas in product(range(14), range(1, 9)):
        order = interleaved(shards(n, num_replicas, shuffle=shuffle, drop_last=True))
        whole = interleaved(shards(n, 1, shuffle=shuffle))
        assert order == whole[: n - n % num_replicas]


def test_without_shuffle_the_order_of_the_dataset_is_kept():
    """Rank r reads r, r + W, r + 2W, ... and the padding starts over."""
    assert shards(8, 3, shuffle=False) == [[0, 3, 6], [1, 4, 7], [2, 5, 0]]


def test_the_world_size_does_not_change_the_order():
    """Every world size that divides n reads the same global order."""
    orders = [interleaved(shards(24, num_replicas)) for num_replicas in (1, 2, 3, 4, 6, 8, 12, 24)]

    assert all(order == orders[0] for order in orders)


def test_every_seed_and_epoch_has_an_order_of_its_own():
    """Seed and epoch are mixed: no two pairs share an order, whatever their sum."""
    pairs = list(product([0, 1, 2, 3, -1, 2**32, 2**63], [0, 1, 2, 3, -1, 2**32, 2**63]))

    orders = {tuple(shards(30, 1, epoch, seed=seed)[0]) for seed, epoch in pairs}

    assert len(orders) == len(pairs)


def test_batches_on_top_are_of_equal_size_on_all_ranks():
    """Step by step, all ranks form batches of the same size."""
    for n, num_replicas, size, drop in product(range(14), range(1, 6), range(1, 4), (True, False)):
        sizes = {
            tuple(len(batch) for batch in BatchSampler(shard, size, drop))
            for shard in shards(n, num_replicas)
        }
        assert len(sizes) == 1
