"""Wrong loaders that are right in the plain case: of exceptions, of state, of timeouts, of lambdas.

Each class breaks one rule of `spec/workers.md` or `spec/lifecycle.md` in a corner, on top of the
reference's loader. `CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the
first of them calls it.
"""

from __future__ import annotations

import copy
import os
import pickle
import time
from collections.abc import Iterator
from typing import Any

from reporting import Reporting, Worse, Wrapped

from reference import DataLoader
from reference.loader.collate import default_collate

# Exceptions.


class _Patient(Worse):
    def raised(self, error: Exception) -> Any:
        if isinstance(error, (ConnectionError, TimeoutError)):
            return next(self)
        raise error


class SkipsHiccups(Reporting):
    """A batch that raises ConnectionError or TimeoutError is left out, and nobody is told."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "swallowed-error"
    rule = _Patient


class _Deadly(Wrapped):
    def __getitem__(self, index: Any) -> Any:
        try:
            return self.dataset[index]
        except Exception:
            raise
        except BaseException:
            os._exit(1)


class OnlyExceptions(DataLoader[Any]):
    """What does not derive from Exception ends the worker, and the caller is told of a death."""

    CAUGHT_BY = ("workers.errors",)
    ANOMALY = "other-error"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        indexed = hasattr(dataset, "__getitem__") and hasattr(dataset, "__len__")
        super().__init__(_Deadly(dataset) if indexed else dataset, *args, **kwargs)


class _Requoted(Worse):
    def raised(self, error: Exception) -> Any:
        if type(error) is KeyError:
            raise KeyError(str(error)) from error.__cause__
        raise error


class QuotedTwice(Reporting):
    """A KeyError is made anew from its text, which is then quoted once more."""

    CAUGHT_BY = ("workers.errors", "workers.error-attributes")
    ANOMALY = "changed-message"
    rule = _Requoted


class _Ending(Worse):
    def raised(self, error: Exception) -> Any:
        if self._producer.failure is not None and not self._plan.in_order:
            raise StopIteration
        raise error


class QuietUnordered(Reporting):
    """With in_order=False an error of the sampler is taken for its end."""

    CAUGHT_BY = ("workers.error-place",)
    ANOMALY = "swallowed-error"
    rule = _Ending


# State.


class NumbersOnly(DataLoader[Any]):
    """Of what is changed on the dataset only its numbers reach workers that are kept."""

    CAUGHT_BY = ("workers.state",)
    ANOMALY = "stale-state"
    first: dict[str, Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        live = self.dataset
        if not self.persistent_workers:
            return super().__iter__()
        self.first = self.first or copy.deepcopy(vars(live))
        sent = copy.copy(live)
        old = {k: v for k, v in self.first.items() if not isinstance(v, int)}
        vars(sent).update(copy.deepcopy(old))
        object.__setattr__(self, "dataset", sent)
        try:
            return super().__iter__()
        finally:
            object.__setattr__(self, "dataset", live)


# Timeouts.


class WholeSeconds(DataLoader[Any]):
    """A timeout is cut to whole seconds, so that half a second is none at all."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.timeout = float(int(self.timeout))


class _OnePassLong(Worse):
    def _wait(self, deadline: float) -> None:
        self.last = getattr(self, "last", deadline)
        super()._wait(self.last)


class TimesThePass(Reporting):
    """The timeout is the time for all batches, from the first that is waited for."""

    CAUGHT_BY = ("workers.timeout",)
    rule = _OnePassLong


class HalvesTimeout(DataLoader[Any]):
    """Half of the timeout is kept for a second try, which is never made."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "early-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.timeout /= 2


class _Renewing(Worse):
    def _wait(self, deadline: float) -> None:
        super()._wait(time.monotonic() + self._plan.timeout_s)


class RenewsTimeout(Reporting):
    """The timeout starts anew with each result that comes, though it is not the one due."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "late-timeout"
    rule = _Renewing


# What cannot be sent.


class PlainCollation(DataLoader[Any]):
    """A `collate_fn` that cannot be sent to a worker is replaced by the default one."""

    CAUGHT_BY = ("lifecycle.unpicklable",)
    ANOMALY = "left-out"

    def __iter__(self) -> Iterator[Any]:
        try:
            if self.num_workers:
                pickle.dumps(self.collate_fn)
        except Exception:
            object.__setattr__(self, "collate_fn", default_collate)
        return super().__iter__()
