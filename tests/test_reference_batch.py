"""BatchSampler around samplers that keep an eye on it."""

import copy
import itertools
import pickle

import pytest

from reference import BatchSampler, DistributedSampler, SequentialSampler


class Watched:
    """Yields 0, 1, ... up to `count`, then raises `error`; fails if asked beyond its end."""

    def __init__(self, count, error=None):
        self.count, self.error, self.asked = count, error, 0

    def __iter__(self):
        self.asked = 0
        return self

    def __next__(self):
        assert self.asked <= self.count, "asked again after its end"
        self.asked += 1
        if self.asked <= self.count:
            return self.asked - 1
        raise self.error or StopIteration


@pytest.mark.parametrize("drop_last", [True, False])
@pytest.mark.parametrize("count", range(8))
def test_the_inner_end_is_asked_for_once(count, drop_last):
    """After StopIteration the inner iterator is left alone, and its length is never needed."""
    batches = list(BatchSampler(Watched(count), 3, drop_last))

    assert sum(map(len, batches)) == (count - count % 3 if drop_last else count)


@pytest.mark.parametrize("drop_last", [True, False])
def test_an_iterator_that_restarts_when_iterated_is_read_once(drop_last):
    """An inner sampler that is its own iterator, and starts over in __iter__, is one pass."""
    assert list(BatchSampler(Watched(6), 3, drop_last)) == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("drop_last", [True, False])
def test_batches_are_drawn_one_at_a_time(drop_last):
    """k batches of an endless sampler take k * batch_size items."""
    inner = Watched(float("inf"))

    batches = list(itertools.islice(BatchSampler(inner, 3, drop_last), 4))

    assert (len(batches), inner.asked) == (4, 12)


@pytest.mark.parametrize("drop_last", [True, False])
def test_an_error_comes_after_all_complete_batches(drop_last):
    """The inner exception itself is raised, once the complete batches are out."""
    error = KeyError("inner")
    batches = iter(BatchSampler(Watched(7, error), 3, drop_last))

    assert [next(batches), next(batches)] == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(KeyError) as caught:
        next(batches)
    assert caught.value is error


def test_a_batch_belongs_to_the_caller():
    """Changing a batch affects no other batch and no later pass."""
    sampler = BatchSampler(SequentialSampler(range(5)), 2, False)
    expected = list(sampler)

    for batch in sampler:
        batch.clear()

    assert list(sampler) == expected


def test_without_an_inner_length_there_is_none():
    """len is a TypeError if the inner sampler has no length."""
    with pytest.raises(TypeError):
        len(BatchSampler(Watched(3), 2, False))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_set_epoch_is_there_exactly_if_the_inner_sampler_has_it(copied):
    """hasattr tells the truth, also of copies, and the call reaches the inner sampler."""
    inner = DistributedSampler(range(50), 2, 0)
    batches = copied(BatchSampler(inner, 7, False))
    inner.set_epoch(4)

    batches.set_epoch(4)

    assert [index for batch in batches for index in batch] == list(inner)
    assert not hasattr(copied(BatchSampler(SequentialSampler(range(5)), 2, False)), "set_epoch")
