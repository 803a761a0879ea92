"""Chunks of samplers' cases that are under way before anybody has asked for them."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from conformance.candidate import Source
from conformance.case import Case
from conformance.worlds.chunks import CHUNK, Sent, chunks

Ahead = Callable[[], tuple[Source, Iterable[Case]] | None]
"""Tells which cases will be asked for next, None if nobody knows."""


class Early:
    """What will be asked for next, chunk by chunk, and what of it was sent already.

    send: sends a chunk. unwanted: is told of one that nobody asks for after all.
    """

    def __init__(
        self, send: Callable[[Source, list[Case]], Sent], unwanted: Callable[[Sent], None]
    ) -> None:
        self.send, self.unwanted = send, unwanted
        self.sent = collections.deque[Sent]()
        self.expect(lambda: None)

    def expect(self, ahead: Ahead) -> None:
        """`ahead` will know what is asked for."""
        self.ahead = ahead
        self.asked()
        self.forget()

    def asked(self) -> None:
        """Somebody asks: no more is sent of what was next until now."""
        self.coming: Iterator[tuple[Source, list[Case]]] = iter(())

    def begin(self, room: int) -> None:
        """Send more, until there are `room` chunks that nobody has asked for."""
        if not self.sent and (found := self.ahead()):
            source, cases = found
            self.coming = ((source, chunk) for chunk in chunks(cases, CHUNK))
        for source, chunk in islice(self.coming, max(0, room - len(self.sent))):
            if chunk[0].world == "simulated":
                self.sent.append(self.send(source, chunk))

    def taken(self, source: Source, cases: list[Case]) -> Sent | None:
        """The chunk of these cases, if it was sent; if another was, all are forgotten."""
        first = self.sent[0] if self.sent else None
        if first and (first.source, first.cases) == (source, cases) and not first.pool.broken:
            return self.sent.popleft()
        self.forget()
        return None

    def forget(self) -> None:
        """What was sent is not what is asked for."""
        while self.sent:
            self.unwanted(self.sent.popleft())
