"""Wrong loaders, with workers: what `timeout` does, and what comes after it.

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it. A number such as B111 is a row of the corpus of reported bugs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reference import DataLoader
from reference.loader import worker
from reference.loader.channel import Message


class NoTimeout(DataLoader[Any]):
    """The timeout is stored, and never looked at."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.timeout = 0.0


class FiveTimesAsLong(DataLoader[Any]):
    """The timeout is counted five times before it is believed."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "late-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        self.timeout *= 5


class _Watched(Iterator[Any]):
    """An iterator that knows how many timeouts it has seen."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.items, self.late = items, 0

    def __next__(self) -> Any:
        try:
            return self.item()
        except RuntimeError:
            self.late += 1
            raise

    def item(self) -> Any:
        return next(self.items)


class LosesTheLate(DataLoader[Any]):
    """The batch that came too late is thrown away."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        return _Losing(super().__iter__())


class _Losing(_Watched):
    def item(self) -> Any:
        while self.late:
            next(self.items)
            self.late -= 1
        return next(self.items)


class EndsAfterTimeout(DataLoader[Any]):
    """After a timeout the pass is over, as if all had been delivered."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "lost-batch"

    def __iter__(self) -> Iterator[Any]:
        return _Ending(super().__iter__())


class _Ending(_Watched):
    def item(self) -> Any:
        if self.late:
            raise StopIteration
        return next(self.items)


class SlicesOfFiveSeconds(DataLoader[Any]):
    """A timeout of more than five seconds is waited for in whole slices of five."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "no-timeout"

    def __init__(self, dataset: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(dataset, *args, **kwargs)
        if self.timeout > 5:
            self.timeout = -(-self.timeout // 5) * 5.0


class _Unpacking(_Watched):
    def __next__(self) -> Any:
        try:
            return self.item()
        except RuntimeError as error:
            if "timeout" in str(error):
                raise TypeError("cannot unpack non-iterable NoneType object") from None
            raise


class UnpacksNothing(DataLoader[Any]):
    """Where no batch has come in time there is None to unpack, and that error is what is told."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "unclear-error"

    def __iter__(self) -> Iterator[Any]:
        return _Unpacking(super().__iter__())


class _InTwos:
    """A `worker_init_fn` after which the worker sends what is ready in twos, while it has tasks."""

    def __init__(self, function: Callable[[int], Any] | None) -> None:
        self.function = function

    def __call__(self, number: int) -> None:
        send, receive, held = worker.Connection.send, worker.Connection.receive, list[Message]()

        def let_go(connection: worker.Connection) -> None:
            while held:
                send(connection, held.pop(0))

        def sent(connection: worker.Connection, message: Message) -> None:
            held.append(message)
            if len(held) > 1:
                let_go(connection)

        def received(connection: worker.Connection, wait: bool) -> list[Message]:
            if wait:
                let_go(connection)
            return receive(connection, wait)

        worker.Connection.send, worker.Connection.receive = sent, received  # type: ignore[method-assign]
        if self.function is not None:
            self.function(number)


class SendsInTwos(DataLoader[Any]):
    """A worker with more to do sends two batches at once, and one that is ready runs into the
    timeout."""

    CAUGHT_BY = ("workers.timeout",)
    ANOMALY = "early-timeout"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.worker_init_fn = _InTwos(self.worker_init_fn)
