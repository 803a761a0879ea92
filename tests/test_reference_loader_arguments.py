"""Which arguments the reference loader refuses, and how."""

import multiprocessing

import numpy as np
import pytest
import torch
from test_reference_loader import bounded as bounded
from torch.utils import data

import reference
from reference import BatchSampler, DataLoader, IterableDataset, SequentialSampler


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(4))


BATCHES = BatchSampler(range(4), 2, False)
REFUSED = {
    "shuffle": {"shuffle": True, "sampler": [0]},
    "batch_sampler": {"batch_sampler": BATCHES, "batch_size": 2},
    "batch_sampler ": {"batch_sampler": BATCHES, "batch_size": None},
    "batch_sampler  ": {"batch_sampler": BATCHES, "shuffle": True},
    "batch_sampler   ": {"batch_sampler": BATCHES, "sampler": [0]},
    "batch_sampler    ": {"batch_sampler": BATCHES, "drop_last": True},
    "drop_last": {"batch_size": None, "drop_last": True},
    "batch_size": {"batch_size": 0},
    "batch_size ": {"batch_size": 2.0},
    "batch_size  ": {"batch_size": True},
    "batch_size   ": {"batch_size": "2"},
    "num_workers": {"num_workers": -1},
    "num_workers ": {"num_workers": 2.0},
    "num_workers  ": {"num_workers": True},
    "prefetch_factor": {"prefetch_factor": 0, "num_workers": 1},
    "prefetch_factor ": {"prefetch_factor": 2},
    "prefetch_factor  ": {"prefetch_factor": 1.5, "num_workers": 1},
    "persistent_workers": {"persistent_workers": True},
    "persistent_workers ": {"persistent_workers": 1, "num_workers": 1},
    "timeout": {"timeout": -1, "num_workers": 1},
    "timeout ": {"timeout": 1},
    "timeout  ": {"timeout": float("nan"), "num_workers": 1},
    "timeout   ": {"timeout": "1", "num_workers": 1},
    "multiprocessing_context": {"multiprocessing_context": "spawn"},
    "multiprocessing_context ": {"multiprocessing_context": "nonsense", "num_workers": 1},
    "multiprocessing_context  ": {"multiprocessing_context": 7, "num_workers": 1},
    "collate_fn": {"collate_fn": 7},
    "worker_init_fn": {"worker_init_fn": 7, "num_workers": 1},
    "generator": {"generator": 7},
    "pin_memory": {"pin_memory": 1},
    "pin_memory_device": {"pin_memory_device": 1},
    "in_order": {"in_order": None},
    "sampler": {"sampler": 7},
    "sampler ": {"sampler": BATCHES},
    "sampler  ": {"sampler": data.BatchSampler(data.SequentialSampler(range(4)), 2, False)},
    "dataset": {"dataset": object()},
    "dataset ": {"dataset": data.Dataset()},
    "shuffle ": {"shuffle": 1},
    "shuffle  ": {"dataset": Stream(), "shuffle": True},
    "sampler   ": {"dataset": Stream(), "sampler": [0]},
    "batch_sampler     ": {"dataset": Stream(), "batch_sampler": [[0]]},
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    """A wrong argument is a TypeError or ValueError of the constructor that names it."""
    options = {"dataset": range(4), **REFUSED[name]}
    with pytest.raises((TypeError, ValueError), match=name.strip()):
        DataLoader(**options)


def test_dataset_without_a_length():
    """A sampler makes the length of the dataset needless, len(loader) still needs the sampler's."""

    class Endless:
        def __getitem__(self, index):
            return index

    loader = DataLoader(Endless(), 2, sampler=(i for i in range(3)))
    with pytest.raises(TypeError):
        len(loader)
    assert [b.tolist() for b in loader] == [[0, 1], [2]]
    assert len(DataLoader(Endless(), 2, sampler=[1, 2, 3])) == 2


def test_defaults_read_as_torch_has_them():
    """The loader shows its arguments under torch's names."""
    ours, theirs = DataLoader(range(4), num_workers=1), data.DataLoader(range(4), num_workers=1)
    for name in (
        "batch_size",
        "num_workers",
        "prefetch_factor",
        "timeout",
        "drop_last",
        "in_order",
    ):
        assert getattr(ours, name) == getattr(theirs, name), name


def test_construction_draws_nothing():
    """Neither construction nor a pass without shuffle changes the global generator."""
    before = torch.get_rng_state()
    for workers in (0, 2):
        list(DataLoader(range(4), num_workers=workers))
    assert torch.equal(before, torch.get_rng_state())


def test_shuffle_draws_alike():
    """What a pass draws from the global generator does not depend on the workers."""
    states = []
    for options in ({}, {"num_workers": 1}, {"num_workers": 2, "persistent_workers": True}):
        torch.manual_seed(5)
        loader = DataLoader(range(9), shuffle=True, **options)
        order = [b.item() for _ in range(3) for b in loader]
        states.append((order, torch.get_rng_state().tolist()))
    assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("name", ["dataset", "collate_fn", "worker_init_fn"])
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_unpicklable_argument_is_named(name, method):
    """What cannot be sent to a new process is a TypeError of iter() that names it."""

    class Local(list):
        pass

    options = {"dataset": range(4), name: Local([1]) if name == "dataset" else lambda x: x}
    loader = DataLoader(num_workers=2, multiprocessing_context=method, **options)
    before = set(multiprocessing.active_children())
    with pytest.raises(TypeError, match=name):
        iter(loader)
    assert set(multiprocessing.active_children()) <= before


def _in_daemon(answers):
    try:
        iter(DataLoader(range(4), num_workers=1))
    except Exception as error:
        answers.put(str(error))


def test_daemonic_process_is_refused():
    """A process that may not have children is told so, with the name of the argument."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()
    process = context.Process(target=_in_daemon, args=(answers,), daemon=True)
    process.start()
    process.join(30)
    assert "num_workers" in answers.get()


def test_names_are_exported():
    """The loader and what belongs to it are names of the package."""
    assert {"DataLoader", "IterableDataset", "default_collate", "get_worker_info"} <= set(
        reference.__all__
    )


def test_sampler_of_batches_in_any_role():
    """Without automatic batching a sampler of lists gives lists as indices."""
    batches = BatchSampler(SequentialSampler(range(4)), 2, False)
    loader = DataLoader(np.arange(4) * 10, None, sampler=batches)
    assert [b.tolist() for b in loader] == [[0, 10], [20, 30]]


def test_the_start_method_stays_open() -> None:
    """Neither a loader nor a pass settles the default start method, which is the caller's."""
    before = multiprocessing.get_start_method(allow_none=True)
    multiprocessing.set_start_method(None, force=True)
    try:
        assert len(list(DataLoader([1, 2], num_workers=1))) == 2
        assert multiprocessing.get_start_method(allow_none=True) is None

        multiprocessing.set_start_method("spawn")
        assert DataLoader([1, 2], num_workers=1)._context.get_start_method() == "spawn"
    finally:
        multiprocessing.set_start_method(before, force=True)
