"""What constructors and set_epoch refuse, and what they take."""

import re

import numpy as np
import pytest
import torch

from reference import (
    BalanceClassSampler,
    BatchSampler,
    DatasetFromSampler,
    DistributedSampler,
    DistributedSamplerWrapper,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedBalanceClassSampler,
    WeightedRandomSampler,
)

DATA = range(5)
LABELS = ["a", "b", "a"]
NAN, INF = float("nan"), float("inf")

# (the argument at fault, sampler, positional arguments, keyword arguments)
REFUSED = [
    ("data_source", SequentialSampler, (5,), {}),
    ("data_source", SequentialSampler, (None,), {}),
    ("data_source", SequentialSampler, (iter([1]),), {}),
    ("data_source", RandomSampler, (5,), {}),
    ("data_source", RandomSampler, ([], True, 3), {}),
    ("data_source", RandomSampler, ([], False, 3), {}),
    *[("replacement", RandomSampler, (DATA, bad), {}) for bad in (1, None, "no")],
    *[
        ("num_samples", RandomSampler, (DATA, False, bad), {})
        for bad in (0, -1, 2.0, "2", True, np.float64(2), np.bool_(True), torch.tensor([1, 2]))
    ],
    *[("generator", RandomSampler, (DATA, False, 3, bad), {}) for bad in (1, "g", torch.Generator)],
    *[
        ("indices", SubsetRandomSampler, (bad,), {})
        for bad in (None, 5, "ab", [1.0], [True], [None], [[1]], torch.tensor([0.5]), np.eye(2))
    ],
    ("generator", SubsetRandomSampler, (DATA, 1), {}),
    *[
        ("weights", WeightedRandomSampler, (bad, 1), {})
        for bad in ([], [0, 0], [NAN, 1], [INF, 1], [1, -1], [[1, 2]], 5, None, "ab", [1, [2]])
    ],
    ("weights", WeightedRandomSampler, (torch.ones(3, 1), 1), {}),
    ("weights", WeightedRandomSampler, ([10**400], 1), {}),
    *[("num_samples", WeightedRandomSampler, ([1, 2], bad), {}) for bad in (0, -1, 2.0, True)],
    ("num_samples", WeightedRandomSampler, ([1, 0, 0], 2, False), {}),
    ("num_samples", WeightedRandomSampler, ([1, 1, 1], 4, False), {}),
    ("replacement", WeightedRandomSampler, ([1, 2], 1, 0), {}),
    ("generator", WeightedRandomSampler, ([1, 2], 1, True, 0), {}),
    ("sampler", BatchSampler, (5, 2, False), {}),
    *[("batch_size", BatchSampler, (DATA, bad, False), {}) for bad in (0, -1, 2.0, True, None)],
    ("drop_last", BatchSampler, (DATA, 2, 1), {}),
    ("dataset", DistributedSampler, (5, 2, 0), {}),
    *[
        ("num_replicas", sampler, (DATA, bad, 0), {})
        for sampler in (DistributedSampler, DistributedSamplerWrapper)
        for bad in (0, -1, 2.0, True, "2")
    ],
    *[
        ("rank", sampler, (DATA, 2, bad), {})
        for sampler in (DistributedSampler, DistributedSamplerWrapper)
        for bad in (-1, 2, 1.0, False, "0")
    ],
    *[
        (name, sampler, (DATA, 2, 0), {name: bad})
        for sampler in (DistributedSampler, DistributedSamplerWrapper)
        for name, bad in (("shuffle", 1), ("drop_last", None), ("seed", 1.0), ("seed", None))
    ],
    ("sampler", DistributedSamplerWrapper, (5, 2, 0), {}),
    ("sampler", DatasetFromSampler, (5,), {}),
    *[("labels", BalanceClassSampler, (bad,), {}) for bad in ([], 5, None, [[1]], [1, "a"])],
    ("labels", BalanceClassSampler, (np.zeros((2, 2)),), {}),
    *[("mode", BalanceClassSampler, (LABELS, bad), {}) for bad in ("up", 0, -1, 1.5, True, None)],
    ("seed", BalanceClassSampler, (LABELS, 1, 0.5), {}),
    *[
        ("weight", WeightedBalanceClassSampler, (LABELS, bad, 4), {})
        for bad in ([1], [1, 1, 1], [0, 0], [-1, 2], [NAN, 1], [INF, 1], [], None)
    ],
    *[
        ("length", WeightedBalanceClassSampler, (LABELS, [1, 1], bad), {})
        for bad in (0, -1, 2.0, True, "4")
    ],
]


def described(case):
    name, sampler, positional, keywords = case
    shown = re.sub(r" at 0x\w+", "", repr([*positional, *keywords.values()]))
    return f"{sampler.__name__}-{name}-{shown:.50}"


@pytest.mark.parametrize("case", REFUSED, ids=described)
def test_an_invalid_argument_is_named_at_construction(case):
    """A wrong argument is a ValueError or TypeError that begins with its name."""
    name, sampler, positional, keywords = case

    with pytest.raises((ValueError, TypeError), match=f"^{name} "):
        sampler(*positional, **keywords)


@pytest.mark.parametrize("integer", [np.int64, np.uint8, torch.tensor])
def test_other_integer_types_mean_the_same(integer):
    """Numpy and torch integers work wherever Python ints do."""
    three, one = integer(3), integer(1)

    assert len(list(RandomSampler(DATA, False, three))) == 3
    assert len(list(WeightedRandomSampler([1, 1], three))) == 3
    assert list(BatchSampler(DATA, three, False)) == [[0, 1, 2], [3, 4]]
    for sampler in (DistributedSampler, DistributedSamplerWrapper):
        ours = list(sampler(DATA, three, one, shuffle=True, seed=one))
        assert ours == list(sampler(DATA, 3, 1, shuffle=True, seed=1))
    assert len(BalanceClassSampler(LABELS, three, one)) == 6
    assert len(WeightedBalanceClassSampler(LABELS, [1, 1], three, one)) == 3


EPOCHED = [
    DistributedSampler(range(50), 2, 0),
    DistributedSamplerWrapper(range(50), 2, 0, shuffle=True),
    BalanceClassSampler([0, 1] * 20),
    WeightedBalanceClassSampler([0, 1] * 20, [1, 2], 30),
]


@pytest.mark.parametrize("sampler", EPOCHED, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("epoch", ["1", None, 1.5, True])
def test_set_epoch_refuses_what_is_not_an_integer(sampler, epoch):
    """set_epoch itself raises, not the pass after it."""
    with pytest.raises(TypeError, match=r"^epoch "):
        sampler.set_epoch(epoch)


@pytest.mark.parametrize("sampler", EPOCHED, ids=lambda s: type(s).__name__)
def test_set_epoch_takes_numpy_integers(sampler):
    """numpy.int64(3) is epoch 3."""
    sampler.set_epoch(3)
    expected = list(sampler)

    sampler.set_epoch(np.int64(3))

    assert list(sampler) == expected


@pytest.mark.parametrize("sampler", [DistributedSampler, DistributedSamplerWrapper])
@pytest.mark.parametrize("given", [{}, {"rank": 0}, {"num_replicas": 2}])
def test_without_a_process_group_ranks_must_be_given(sampler, given):
    """Leaving out rank or num_replicas is one clear error at construction."""
    with pytest.raises(RuntimeError, match="num_replicas and rank"):
        sampler(DATA, **given)


def test_subset_takes_every_kind_of_indices():
    """Lists, tuples, ranges, arrays and tensors all give Python ints."""
    kinds = [
        [3, 4],
        (3, 4),
        range(3, 5),
        np.array([3, 4], np.int32),
        torch.tensor([3, 4]),
        [np.int64(3), torch.tensor(4)],
    ]

    for indices in kinds:
        drawn = list(SubsetRandomSampler(indices))
        assert sorted(drawn) == [3, 4]
        assert {type(index) for index in drawn} == {int}
