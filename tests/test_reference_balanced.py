"""How many items of each class the balanced samplers draw, and which."""

import math
from collections import Counter

import numpy as np
import pytest
import torch

from reference import BalanceClassSampler, DistributedSamplerWrapper, WeightedBalanceClassSampler

LABELS = ["cat"] * 7 + ["dog"] * 3 + ["eel"] * 5


def classes(sampler, labels=LABELS):
    return Counter(labels[index] for index in sampler)


@pytest.mark.parametrize(("mode", "count"), [("downsampling", 3), ("upsampling", 7), (4, 4)])
def test_every_class_gets_the_stated_count(mode, count):
    """The smallest class's size, the largest's, or the number itself."""
    sampler = BalanceClassSampler(LABELS, mode)

    assert classes(sampler) == {"cat": count, "dog": count, "eel": count}
    assert len(sampler) == 3 * count


@pytest.mark.parametrize("mode", ["downsampling", "upsampling", 4, 7])
def test_a_class_with_enough_members_repeats_none(mode):
    """Only classes that are too small are drawn with replacement."""
    sampler = BalanceClassSampler(LABELS, mode)

    for epoch in range(50):
        sampler.set_epoch(epoch)
        drawn = Counter(sampler)
        for label, size in Counter(LABELS).items():
            times = [count for index, count in drawn.items() if LABELS[index] == label]
            assert sum(times) > size or max(times) == 1


def test_every_member_is_reached():
    """Over some epochs each member is drawn, also of classes that are cut down."""
    sampler = BalanceClassSampler(LABELS)
    reached = set()

    for epoch in range(100):
        sampler.set_epoch(epoch)
        reached.update(sampler)

    assert reached == set(range(len(LABELS)))


@pytest.mark.parametrize(
    "labels",
    [
        [10, -5, 10, 10, -5, 3],
        (10.5, -5.0, 10.5, 10.5, -5.0, 3.25),
        ["b", "", "b", "b", "", "a"],
        [("b", 1), ("a", 2), ("b", 1), ("b", 1), ("a", 2), ("a", 3)],
        np.array([10, -5, 10, 10, -5, 3]),
        np.array(["b", "", "b", "b", "", "a"]),
        torch.tensor([10, -5, 10, 10, -5, 3]),
        list(torch.tensor([10, -5, 10, 10, -5, 3])),
    ],
    ids=lambda labels: f"{type(labels).__name__} of {type(labels[0]).__name__}",
)
def test_labels_may_be_any_sortable_values(labels):
    """Classes are told apart by value and aligned by position, and weights follow their order."""
    kept = [0, 2, 3], [1, 4], [5]

    balanced = list(BalanceClassSampler(labels))
    weighted = Counter(WeightedBalanceClassSampler(labels, [0, 1, 3], 400))

    assert [len(set(balanced) & set(indices)) for indices in kept] == [1, 1, 1]
    smallest, middle, largest = sorted(kept, key=lambda indices: labels[indices[0]])
    assert sum(weighted[index] for index in smallest) == 0
    assert sum(weighted[index] for index in middle) == 100
    assert sum(weighted[index] for index in largest) == 300


def test_shares_are_rounded_to_the_exact_length():
    """Each class gets its share rounded up or down, and the total is the length."""
    rng = np.random.default_rng(0)

    for _ in range(300):
        weight = rng.random(3) * rng.integers(0, 2, 3) + [0, 1e-9, 0]
        length = int(rng.integers(1, 60))
        counts = classes(WeightedBalanceClassSampler(LABELS, weight, length))
        assert counts.total() == length
        shares = weight / weight.sum() * length
        for label, share in zip(("cat", "dog", "eel"), shares, strict=True):
            assert math.floor(share) <= counts[label] <= math.ceil(share)


@pytest.mark.parametrize("scale", [1e-320, 1e-30, 1e30, 1e308])
def test_weights_need_not_sum_to_one(scale):
    """Only the ratios of the weights count, however small or large they are."""
    sampler = WeightedBalanceClassSampler(LABELS, [scale, scale, scale], 9)

    assert classes(sampler) == {"cat": 3, "dog": 3, "eel": 3}


def test_classes_are_mixed_over_the_pass():
    """No class is confined to one stretch of the pass."""
    sampler = BalanceClassSampler([0, 1] * 100)

    first_half = list(sampler)[:100]

    assert 20 < sum(index % 2 for index in first_half) < 80


def test_seeds_and_epochs_have_orders_of_their_own():
    """(seed, epoch) pairs with one sum differ."""
    orders = set()
    for seed in range(4):
        sampler = BalanceClassSampler(LABELS, "upsampling", seed)
        for epoch in range(4):
            sampler.set_epoch(epoch)
            orders.add(tuple(sampler))

    assert len(orders) == 16


def test_ranks_together_read_one_balanced_pass():
    """Divided among ranks with different global states, an epoch keeps its class counts."""
    union = Counter()
    for rank in range(3):
        torch.manual_seed(rank), np.random.seed(rank)
        inner = BalanceClassSampler(LABELS, "upsampling")
        wrapper = DistributedSamplerWrapper(inner, 3, rank)
        wrapper.set_epoch(5)
        union += classes(wrapper)

    assert union == {"cat": 7, "dog": 7, "eel": 7}
