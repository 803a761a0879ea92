"""Wrong loaders that do not wait for who is slow, on top of the reference's (no bug on record).

`CAUGHT_BY` lists the clauses that must report the fault, `ANOMALY` is what the first of them calls
it.
"""

from __future__ import annotations

import select
from collections.abc import Callable
from typing import Any, ClassVar

from reporting import Reporting, Worse

from reference import DataLoader
from reference.loader import parcel, worker

HASTE_S, SENDS_S = 0.2, 3.0


class _Overtaking(Worse):
    """Once a pass is under way, a batch that is ready changes places with one that is late."""

    streams: ClassVar[bool] = False

    def _wait(self, deadline: float) -> None:
        late = self._plan.in_order and self._delivered >= self._plan.ahead
        if not (late and self._buffer._waiting and self._plan.recipe.iterable is self.streams):
            return super()._wait(deadline)
        came = [*self._crew.receive(HASTE_S, self._pinner)]
        for member, message in came:
            self._arrived(member, message)
        if not came and not self._crew.death:
            ready = self._buffer._waiting
            self._moved()[self._buffer._next] = first = min(ready)
            self._buffer.put(self._buffer._next, ready.pop(first))
        return None

    def _arrived(self, member: Any, message: Any) -> None:
        number = self._moved().pop(message.number, message.number)
        super()._arrived(member, message._replace(number=number))

    def _moved(self) -> dict[int, int]:
        return self.__dict__.setdefault("moved", {})  # type: ignore[no-any-return]


class _OvertakingStreams(_Overtaking):
    streams = True


class OvertakesTheLate(Reporting):
    """Once a pass is under way, a batch whose worker takes long is overtaken by one that waits."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "out-of-order"
    rule = _Overtaking


class OvertakesTheLateStream(Reporting):
    """It is the turn of a worker whose stream takes long, and another that is ready goes first."""

    CAUGHT_BY = ("iterable.order",)
    ANOMALY = "out-of-turn"
    rule = _OvertakingStreams


class _Impatient:
    """A `worker_init_fn` after which the worker sends all through a pipe, and does not wait for
    long for room."""

    def __init__(self, function: Callable[[int], Any] | None) -> None:
        self.function = function

    def __call__(self, number: int) -> None:
        patient = worker.Connection._poll

        def poll(connection: worker.Connection, event: int) -> None:
            room = select.poll()
            room.register(connection._channel, event)
            if event == select.POLLOUT and not room.poll(SENDS_S * 1000):
                raise worker.Abandoned
            patient(connection, event)

        worker.Connection._poll = poll  # type: ignore[method-assign]
        parcel.INLINE_BYTES_MAX = 1 << 60
        if self.function is not None:
            self.function(number)


class GivesUpSending(DataLoader[Any]):
    """A caller who for seconds takes nothing of a batch that no pipe holds is taken for dead."""

    CAUGHT_BY = ("workers.same-order",)
    ANOMALY = "other-collation"

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.worker_init_fn = _Impatient(self.worker_init_fn)
