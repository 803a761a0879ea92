"""What every sampler promises about its passes."""

import copy
import pickle
import random

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

N = 40
LABELS = [index % 3 for index in range(N)]


def generator():
    return torch.Generator().manual_seed(0)


SEEDED = {
    "sequential": lambda: SequentialSampler(range(N)),
    "batch": lambda: BatchSampler(SequentialSampler(range(N)), 3, False),
    "distributed": lambda: DistributedSampler(range(N), 3, 1),
    "balance": lambda: BalanceClassSampler(LABELS, "upsampling"),
    "weighted balance": lambda: WeightedBalanceClassSampler(LABELS, [1, 2, 3], 50),
    "wrapper": lambda: DistributedSamplerWrapper(RandomSampler(range(N)), 3, 1, shuffle=True),
}
OWN_GENERATOR = {
    "random": lambda g: RandomSampler(range(N), generator=g),
    "random, blocks": lambda g: RandomSampler(range(N), False, 2 * N + 3, g),
    "random, replacement": lambda g: RandomSampler(range(N), True, 100, g),
    "subset": lambda g: SubsetRandomSampler(range(N), g),
    "weighted": lambda g: WeightedRandomSampler(range(1, N), 100, True, g),
    "weighted, distinct": lambda g: WeightedRandomSampler(range(1, N), 20, False, g),
}
WITH_GENERATOR = {name: lambda make=make: make(generator()) for name, make in OWN_GENERATOR.items()}
GLOBAL = {name: lambda make=make: make(None) for name, make in OWN_GENERATOR.items()}


def each(*groups):
    makers = {f"{name} {i}": make for i, group in enumerate(groups) for name, make in group.items()}
    return pytest.mark.parametrize("make", makers.values(), ids=makers)


def global_states():
    numpy_state = np.random.get_state()
    return (
        torch.get_rng_state().tolist(),
        numpy_state[1].tolist(),
        numpy_state[2],
        random.getstate(),
    )


@each(SEEDED, WITH_GENERATOR, GLOBAL)
def test_length_is_the_count_of_a_pass(make):
    """len(s) equals what list(s) has, pass after pass."""
    sampler = make()

    assert [len(list(sampler)) for _ in range(3)] == [len(sampler)] * 3


@each(SEEDED, WITH_GENERATOR)
def test_a_private_order_leaves_the_global_generators_alone(make):
    """With a seed or a generator, or without randomness, global states are not written."""
    before = global_states()

    list(make())

    assert global_states() == before


@each(SEEDED, WITH_GENERATOR)
def test_a_private_order_does_not_follow_the_global_generators(make):
    """With a seed or a generator, or without randomness, global states are not read."""
    expected = list(make())

    torch.manual_seed(99), np.random.seed(99), random.seed(99)

    assert list(make()) == expected


@each(GLOBAL)
def test_manual_seed_fixes_a_pass(make):
    """Without a generator the order comes from torch's global one, and from nothing else."""
    sampler = make()
    torch.manual_seed(1)
    first = list(sampler)
    after = global_states()

    torch.manual_seed(1)

    assert list(sampler) == first
    assert global_states()[1:] == after[1:]


@each(SEEDED, WITH_GENERATOR, GLOBAL)
def test_an_iterator_that_nobody_reads_changes_nothing(make):
    """iter(s) and len(s) draw nothing and change no later pass."""
    torch.manual_seed(0)
    expected = list(make())
    torch.manual_seed(0)
    before = global_states()

    sampler = make()
    iter(sampler), len(sampler), iter(sampler)

    assert global_states() == before
    assert list(sampler) == expected


@each(SEEDED)
def test_interleaved_iterators_do_not_disturb_each_other(make):
    """Two iterators that take turns yield what each would yield alone."""
    sampler = make()
    expected = list(sampler)

    turns = list(zip(sampler, sampler, strict=True))

    assert turns == [(item, item) for item in expected]


@each(WITH_GENERATOR, GLOBAL)
def test_a_pass_is_settled_by_its_first_draw(make):
    """A second iterator, opened and advanced, does not change the first one's sequence."""
    torch.manual_seed(0)
    sampler = make()
    alone = list(sampler)
    torch.manual_seed(0)
    sampler = make()

    first = iter(sampler)
    shared = [next(first)]
    list(sampler)
    shared += first

    assert shared == alone


@each(WITH_GENERATOR, GLOBAL)
def test_interleaved_passes_are_those_that_would_have_followed_each_other(make):
    """Two iterators that take turns yield what two passes one after the other yield."""
    torch.manual_seed(0)
    sampler = make()
    one_by_one = list(sampler), list(sampler)
    torch.manual_seed(0)
    sampler = make()

    in_turns = zip(sampler, sampler, strict=True)

    assert tuple(zip(*in_turns, strict=True)) == tuple(map(tuple, one_by_one))


@each(SEEDED, WITH_GENERATOR, GLOBAL)
def test_an_exhausted_iterator_stays_exhausted(make):
    """After its end an iterator yields nothing more."""
    iterator = iter(make())

    list(iterator)

    assert list(iterator) == []


@each(SEEDED, WITH_GENERATOR, GLOBAL)
def test_items_are_python_ints(make):
    """No tensors, numpy integers or bools are yielded."""
    items = [item for items in make() for item in (items if isinstance(items, list) else [items])]

    assert {type(item) for item in items} == {int}


@each(SEEDED, WITH_GENERATOR)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_a_copy_keeps_the_sequence(make, copied):
    """Pickled and deep copies continue as the original does, in its epoch."""
    sampler = make()
    if hasattr(sampler, "set_epoch"):
        sampler.set_epoch(2)
    list(sampler)

    twin = copied(sampler)

    assert list(twin) == list(sampler)
    assert list(twin) == list(sampler)


EPOCHED = {name: make for name, make in SEEDED.items() if name not in ("sequential", "batch")}


@each(EPOCHED)
def test_an_epoch_has_one_order_whatever_came_before(make):
    """The order is a function of seed and epoch: fresh, repeated and revisited epochs agree."""
    sampler = make()
    sampler.set_epoch(1)
    expected = list(sampler)

    for epoch in (1, 0, 5, 1):
        sampler.set_epoch(epoch)
        assert (list(sampler) == expected) == (epoch == 1)


@each(EPOCHED)
def test_set_epoch_leaves_a_begun_pass_alone(make):
    """An iterator that has yielded goes on in its own epoch."""
    sampler = make()
    expected = list(sampler)
    iterator = iter(sampler)
    first = next(iterator)

    sampler.set_epoch(1)

    assert [first, *iterator] == expected


@pytest.mark.parametrize(
    "make",
    [SequentialSampler, RandomSampler, lambda d: DistributedSampler(d, 2, 1, drop_last=True)],
)
def test_a_pass_follows_the_length_of_the_dataset(make):
    """A dataset that grew, shrank or became empty is read in its present length."""
    items = list(range(6))
    sampler = make(items)

    for n in (6, 9, 2, 0, 4):
        items[:] = range(n)
        drawn = list(sampler)
        assert len(drawn) == len(sampler)
        assert set(drawn) <= set(items)


def test_samples_from_data_that_became_empty_are_refused():
    """With a fixed num_samples, an emptied dataset is one clear error."""
    items = [1, 2, 3]
    sampler = RandomSampler(items, num_samples=5)

    items.clear()

    with pytest.raises(ValueError, match="data_source is empty"):
        list(sampler)


@pytest.mark.parametrize(
    "sampler",
    [
        SequentialSampler([]),
        RandomSampler([]),
        SubsetRandomSampler([]),
        BatchSampler([], 2, False),
        DistributedSampler([], 3, 2),
        DistributedSampler([], 3, 2, drop_last=True),
        DistributedSamplerWrapper(RandomSampler([]), 3, 2),
        DistributedSamplerWrapper(RandomSampler([]), 3, 2, shuffle=True),
    ],
    ids=lambda s: type(s).__name__,
)
def test_empty_data_gives_an_empty_pass(sampler):
    """No items, length 0, no error."""
    assert (list(sampler), len(sampler)) == ([], 0)


def test_later_changes_of_arguments_are_not_seen():
    """Indices, weights and labels are copied at construction, and left as they were."""
    indices, weights, labels = torch.arange(5), torch.ones(5, dtype=torch.double), [0, 1, 0, 1, 0]
    weights *= 3
    subset = SubsetRandomSampler(indices)
    weighted = WeightedRandomSampler(weights, 50)
    balanced = BalanceClassSampler(labels)
    assert indices.tolist() == [0, 1, 2, 3, 4]
    assert weights.tolist() == [3.0] * 5

    indices.zero_()
    weights[1:] = 0
    labels.clear()

    assert sorted(subset) == [0, 1, 2, 3, 4]
    assert len(set(weighted)) > 1
    assert len(list(balanced)) == 4


def test_the_default_device_and_dtype_do_not_matter():
    """Under another default device and dtype every sampler draws on the CPU as before."""
    makers = [*SEEDED.values(), *WITH_GENERATOR.values()]
    expected = [list(make()) for make in makers]

    torch.set_default_device("meta")
    torch.set_default_dtype(torch.float64)
    try:
        drawn = [list(make()) for make in makers]
    finally:
        torch.set_default_device(None)
        torch.set_default_dtype(torch.float32)

    assert drawn == expected


def test_a_view_is_one_pass():
    """Every index of the view is an item of the same pass; beyond it is an IndexError."""
    view = DatasetFromSampler(RandomSampler(range(N)))

    items = [view[k] for k in range(len(view))]

    assert sorted(items) == list(range(N))
    assert [view[k] for k in range(N)] == items
    with pytest.raises(IndexError):
        view[N]


def test_a_view_draws_nothing_before_it_is_read():
    """Construction and len(view) leave the generator alone."""
    before = global_states()

    len(DatasetFromSampler(RandomSampler(range(N))))

    assert global_states() == before
