"""Objects as bytes plus, for what is large in them, one nameless file in memory.

Protocol 5 of pickle keeps large buffers apart from the rest (PEP 574). numpy takes part in it; a
dense CPU tensor does here, any other tensor is pickled by torch, by value. The buffers are written
one behind the other, each at the start of a page, and the receiver maps each by itself, so that a
tensor which is kept does not keep the batch. Writing is cheaper than storing into a fresh mapping:
no page is cleared first, and none faults.

The pickle itself is the last of the buffers if it is large. So messages are small, and the socket
has room for some: neither side has to wait until the other, who is at work, takes what it sent.
"""

from __future__ import annotations

import io
import mmap
import os
import pickle
import tempfile
from typing import Any

import torch

INLINE_BYTES_MAX = 1 << 15  # below, a copy through the socket is cheaper than a mapping
WRITE_BYTES_MAX = 1 << 30


class Packer(pickle.Pickler):
    """A pickler that takes a dense tensor for a buffer with a type and a shape."""

    refuses_shared = False

    def reducer_override(self, value: Any) -> Any:
        if type(value) is not torch.Tensor or not _dense(value):
            return NotImplemented
        if self.refuses_shared and value.is_shared():  # type: ignore[no-untyped-call]
            raise pickle.PicklingError("a copy of a shared tensor would not be shared")
        flat = value.detach().contiguous().view(-1).view(torch.uint8)
        return _tensor, (pickle.PickleBuffer(flat.numpy().data), value.dtype, value.shape)


class Luggage:
    """The large buffers of one object: their sizes, and the file, if there are any.

    Not part of the packer: that would make a cycle, and keep the batch until gc finds it.
    """

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.descriptor: int | None = None
        self._end = 0

    def leave_inline(self, buffer: pickle.PickleBuffer) -> bool:
        with buffer.raw() as raw:
            if raw.nbytes < INLINE_BYTES_MAX:
                return True
            if self.descriptor is None:
                self.descriptor = _memory_file()
            _write(self.descriptor, raw, self._end)
            self.sizes.append(raw.nbytes)
            self._end = _page_end(self._end + raw.nbytes)
            return False


def packed(value: Any, refuses_shared: bool = False) -> tuple[bytes, int | None]:
    """`value` as bytes and a descriptor, which the caller has to close.

    refuses_shared: raise PicklingError for a tensor in shared memory, whose use is to be shared.
    """
    stream, luggage = io.BytesIO(), Luggage()
    packer = Packer(stream, 5, buffer_callback=luggage.leave_inline)
    packer.refuses_shared = refuses_shared
    try:
        packer.dump(value)
        inline = luggage.leave_inline(pickle.PickleBuffer(stream.getbuffer()))
    except BaseException:
        if luggage.descriptor is not None:
            os.close(luggage.descriptor)
        raise
    rest = stream.getvalue() if inline else None
    return pickle.dumps((luggage.sizes, rest)), luggage.descriptor


def unpacked(body: bytes, descriptor: int | None, access: int = mmap.ACCESS_WRITE) -> Any:
    """The object again; its large tensors and arrays live in mappings of the file.

    access: ACCESS_COPY if several processes unpack it, who must not see each other's changes.
    """
    sizes, stream = pickle.loads(body)
    buffers, start = list[Any](), 0
    for size in sizes:
        assert descriptor is not None
        buffers.append(mmap.mmap(descriptor, size, offset=start, access=access))
        start = _page_end(start + size)
    return pickle.loads(buffers.pop() if stream is None else stream, buffers=buffers)


def _dense(tensor: torch.Tensor) -> bool:
    plain = tensor.layout is torch.strided and tensor.device.type == "cpu" and not tensor.is_nested
    bits = tensor.is_quantized or tensor.is_conj() or tensor.is_neg() or tensor.requires_grad
    return plain and not bits and tensor.numel() > 0 and not tensor.__dict__


def _tensor(buffer: Any, dtype: torch.dtype, shape: torch.Size) -> torch.Tensor:
    return torch.frombuffer(buffer, dtype=torch.uint8).view(dtype).view(shape)


def _memory_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("batch")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


def _write(descriptor: int, raw: memoryview, start: int) -> None:
    done = 0
    while done < raw.nbytes:
        done += os.pwrite(descriptor, raw[done : done + WRITE_BYTES_MAX], start + done)


def _page_end(size: int) -> int:
    return -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
