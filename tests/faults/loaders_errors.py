"""Wrong loaders: errors, and options.

Each class breaks one rule of `spec/loader.md`. `CAUGHT_BY` lists the clauses that must report the
fault, `ANOMALY` is what the first of them calls it. A number such as B108 is a row of the corpus of
reported bugs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reporting import Wrapped

from reference import DataLoader

# Errors.


class _Passing(DataLoader[Any]):
    """Changes what its passes do: `passed` is given a right pass."""

    def __iter__(self) -> Iterator[Any]:
        return self.passed(super().__iter__())

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        return right


class WrapsErrors(_Passing):
    """Every error is wrapped, without workers too."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-changed"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from right
        except Exception as error:
            raise RuntimeError(f"a batch failed: {error}") from error


class KeepsText(_Passing):
    """An error is made anew from its text, and loses what else it held."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "arguments-lost"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from right
        except OSError as error:
            raise type(error)(str(error)) from None


class EndsAtIndexError(_Passing):
    """An IndexError ends the pass, as it ends old-style iteration (B005)."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-lost"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from right
        except IndexError:
            return


class ExitsQuietly(_Passing):
    """A SystemExit of the dataset ends the pass."""

    CAUGHT_BY = ("loader.errors",)
    ANOMALY = "error-lost"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        try:
            yield from right
        except SystemExit:
            return


class _Stopping(DataLoader[Any]):
    """Ends a pass at a StopIteration that comes from `where`, as the text of the error says."""

    where = ""

    def __iter__(self) -> Iterator[Any]:
        passed = super().__iter__()
        while True:
            try:
                batch = next(passed)
            except StopIteration:
                return
            except RuntimeError as error:
                if self.where and str(error).startswith(self.where) and "Stop" in str(error):
                    return
                raise
            yield batch


class StopsAtItem(_Stopping):
    """A StopIteration of `__getitem__` ends the pass (B108)."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"
    where = "__getitem__ "


class _Gone:
    """Stands for a sample that did not come."""


class _Mapping(Wrapped):
    """Gives several items at once: those that `map` comes to before it ends."""

    def __getitems__(self, indices: Any) -> list[Any]:
        found = [self.dataset[indices[0]], *map(self.dataset.__getitem__, indices[1:])]
        return found + [_Gone] * (len(indices) - len(found))


class _Present:
    """Collates the samples that came."""

    def __init__(self, collate: Any) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        return self.collate([sample for sample in samples if sample is not _Gone])


class StopsInTheBatch(DataLoader[Any]):
    """A StopIteration of an item that is not the first of its batch cuts the batch short."""

    CAUGHT_BY = ("loader.stop-iteration",)

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        plain = hasattr(dataset, "__getitem__") and not hasattr(dataset, "__getitems__")
        super().__init__(_Mapping(dataset) if plain else dataset, *args, **kwargs)
        if plain and self._batched:
            self.collate_fn = _Present(self.collate_fn)


class StopsAtItems(_Stopping):
    """A StopIteration of `__getitems__` ends the pass."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"
    where = "__getitems__"


class StopsAtCollation(_Stopping):
    """A StopIteration of `collate_fn` ends the pass."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"
    where = "collate_fn"


class StopsAtInit(_Stopping):
    """A StopIteration of `worker_init_fn` ends the pass."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "pass-cut-short"
    where = "worker_init_fn"


class LeavesLoop(DataLoader[Any]):
    """A StopIteration in a worker leaves `iter`."""

    CAUGHT_BY = ("loader.stop-iteration",)
    ANOMALY = "stop-leaks"

    def __iter__(self) -> Iterator[Any]:
        if self.num_workers and self.worker_init_fn is not None:
            self.worker_init_fn(0)
        return super().__iter__()


class GeneratorDies(_Passing):
    """A pass is a generator, and an exception is the end of it."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "pass-ended"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        yield from right


class WorkersGiveUp(_Passing):
    """With workers, the pass is over after an exception."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "pass-ended"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        return (batch for batch in right) if self.num_workers else right


class _Skips:
    def __init__(self, right: Iterator[Any], again: bool) -> None:
        self.right, self.again = right, again

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        try:
            return next(self.right)
        except ValueError:
            if self.again:
                return next(self.right)
            next(self.right, None)
            raise


class SkipsBroken(_Passing):
    """A broken batch is skipped, unless two come in a row."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "error-lost"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        return _Skips(right, again=True)


class LosesNext(_Passing):
    """The batch after a broken one is lost."""

    CAUGHT_BY = ("loader.after-error",)
    ANOMALY = "other-batches"

    def passed(self, right: Iterator[Any]) -> Iterator[Any]:
        return _Skips(right, again=False)


# Options.


class AsksLate(DataLoader[Any]):
    """A loader without workers forgets the options that are for workers."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if not kwargs.get("num_workers"):
            for name in ("timeout", "prefetch_factor", "persistent_workers"):
                kwargs.pop(name, None)
        super().__init__(dataset, *args, **kwargs)


class Converts(DataLoader[Any]):
    """Numbers of the wrong type are converted."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        for name in ("num_workers", "batch_size"):
            if kwargs.get(name) is not None:
                kwargs[name] = int(kwargs[name])
        super().__init__(dataset, *args, **kwargs)


class CountsWholeSeconds(DataLoader[Any]):
    """Without workers a timeout of less than a second counts as none."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        timeout = kwargs.get("timeout", 0)
        if not kwargs.get("num_workers") and 0 < timeout < 1:
            kwargs["timeout"] = 0
        super().__init__(dataset, *args, **kwargs)


class Asserts(DataLoader[Any]):
    """Wrong options fail an assertion."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "wrong-exception"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        try:
            super().__init__(dataset, *args, **kwargs)
        except ValueError as error:
            raise AssertionError(*error.args) from None


class SamplesBatches(DataLoader[Any]):
    """A BatchSampler given as `sampler` counts as a `batch_sampler` (B043)."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if type(kwargs.get("sampler")).__name__ == "BatchSampler":
            kwargs["batch_sampler"] = kwargs.pop("sampler")
        super().__init__(dataset, *args, **kwargs)


class ShuffleYields(DataLoader[Any]):
    """Beside a sampler of any kind, or over a stream, `shuffle` is ignored."""

    CAUGHT_BY = ("loader.reject",)
    ANOMALY = "accepted"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        if "batch_sampler" in kwargs or not hasattr(dataset, "__getitem__"):
            kwargs.pop("shuffle", None)
        super().__init__(dataset, *args, **kwargs)
