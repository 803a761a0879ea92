"""Iterable datasets, with and without workers."""

import warnings
from itertools import chain

import pytest
import torch
from test_reference_loader import EACH_COUNT, outcomes
from test_reference_loader import bounded as bounded

import reference
from reference import DataLoader, get_worker_info


class Stream(torch.utils.data.IterableDataset):
    """The numbers below n, divided among the workers."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        start, step = (info.id, info.num_workers) if info else (0, 1)
        return iter(range(start, self.n, step))


class Sized(Stream):
    def __len__(self):
        return self.n


class Same(Sized):
    def __iter__(self):
        return iter(range(self.n))


def passed(dataset, *arguments, **options):
    return [torch.as_tensor(b).tolist() for b in DataLoader(dataset, *arguments, **options)]


def test_the_class_is_torch_s():
    """A dataset of torch.utils.data is iterable here too."""
    assert reference.IterableDataset is torch.utils.data.IterableDataset


@EACH_COUNT
@pytest.mark.parametrize("n", [0, 1, 2, 7, 12])
def test_each_element_once(n, workers):
    """Workers that divide the data deliver each element once, and those without data end."""
    batches = passed(Stream(n), 3, num_workers=workers)
    assert sorted(chain(*batches)) == list(range(n))
    assert sorted(passed(Stream(n), None, num_workers=workers)) == list(range(n))


@EACH_COUNT
@pytest.mark.parametrize("n", [0, 5, 8, 13])
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_drop_last_drops_less_than_one_batch(n, size, workers):
    """What no worker has enough of for a batch is put together."""
    batches = passed(Stream(n), size, num_workers=workers, drop_last=True)
    assert {len(batch) for batch in batches} <= {size} and len(batches) == n // size
    assert len({*chain(*batches)}) == n // size * size


def test_workers_take_turns():
    """The order is that of turns among the workers that still have data, every time."""

    class Uneven(Stream):
        def __iter__(self):
            worker = get_worker_info().id
            return iter([worker * 10 + k for k in range(1 + 2 * worker)])

    loader = DataLoader(Uneven(0), None, num_workers=3, persistent_workers=True)
    for _ in range(5):
        assert list(loader) == [0, 10, 20, 11, 21, 12, 22, 23, 24]
    unordered = DataLoader(Uneven(0), None, num_workers=3, in_order=False)
    assert sorted(unordered) == sorted(loader)


@EACH_COUNT
def test_length_is_true_or_a_type_error(workers):
    """The length is offered without workers only, and is then the number of batches."""
    for n in range(7):
        for drop_last in (False, True):
            loader = DataLoader(Sized(n), 3, num_workers=workers, drop_last=drop_last)
            if workers:
                with pytest.raises(TypeError):
                    len(loader)
            else:
                assert len(loader) == len(list(loader))
    with pytest.raises(TypeError):
        len(DataLoader(Stream(3)))


@pytest.mark.parametrize(("size", "drop"), [(None, False), (1, False), (4, False), (6, True)])
def test_data_not_divided_is_told_of(size, drop):
    """One warning tells of workers that repeat the data, and none of those that do not."""
    with pytest.warns(UserWarning, match="divide") as told:
        list(DataLoader(Same(4), size, num_workers=2, drop_last=drop))
    assert len(told) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        list(DataLoader(Sized(4), size, num_workers=2))


@pytest.mark.parametrize("size", [None, 2])
def test_a_warning_that_raises_costs_no_batch(size):
    """Where warnings are exceptions, the one about data that are not divided comes beside them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = outcomes(iter(DataLoader(Same(4), size, num_workers=2)))

    assert [type(one) for one in found if isinstance(one, Exception)] == [UserWarning]
    batches = [torch.as_tensor(one).tolist() for one in found if not isinstance(one, Exception)]
    with pytest.warns(UserWarning, match="divide"):
        assert batches == passed(Same(4), size, num_workers=2)


@EACH_COUNT
def test_ended_iterator_is_let_alone(workers):
    """Within a pass, an iterator that has ended is not asked again; each pass makes one."""

    class Once(Stream):
        def __iter__(self):
            self.calls = getattr(self, "calls", 0) + 1
            assert self.calls <= (2 if get_worker_info() is None else 1)
            self.ended = False
            return self

        def __next__(self):
            assert not self.ended
            self.ended = True
            raise StopIteration

    loader = DataLoader(Once(0), 2, num_workers=workers)
    assert [list(loader), list(loader)] == [[], []]


@EACH_COUNT
@pytest.mark.parametrize("size", [None, 1])
def test_error_comes_in_its_place(size, workers):
    """An error of the stream comes after what was before it, and the pass goes on if it can."""

    class Failing(Stream):
        def __iter__(self):
            self.place = 0
            return self

        def __next__(self):
            self.place += 1
            if self.place == 3:
                raise ValueError(3)
            if self.place == 6 or getattr(get_worker_info(), "id", 0):
                raise StopIteration
            return self.place

    seen = outcomes(iter(DataLoader(Failing(0), size, num_workers=workers)))
    assert [getattr(b, "args", None) or int(b) for b in seen] == [1, 2, (3,), 4, 5]


@EACH_COUNT
def test_failure_of_iter_lasts(workers):
    """A dataset whose __iter__ raises is reported by every call."""

    class Broken(Stream):
        def __iter__(self):
            raise LookupError("no data")

    seen = outcomes(iter(DataLoader(Broken(0), num_workers=workers)), calls=5)
    assert [(type(error), error.args) for error in seen] == [(LookupError, ("no data",))] * 5


def test_tail_that_cannot_be_sent_is_dropped():
    """Samples that only collate_fn makes sendable are no error; their incomplete batch is lost."""

    class Functions(Stream):
        def __iter__(self):
            numbers = super().__iter__()
            return (lambda k=k: k for k in numbers)

    def collate(functions):
        return torch.tensor([function() for function in functions])

    loader = DataLoader(Functions(6), 2, num_workers=2, drop_last=True, collate_fn=collate)
    assert [b.tolist() for b in loader] == [[0, 2], [1, 3]]
