"""Wrong pinning: each class breaks a rule of `spec/transfer.md`.

All but the first group need an accelerator: on a machine without one, `transfer.*` is not
applicable and there is nothing to catch. There, `tests/test_pretended_accelerator.py` examines
those that break rules about batches on a pretended one; those that break rules about devices,
copies and streams need a real one.
"""

from __future__ import annotations

import itertools
import threading
import warnings
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils import data
from torch.utils.data._utils.pin_memory import pin_memory

# Without an accelerator.


class WarnsForEachBatch(data.DataLoader):  # type: ignore[type-arg]
    """Without an accelerator it warns whenever it would have pinned a batch."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "warned-again"

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            if self.pin_memory and not torch.cuda.is_available():
                warnings.warn("cannot pin this batch", UserWarning, stacklevel=2)
            yield batch


class PinsRegardless(data.DataLoader):  # type: ignore[type-arg]
    """It pins tensors whether there is an accelerator or not, which is an error."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            yield pin_memory(batch) if self.pin_memory else batch


class ListsRegardless(data.DataLoader):  # type: ignore[type-arg]
    """Its way of pinning makes lists of tuples, even where nothing is pinned."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "changed"

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            yield list(batch) if self.pin_memory and isinstance(batch, tuple) else batch


class AsksRegardless(data.DataLoader):  # type: ignore[type-arg]
    """An object that pins itself is asked to, even where nothing is pinned."""

    CAUGHT_BY = ("transfer.no-accelerator",)
    ANOMALY = "crash"

    def __iter__(self) -> Iterator[Any]:
        for batch in super().__iter__():
            itself = not isinstance(batch, torch.Tensor) and hasattr(batch, "pin_memory")
            yield batch.pin_memory() if self.pin_memory and itself else batch


# With an accelerator: `_Pinning` pins in the main process, by a method that faults replace.


class _Pinning(data.DataLoader):  # type: ignore[type-arg]
    def __init__(self, *arguments: Any, pin_memory: bool = False, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pins = pin_memory and torch.cuda.is_available()

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        return map(self.pin, batches) if self.pins else batches

    def pin(self, batch: Any) -> Any:
        """The batch in pinned memory."""
        return pin_memory(batch)


class PlainContainers(_Pinning):
    """Subclasses of dict and list come out as dict and list (B164)."""

    CAUGHT_BY = ("transfer.containers",)
    ANOMALY = "container-changed"

    def pin(self, batch: Any) -> Any:
        if isinstance(batch, dict):
            return {key: self.pin(value) for key, value in batch.items()}
        if isinstance(batch, list):
            return [self.pin(value) for value in batch]
        return pin_memory(batch)


class AttributesLost(_Pinning):
    """Containers keep their types and lose their attributes."""

    CAUGHT_BY = ("transfer.containers",)

    def pin(self, batch: Any) -> Any:
        pinned = pin_memory(batch)
        if getattr(pinned, "__dict__", None) and not isinstance(pinned, torch.Tensor):
            vars(pinned).clear()
        return pinned


class SinglePrecision(_Pinning):
    """Its buffers hold 32-bit numbers only."""

    CAUGHT_BY = ("transfer.values",)
    ANOMALY = "value-changed"

    def pin(self, batch: Any) -> Any:
        doubled = isinstance(batch, torch.Tensor) and batch.dtype is torch.int64
        return pin_memory(batch.to(torch.int32) if doubled else batch)


class PinnedInPairs(_Pinning):
    """Two batches are pinned at a time, and the second is delivered first."""

    CAUGHT_BY = ("transfer.values",)

    def __iter__(self) -> Iterator[Any]:
        batches = super().__iter__()
        while pair := list(itertools.islice(batches, 2)):
            yield from reversed(pair) if self.pins else pair


class OuterTensorsOnly(_Pinning):
    """Tensors are pinned in a batch that is a tensor, a dict or a list, not deeper inside."""

    CAUGHT_BY = ("transfer.pinned",)
    ANOMALY = "not-pinned"

    def pin(self, batch: Any) -> Any:
        return batch if _deep(batch) else pin_memory(batch)


def _deep(batch: Any) -> bool:
    values = batch.values() if isinstance(batch, dict) else batch
    inside = isinstance(batch, (dict, list, tuple))
    return inside and any(isinstance(value, (dict, list, tuple)) for value in values)


class ObjectsAsTheyAre(_Pinning):
    """Objects that pin themselves are delivered as they are."""

    CAUGHT_BY = ("transfer.objects",)
    ANOMALY = "not-asked"

    def pin(self, batch: Any) -> Any:
        return _known_only(batch, itself=False)


class OnlyTheBatchItself(_Pinning):
    """A batch that pins itself is asked to, and objects inside a batch are not."""

    CAUGHT_BY = ("transfer.objects",)

    def pin(self, batch: Any) -> Any:
        return _known_only(batch, itself=True)


def _known_only(batch: Any, itself: bool) -> Any:
    if isinstance(batch, dict):
        return {key: _known_only(value, False) for key, value in batch.items()}
    if isinstance(batch, (list, tuple)):
        return type(batch)([_known_only(value, False) for value in batch])
    return pin_memory(batch) if itself or isinstance(batch, torch.Tensor) else batch


class NotInWorkers(data.DataLoader):  # type: ignore[type-arg]
    """With workers nothing is pinned."""

    CAUGHT_BY = ("transfer.pinned", "transfer.overlap")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        if options.get("num_workers"):
            options["pin_memory"] = False
        super().__init__(*arguments, **options)


class FailureHidden(_Pinning):
    """A batch that cannot be pinned is delivered as it is."""

    CAUGHT_BY = ("transfer.error",)
    ANOMALY = "error-lost"

    def pin(self, batch: Any) -> Any:
        try:
            return pin_memory(batch)
        except Exception:
            return batch


class PinningThreadDies(_Pinning):
    """The thread that pins ends with an exception, and nobody tells the caller (B166)."""

    CAUGHT_BY = ("transfer.error",)
    ANOMALY = "hang"

    def pin(self, batch: Any) -> Any:
        done, found = threading.Event(), []

        def work() -> None:
            found.append(pin_memory(batch))
            done.set()

        threading.Thread(target=work, daemon=True).start()
        done.wait()
        return found[0]


class ResumeIsABatch(_Pinning):
    """From the second pass on, the signal that workers have started is taken for a batch (B141)."""

    CAUGHT_BY = ("transfer.persistent",)

    def __iter__(self) -> Iterator[Any]:
        self.passes = getattr(self, "passes", -1) + 1
        batches = super().__iter__()
        if self.pins and self.persistent_workers and self.passes:
            next(batches, None)
        return batches


# With a real accelerator only.


class PinsInWorkers(data.DataLoader):  # type: ignore[type-arg]
    """Batches are pinned where they are collated, in the workers (B167)."""

    CAUGHT_BY = ("transfer.device",)

    def __init__(self, *arguments: Any, **options: Any) -> None:
        pins = options.pop("pin_memory", False) and torch.cuda.is_available()
        super().__init__(*arguments, **options)
        self.collate_fn = _Collating(self.collate_fn) if pins else self.collate_fn


class _Collating:
    def __init__(self, collate: Any) -> None:
        self.collate = collate

    def __call__(self, samples: Any) -> Any:
        return pin_memory(self.collate(samples))


class DeviceZero(_Pinning):
    """The thread that pins uses device 0, whichever is the current one (B165).

    With a single device nobody can tell.
    """

    CAUGHT_BY = ("transfer.device",)
    ANOMALY = "context-elsewhere"
    DEVICES = 2

    def pin(self, batch: Any) -> Any:
        with torch.cuda.device(0):
            torch.zeros(1, device="cuda")
            return pin_memory(batch)


class OneBuffer(_Pinning):
    """One pinned buffer serves every batch, and no copy from it is waited for."""

    CAUGHT_BY = ("transfer.staging",)
    ANOMALY = "overwritten"

    def pin(self, batch: Any) -> Any:
        if not isinstance(batch, torch.Tensor):
            return pin_memory(batch)
        kept: torch.Tensor | None = getattr(self, "buffer", None)
        if kept is None or kept.shape != batch.shape or kept.dtype != batch.dtype:
            kept = self.buffer = pin_memory(batch)
        return kept.copy_(batch)


class RingOfBuffers(_Pinning):
    """A few pinned buffers serve in turn, whoever still holds the batch that lies in one."""

    CAUGHT_BY = ("loader.reused-buffer", "transfer.staging")
    DEVICES = 1
    COUNT = 3

    def pin(self, batch: Any) -> Any:
        if not isinstance(batch, torch.Tensor):
            return pin_memory(batch)
        rings: dict[Any, list[torch.Tensor]] = self.__dict__.setdefault("rings", {})
        ring = rings.setdefault((batch.shape, batch.dtype), [])
        if len(ring) < self.COUNT:
            ring.append(pin_memory(batch))
            return ring[-1]
        ring.append(ring.pop(0))
        return ring[-1].copy_(batch)


class PoolOfBuffers(_Pinning):
    """A pinned buffer serves again once nobody holds its batch, also while it is being copied."""

    CAUGHT_BY = ("transfer.staging",)
    ANOMALY = "overwritten"

    def pin(self, batch: Any) -> Any:
        if not isinstance(batch, torch.Tensor):
            return pin_memory(batch)
        idle: list[torch.Tensor] = self.__dict__.setdefault("idle", [])
        fit = [one for one in idle if one.shape == batch.shape and one.dtype == batch.dtype]
        buffer = fit[0].copy_(batch) if fit else pin_memory(batch)
        idle[:] = [one for one in idle if one is not buffer]
        delivered = buffer.view_as(buffer)
        weakref.finalize(delivered, idle.append, buffer)
        return delivered


class NeverPinned(data.DataLoader):  # type: ignore[type-arg]
    """Nothing is pinned at all, so that each copy keeps the caller waiting."""

    CAUGHT_BY = ("transfer.overlap", "transfer.pinned")
    ANOMALY = "late-copy"

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options | {"pin_memory": False})
