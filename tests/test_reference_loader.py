"""What the reference loader delivers, with and without workers; tools of the other loader tests."""

import collections
import multiprocessing
import signal
from typing import NamedTuple

import numpy as np
import pytest
import torch

from reference import DataLoader, RandomSampler, default_collate

LIMIT_S = 60
EACH_COUNT = pytest.mark.parametrize("workers", [0, 1, 3])


@pytest.fixture(autouse=True)
def bounded():
    """Ends a test that waits for ever: SIGALRM interrupts whatever the main process does.

    Workers are forked, so that the datasets of the tests may be local classes.
    """
    method = multiprocessing.get_start_method()
    multiprocessing.set_start_method("fork", force=True)
    signal.signal(signal.SIGALRM, _late)
    signal.alarm(LIMIT_S)
    yield
    signal.alarm(0)
    multiprocessing.set_start_method(method, force=True)


def _late(*_):
    raise TimeoutError(f"the test took more than {LIMIT_S} s")


class Squares:
    def __init__(self, n):
        self.n = n

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return index, torch.full((30, 40, 10), float(index * index))


class Point(NamedTuple):
    x: object
    y: object


class Record(dict):
    pass


def failing(error, at=3):
    class Failing(Squares):
        def __getitem__(self, index):
            if index == at:
                raise error()
            return index

    return Failing(6)


def outcomes(iterator, calls=100):
    """What each call of next() gives: a batch, or the exception."""
    seen = []
    for _ in range(calls):
        try:
            seen.append(next(iterator))
        except StopIteration:
            break
        except Exception as error:
            seen.append(error)
    return seen


@EACH_COUNT
@pytest.mark.parametrize("drop_last", [False, True])
def test_batches_come_in_order(workers, drop_last):
    """Each batch is the collation of its items, for any number of workers."""
    loader = DataLoader(Squares(10), 4, num_workers=workers, drop_last=drop_last)

    batches = list(loader)

    assert [b[0].tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]][: len(loader)]
    assert all((b[1][:, 3, 3, 3] == b[0] ** 2).all() for b in batches)
    assert len(batches) == 3 - drop_last


@EACH_COUNT
def test_each_way_to_sample(workers):
    """Indices come from sampler, batch_sampler or shuffle, one by one without a batch size."""
    data = range(100)

    def passed(**options):
        return [b.tolist() for b in DataLoader(data, num_workers=workers, **options)]

    assert passed(sampler=[3, 1, 2], batch_size=2) == [[3, 1], [2]]
    assert passed(batch_sampler=[[3], [1, 2]]) == [[3], [1, 2]]
    alone = DataLoader(data, None, sampler=[7, 5], num_workers=workers)
    assert list(alone) == [7, 5]
    shuffled = passed(shuffle=True, batch_size=100, generator=torch.Generator().manual_seed(1))
    assert shuffled == [list(RandomSampler(data, generator=torch.Generator().manual_seed(1)))]


@pytest.mark.parametrize("in_order", [True, False])
def test_late_first_batch(in_order):
    """A slow worker holds the others up in order only; each batch comes once."""

    class Slow(Squares):
        def __getitem__(self, index):
            if index == 0:
                gate.wait(LIMIT_S)
            return index

    gate = torch.multiprocessing.Event()
    iterator = iter(DataLoader(Slow(8), None, num_workers=2, in_order=in_order))
    if in_order:
        gate.set()
    first = next(iterator)
    gate.set()
    seen = [first, *iterator]
    assert seen == [*range(8)] if in_order else (first == 1 and sorted(seen) == [*range(8)])


@EACH_COUNT
def test_empty_data(workers):
    """An empty dataset gives no batch and the length 0, shuffled or not."""
    for shuffle in (False, True):
        loader = DataLoader([], 3, shuffle=shuffle, num_workers=workers)
        assert (len(loader), list(loader)) == (0, [])


@EACH_COUNT
def test_iterators_are_independent_and_stay_ended(workers):
    """Two iterators of one loader do not touch each other, and an ended one stays ended."""
    loader = DataLoader(range(4), num_workers=workers, persistent_workers=workers > 0)
    first, second = iter(loader), iter(loader)
    pairs = [(a.item(), b.item()) for a, b in zip(first, second, strict=True)]
    assert pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert outcomes(first) == outcomes(first) == []


@EACH_COUNT
def test_dataset_that_fetches_whole_batches(workers):
    """`__getitems__` is called once for a batch; an answer of another length is an error."""

    class Whole(list):
        def __getitems__(self, indices):
            return [self[i] * 10 for i in indices if i != 3]

    loader = DataLoader(Whole(range(6)), 2, num_workers=workers)
    first, second, third = outcomes(iter(loader))
    assert (first.tolist(), third.tolist()) == ([0, 10], [40, 50])
    assert "asked for 2 items, but gave 1" in str(second)


def test_collation_keeps_structure():
    """Containers keep their types, numbers become tensors, text is listed."""
    record = Record(a=1, b=(2.0, "x"))
    record.note = "kept"
    point = Point(np.arange(3), [True, b"y"])
    batch = default_collate([Point(record, point), Point(record, point)])
    assert type(batch) is Point and type(batch.x) is Record and type(batch.y) is Point
    assert batch.x["a"].tolist() == [1, 1] and batch.x["b"][1] == ("x", "x")
    assert batch.x["b"][0].dtype is torch.float64
    assert batch.y.x.shape == (2, 3) and batch.y.y[0].dtype is torch.bool
    ordered = default_collate([collections.OrderedDict(z=1)])
    assert type(ordered) is collections.OrderedDict


class Square(collections.namedtuple("Square", ["side", "area"])):
    """Its constructor takes one of its two fields."""

    def __new__(cls, side):
        return super().__new__(cls, side, side**2)


def test_a_namedtuple_with_a_constructor_of_its_own_keeps_its_type():
    """Its fields are filled in, and its constructor is not asked."""
    batch = default_collate([Square(2), Square(3)])

    assert type(batch) is Square
    assert batch.side.tolist() == [2, 3] and batch.area.tolist() == [4, 9]


@pytest.mark.parametrize("column", [(1, 0.1), (2**24 + 1, 0.5), (True, 0.1), (1, 0.1j), (0.1, 1)])
def test_collation_rounds_no_number(column):
    """A column of Python's numbers has a type that holds each of them, whichever comes first."""
    assert default_collate([*column]).tolist() == [*column]


@pytest.mark.parametrize("sample", [None, object(), np.array(["a"]), {1}])
def test_collation_refuses(sample):
    """What cannot be collated is a TypeError with the name of the type."""
    with pytest.raises(TypeError, match=type(sample).__name__):
        default_collate([sample])


@EACH_COUNT
def test_reused_buffer(workers):
    """A dataset that overwrites what it returned is told of, or does no harm."""

    class Reused(Squares):
        buffer = torch.zeros(1)

        def __getitem__(self, index):
            return self.buffer.fill_(index)

    with pytest.warns(UserWarning, match="overwritten"):
        list(DataLoader(Reused(4), 2, num_workers=workers))
    alone = list(DataLoader(Reused(4), None, num_workers=workers))
    assert [sample.item() for sample in alone] == [0, 1, 2, 3]
    kept = list(DataLoader(Reused(4), 1, num_workers=workers))
    assert [sample.item() for sample in kept] == [0, 1, 2, 3]


def test_repeated_index_is_no_reused_buffer(recwarn):
    """One index drawn twice may well give one object."""
    data = [torch.zeros(1), torch.ones(1)]
    list(DataLoader(data, 2, sampler=[1, 1, 0, 0]))
    assert not recwarn.list


@EACH_COUNT
def test_sampler_is_read_once(workers):
    """One pass calls iter() on the sampler once, and never polls an ended one."""
    calls = []

    class Sampler:
        def __iter__(self):
            calls.append("iter")
            return self

        def __next__(self):
            calls.append("next")
            if calls.count("next") > 3:
                raise StopIteration
            return len(calls)

    loader = DataLoader(range(100), 2, sampler=Sampler(), num_workers=workers)
    iterator = iter(loader)
    assert calls[:2] == ["iter", "next"]
    list(iterator)
    assert outcomes(iterator) == []
    assert (calls.count("iter"), calls.count("next")) == (1, 4)


@EACH_COUNT
def test_epoch_announced_after_the_start(workers):
    """`set_epoch` after iter() is for the next pass, even if the sampler is a lazy generator."""

    class Sampler:
        epoch = 0

        def __iter__(self):
            epoch = self.epoch
            yield from (epoch * 10 + i for i in range(3))

    sampler = Sampler()
    loader = DataLoader(range(100), None, sampler=sampler, num_workers=workers)
    iterator = iter(loader)
    sampler.epoch = 1
    assert list(iterator) == [0, 1, 2]
    assert list(loader) == [10, 11, 12]
