"""A socket between two processes that never makes anyone wait.

What cannot be sent at once is kept, and sent when there is room; what has arrived in part is kept
until the rest is there. So one process can serve many sockets, and neither a stopped peer nor one
that is itself busy sending can block it.
"""

from __future__ import annotations

import array
import errno
import os
import select
import socket
import struct
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple
from weakref import WeakSet

HEADER = struct.Struct("!QQ?Q")  # pass, number, whether there is a descriptor, bytes
RECEIVE_BYTES = 1 << 16
LOST = -1


class Message(NamedTuple):
    """One message: which pass and task it belongs to, its bytes, and perhaps a descriptor."""

    turn: int
    number: int
    body: bytes
    descriptor: int | None = None

    def file(self) -> int | None:
        """The descriptor; OSError if there was one, but this process had no room for it."""
        if self.descriptor == LOST:
            text = f"{os.strerror(errno.EMFILE)}: there is none left to receive a batch with"
            raise OSError(errno.EMFILE, text)
        return self.descriptor

    def close(self) -> None:
        if self.descriptor is not None and self.descriptor != LOST:
            os.close(self.descriptor)


class Channel:
    """One end of a connection.

    deaf: the other end takes nothing any more. hung_up: and all that it had sent is received.
    """

    def __init__(self, end: socket.socket) -> None:
        end.setblocking(False)
        self._socket = end
        self._unsent: deque[tuple[memoryview, int | None]] = deque()
        self._arrived = bytearray()
        self._descriptors: deque[int] = deque()
        self.deaf = self.hung_up = False
        _open.add(self)

    def fileno(self) -> int:
        return self._socket.fileno()

    @property
    def events(self) -> int:
        """What to poll for."""
        return select.POLLIN | (select.POLLOUT if self._unsent else 0)

    def send(self, message: Message) -> None:
        """Send what there is room for, `flush` sends the rest; closes the descriptor when sent."""
        body, descriptor = message.body, message.descriptor
        header = HEADER.pack(message.turn, message.number, descriptor is not None, len(body))
        self._unsent.append((memoryview(header), descriptor))
        if body:
            self._unsent.append((memoryview(body), None))
        self.flush()

    def flush(self) -> bool:
        """Send what there is room for; True if nothing is left."""
        try:
            while self._unsent:
                self._send_some(*self._unsent.popleft())
        except BlockingIOError:
            return False
        except OSError:
            self.deaf = True
            self._drop_unsent()
        return True

    def _send_some(self, piece: memoryview, descriptor: int | None) -> None:
        rights = [] if descriptor is None else [_rights(descriptor)]
        try:
            sent = self._socket.sendmsg([piece], rights)
        except OSError:
            self._unsent.appendleft((piece, descriptor))
            raise
        if descriptor is not None:
            os.close(descriptor)
        if sent < len(piece):
            self._unsent.appendleft((piece[sent:], None))

    def receive(self) -> Iterator[Message]:
        """All messages that are there; none is waited for."""
        while not self.hung_up and self._receive_some():
            while (message := self._message()) is not None:
                yield message

    def _receive_some(self) -> bool:
        try:
            data, ancillary, flags, _ = self._socket.recvmsg(RECEIVE_BYTES, socket.CMSG_SPACE(4))
        except BlockingIOError:
            return False
        except OSError:
            data, ancillary, flags = b"", [], 0
        self.hung_up = not data
        self._arrived += data
        for _, _, rights in ancillary:
            self._descriptors.extend(array.array("i", rights))
        if flags & socket.MSG_CTRUNC:
            self._descriptors.append(LOST)
        return True

    def _message(self) -> Message | None:
        if len(self._arrived) < HEADER.size:
            return None
        turn, number, has_descriptor, size = HEADER.unpack_from(self._arrived)
        end = HEADER.size + size
        if len(self._arrived) < end:
            return None
        body = bytes(memoryview(self._arrived)[HEADER.size : end])
        del self._arrived[:end]
        return Message(turn, number, body, self._descriptors.popleft() if has_descriptor else None)

    def close(self) -> None:
        self._socket.close()
        self._drop_unsent()
        while self._descriptors:
            if (descriptor := self._descriptors.popleft()) != LOST:
                os.close(descriptor)

    def _drop_unsent(self) -> None:
        while self._unsent:
            _, descriptor = self._unsent.popleft()
            if descriptor is not None:
                os.close(descriptor)


_open: WeakSet[Channel] = WeakSet()


def _close_in_child() -> None:
    """A forked child must not hold our ends: nobody would see us hang up."""
    for channel in list(_open):
        channel.close()


def _rights(descriptor: int) -> tuple[int, int, array.array[int]]:
    return socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor])


os.register_at_fork(after_in_child=_close_in_child)
