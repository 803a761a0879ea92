"""Errors, in workers and without."""

import sys
from dataclasses import dataclass

import pytest
import torch
from test_reference_loader import EACH_COUNT, LIMIT_S, Squares, failing, outcomes
from test_reference_loader import bounded as bounded

from reference import DataLoader, WorkerError
from reference.loader.failure import Failure, received, report


class Odd(Exception):
    def __init__(self, *, code):
        super().__init__(f"code {code}")
        self.code = code


class Two(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


class Messaged(Exception):
    message = "m"


class Silent(Exception):
    def __str__(self):
        raise ValueError


class Holding(Exception):
    def __init__(self, text):
        super().__init__(text)
        self.function = lambda: 0


@dataclass(frozen=True)
class Frozen(Exception):
    """It refuses that anybody sets an attribute."""


class Local(Exception):
    pass


Local.__qualname__ = "nowhere.Local"
ERRORS = {
    "os": lambda: FileNotFoundError(2, "none", "file"),
    "key": lambda: KeyError("k"),
    "odd": lambda: Odd(code=3),
    "two": lambda: Two(1, 2),
    "messaged": lambda: Messaged("text"),
    "frozen": Frozen,
    "unicode": lambda: UnicodeDecodeError("utf8", b"x", 0, 1, "why"),
}
TOLD = {
    "holding": lambda: Holding("text"),
    "local": lambda: Local("text"),
    "interrupt": lambda: KeyboardInterrupt("text"),
}


@EACH_COUNT
@pytest.mark.parametrize("name", ERRORS)
def test_error_arrives_as_itself(name, workers):
    """An exception keeps type, args and attributes, comes in its place, and the pass goes on."""
    original = ERRORS[name]()
    seen = outcomes(iter(DataLoader(failing(ERRORS[name]), num_workers=workers)))
    error = seen.pop(3)
    assert [b.item() for b in seen] == [0, 1, 2, 4, 5]
    assert (type(error), error.args, str(error)) == (type(original), original.args, str(original))
    assert vars(error) == vars(original)
    assert getattr(error, "errno", 0) == getattr(original, "errno", 0)
    assert not workers or "in __getitem__" in str(error.__cause__)


@pytest.mark.parametrize("name", TOLD)
def test_error_that_cannot_travel_is_told(name):
    """Any other exception arrives as an error with type, text and traceback."""
    seen = outcomes(iter(DataLoader(failing(TOLD[name]), num_workers=1)))
    assert isinstance(seen[3], WorkerError)
    assert type(TOLD[name]()).__name__ in str(seen[3]) and "in __getitem__" in str(seen[3])
    assert "text" in str(seen[3]) and len(seen) == 6


def test_error_without_a_text():
    """An exception whose text cannot be had arrives too."""
    assert type(received(report(Failure(Silent(1))), "worker 0").error) is Silent


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no groups before")
def test_group_of_errors_arrives_as_itself():
    """An ExceptionGroup keeps its members."""
    group = ExceptionGroup("both", [ValueError(1), KeyError(2)])  # noqa: F821
    error = received(report(Failure(group)), "worker 0").error
    assert type(error) is type(group) and repr(error.exceptions) == repr(group.exceptions)


@EACH_COUNT
def test_stop_iteration_is_an_error(workers):
    """StopIteration of user code does not end a pass."""

    def collate(batch):
        raise StopIteration("from collate")

    dataset = failing(StopIteration)
    seen = outcomes(iter(DataLoader(dataset, num_workers=workers)))
    assert len(seen) == 6 and "StopIteration" in str(seen[3])
    seen = outcomes(iter(DataLoader(range(3), num_workers=workers, collate_fn=collate)))
    assert ["collate_fn raised StopIteration" in str(error) for error in seen] == [True] * 3


@EACH_COUNT
def test_error_of_the_sampler_comes_last(workers):
    """All batches drawn before come first; then the error, once; then the end."""

    def sampler():
        yield from range(4)
        raise ValueError("of the sampler")

    loader = DataLoader(range(9), None, sampler=sampler(), num_workers=workers)
    seen = outcomes(iter(loader))
    assert seen[:4] == [0, 1, 2, 3] and isinstance(seen[4], ValueError) and len(seen) == 5


@EACH_COUNT
def test_sampler_that_cannot_start(workers):
    """An error of iter(sampler) is raised by next()."""

    class Sampler:
        def __iter__(self):
            raise ValueError("at once")

    (error,) = outcomes(iter(DataLoader(range(9), sampler=Sampler(), num_workers=workers)))
    assert isinstance(error, ValueError)


@pytest.mark.parametrize("what", ["index", "batch"])
def test_unpicklable_is_an_error_in_its_place(what):
    """Neither an index nor a batch that cannot be pickled makes anyone wait."""

    class Data(Squares):
        def __getitem__(self, index):
            return (lambda: 0) if index == 2 and what == "batch" else index

    indices = [0, 1, (lambda: 0) if what == "index" else 2, 3]
    loader = DataLoader(Data(4), None, sampler=indices, num_workers=2)
    seen = outcomes(iter(loader))
    error = seen.pop(2)
    assert seen == [0, 1, 3] and "sent" in str(error)


def test_failure_of_worker_init_fn_lasts():
    """It is reported as itself by every call."""

    def start(worker):
        raise Odd(code=worker)

    for persistent in (False, True):
        loader = DataLoader(
            range(4), num_workers=2, worker_init_fn=start, persistent_workers=persistent
        )
        seen = outcomes(iter(loader), calls=9)
        assert [type(error) for error in seen] == [Odd] * 9 and seen[0].code == 0


def test_timeout_loses_nothing():
    """After the error of a timeout the pass goes on with the batch that was late."""

    class Late(Squares):
        def __getitem__(self, index):
            if index == 1:
                gate.wait(LIMIT_S)
            return index

    gate = torch.multiprocessing.Event()
    iterator = iter(DataLoader(Late(4), num_workers=2, timeout=0.2))
    assert next(iterator).item() == 0
    with pytest.raises(RuntimeError, match=r"timeout=0\.2"):
        next(iterator)
    gate.set()
    assert [b.item() for b in outcomes(iterator) if torch.is_tensor(b)] == [1, 2, 3]


def test_timeout_of_weeks():
    """A timeout may be longer than poll(2) waits at a time."""
    loader = DataLoader(range(3), num_workers=1, timeout=1e9)

    assert [batch.item() for batch in loader] == [0, 1, 2]


def test_interrupted_call_loses_nothing():
    """A KeyboardInterrupt of the sampler goes through next(), and the next call goes on."""

    class Sampler:
        def __init__(self):
            self.place = 0

        def __iter__(self):
            return self

        def __next__(self):
            if self.place == 6:
                raise StopIteration
            if self.place == 4 and not waiting:
                waiting.append(1)
                raise KeyboardInterrupt
            self.place += 1
            return self.place - 1

    waiting = []
    iterator = iter(DataLoader(range(9), None, sampler=Sampler(), num_workers=1))
    seen = [next(iterator), next(iterator)]
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert seen + outcomes(iterator) == [0, 1, 2, 3, 4, 5]
