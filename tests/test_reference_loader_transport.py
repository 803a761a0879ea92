"""The parts that batches pass through: parcel, channel, buffers, reorder buffer, pin thread."""

import collections
import itertools
import os
import socket
import warnings
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from test_reference_loader import Squares, outcomes
from test_reference_loader import bounded as bounded

from reference import DataLoader, default_collate
from reference.loader import buffers, pin
from reference.loader.channel import Channel, Message
from reference.loader.parcel import INLINE_BYTES_MAX, packed, unpacked
from reference.loader.reorder import ReorderBuffer

BIG = INLINE_BYTES_MAX
INLINE = {"none", "small", "scalar", "empty", "sparse", "objects"}
VALUES = {
    "none": None,
    "small": torch.arange(6).view(2, 3),
    "big": torch.rand(BIG),
    "big, not contiguous": torch.rand(BIG // 8, 16).t(),
    "half": torch.rand(BIG).to(torch.bfloat16),
    "complex": torch.rand(BIG, dtype=torch.complex64).conj(),
    "bool": torch.rand(BIG) > 0.5,
    "scalar": torch.tensor(3.0),
    "empty": torch.empty(0, 5),
    "parameter": torch.nn.Parameter(torch.rand(BIG)),
    "sparse": torch.eye(300).to_sparse(),
    "array": np.random.rand(BIG),
    "columns": np.asfortranarray(np.random.rand(BIG // 8, 16)),
    "objects": np.array([1, "x"], dtype=object),
    "text": "x" * BIG,
    "many": [torch.full((BIG,), k, dtype=torch.uint8) for k in range(250)],
    "mixed": {"a": (torch.rand(BIG), "text", np.float32(2)), "b": [bytes(BIG), 3]},
}


def same(a, b):
    if isinstance(a, dict):
        return type(a) is type(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, torch.Tensor):
        return type(a) is type(b) and a.dtype is b.dtype and torch.equal(a.to_dense(), b.to_dense())
    return type(a) is type(b) and np.array_equal(a, b)


@pytest.mark.parametrize("name", VALUES)
def test_parcel_keeps_values(name):
    """What is unpacked equals what was packed; what is large takes a descriptor, and few bytes."""
    body, descriptor = packed(VALUES[name])
    assert (descriptor is None) == (name in INLINE)
    assert len(body) < BIG + 100
    value = unpacked(body, descriptor)
    if descriptor is not None:
        os.close(descriptor)
    assert same(VALUES[name], value)


def test_parcel_is_a_copy_that_can_be_written_to():
    """Sender and receiver do not see each other's changes; one object stays one object."""
    sent = torch.zeros(BIG)
    body, descriptor = packed([sent, sent])
    sent.fill_(1)
    first, second = unpacked(body, descriptor)
    os.close(descriptor)
    first[0] = 2
    assert first is second and first.sum() == 2 and sent.sum() == BIG


def test_channel_keeps_what_finds_no_room():
    """Messages of any size arrive in order, although neither side ever waits."""
    ours, theirs = map(Channel, socket.socketpair())
    sent = [Message(1, k, os.urandom(size)) for k, size in enumerate([0, 5, 10**6, 3])]
    for message in sent:
        ours.send(message)
    received = []
    while len(received) < len(sent):
        ours.flush()
        received += theirs.receive()
    assert received == sent
    ours.close()
    assert not [*theirs.receive()] and theirs.hung_up
    theirs.close()


def test_buffer_comes_back_when_its_last_tensor_is_gone(monkeypatch):
    """Memory is lent again as soon as nothing lies in it, and no earlier."""
    monkeypatch.setattr(buffers, "_free", [])
    samples = [torch.rand(buffers.SIZE_MIN) for _ in range(2)]
    first = buffers.for_stack(samples)
    place, view = first.data_ptr(), first[1]
    del first
    second = buffers.for_stack(samples)
    assert second.data_ptr() != place
    del view
    assert buffers.for_stack(samples).data_ptr() == place
    assert buffers.for_stack([samples[0], samples[1].double()]) is None


def test_kept_batch_is_not_overwritten():
    """Neither a batch that collate_fn keeps nor a delivered one changes later."""
    kept = []

    def collate(samples):
        kept.append(default_collate(samples))
        return kept[0]

    batches = list(DataLoader(Squares(6), 2, num_workers=1, collate_fn=collate))
    assert [batch[1][:, 0, 0, 0].tolist() for batch in batches] == [[0, 1]] * 3


@given(st.permutations(range(6)), st.booleans())
def test_reorder_buffer(order, in_order):
    """In order or as they come, each outcome leaves once."""
    buffer, seen = ReorderBuffer(in_order), []
    for number in order:
        buffer.put(number, number)
        while buffer:
            seen.append(buffer.pop())
            assert not in_order or seen == [*range(len(seen))]
    assert seen == ([*range(6)] if in_order else order)


class Pair(NamedTuple):
    a: object
    b: object


class Pinned:
    def __init__(self, value):
        self.value = value
        self.pinned = False

    def pin_memory(self):
        if self.value == 2:
            raise OSError("no page can be locked")
        self.pinned = True
        return self


def test_pinning_keeps_containers():
    """Containers keep type and attributes, other leaves stay as they are."""
    record = collections.OrderedDict(x=[Pinned(1), "text"])
    record.note = "kept"
    out = pin.pinned(Pair(record, (Pinned(3), None, {1, 2})))
    assert type(out) is Pair and type(out.a) is collections.OrderedDict and out.a.note == "kept"
    assert out.a["x"][0].pinned and out.b[0].pinned and out.b[1:] == (None, {1, 2})


@pytest.mark.parametrize("workers", [0, 2])
def test_pin_failure_comes_in_its_place(workers, monkeypatch):
    """A batch that cannot be pinned is an error of its own; later passes are not touched."""
    monkeypatch.setattr("reference.loader.loader.accelerated", lambda: True)
    monkeypatch.setattr(pin, "_current_device", lambda: lambda: None)
    loader = DataLoader(
        range(5),
        None,
        num_workers=workers,
        pin_memory=True,
        collate_fn=Pinned,
        persistent_workers=workers > 0,
    )
    for _ in range(2):
        seen = outcomes(iter(loader))
        assert isinstance(seen.pop(2), OSError)
        assert [(item.value, item.pinned) for item in seen] == [(k, True) for k in (0, 1, 3, 4)]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is an accelerator")
def test_pinning_without_accelerator_warns_once(monkeypatch):
    """Without an accelerator nothing is pinned, and one warning says so."""
    monkeypatch.setattr(pin, "_warned", False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for workers, _ in itertools.product((0, 1), range(2)):
            loader = DataLoader(range(2), pin_memory=True, num_workers=workers)
            assert [b.item() for b in loader] == [0, 1]
    assert len(told) == 1 and "pin_memory" in str(told[0].message)
