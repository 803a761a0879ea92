"""Errors as values, and their way from a worker to the caller.

An exception arrives as itself if pickle can carry it: same type, same text, with its attributes.
Pickle often cannot: it calls the class with `args`, which is not what a constructor of two or of
keyword-only arguments takes. Then the object is restored without its constructor. If that fails
too, or the text differs, a `WorkerError` tells type, text and traceback. Either way the worker's
traceback is the `__cause__`.
"""

from __future__ import annotations

import pickle
import traceback
from typing import Any, NamedTuple, NoReturn


class WorkerError(RuntimeError):
    """An error of a worker that cannot be raised as itself; the message tells all about it."""


class WorkerDied(WorkerError):
    """A worker process has ended before its work was done."""


class WorkerTraceback(Exception):
    """The traceback in the worker, as text: the cause of the error that is raised here."""

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


class Failure:
    """The outcome of a task that raised. After a lasting one there is no going on."""

    def __init__(self, error: BaseException, lasting: bool = False) -> None:
        self.error = error
        self.lasting = lasting
        self._trace = error.__traceback__

    def throw(self) -> NoReturn:
        try:
            raise self.error.with_traceback(self._trace)
        finally:
            del self  # see Pass.__next__


class Report(NamedTuple):
    """A failure in the form that travels."""

    pickled: bytes | None
    restored: bytes | None
    name: str
    text: str
    trace: str
    lasting: bool


def report(failure: Failure) -> Report:
    error = failure.error
    trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    parts = (type(error), error.args, error.__dict__)
    return Report(
        _pickled(error), _pickled(parts), _name(error), _text(error), trace, failure.lasting
    )


def received(told: Report, worker: str) -> Failure:
    """The failure that a worker has told of; `worker` says which one it was."""
    error = _loaded(told) or WorkerError(f"{told.name} in {worker}: {told.text}\n\n{told.trace}")
    cause = WorkerTraceback(f"in {worker}:\n{told.trace}")
    BaseException.__setattr__(error, "__cause__", cause)  # a frozen dataclass refuses the statement
    return Failure(error, told.lasting)


def stop_iteration(where: str, error: StopIteration) -> RuntimeError:
    """What to raise instead: StopIteration would end the caller's loop as if all were done."""
    return RuntimeError(f"{where} raised {error!r}")


def _loaded(told: Report) -> Exception | None:
    for way in (_unpickle, _restore):
        try:
            error = way(told)
            if isinstance(error, Exception) and (_name(error), _text(error)) == told[2:4]:
                return error
        except Exception:  # anything can happen in the constructor of an exception
            continue
    return None


def _unpickle(told: Report) -> Any:
    return pickle.loads(told.pickled or b"")


def _restore(told: Report) -> Any:
    kind, args, attributes = pickle.loads(told.restored or b"")
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


def _pickled(value: Any) -> bytes | None:
    try:
        return pickle.dumps(value)
    except Exception:
        return None


def _name(error: BaseException) -> str:
    module, name = type(error).__module__, type(error).__qualname__
    return name if module == "builtins" else f"{module}.{name}"


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception as second:
        return f"<its __str__ raised {type(second).__name__}>"
