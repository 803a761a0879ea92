"""Turn what a candidate yields into data that can travel: nothing of the candidate's is pickled."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from conformance.trace import UNREADABLE, Error, Items, both_ends, writable

CHUNK = 4096
"""Items read at a time, so that a pass of huge objects never stands in memory at once."""


def whole_number(item: Any) -> int | None:
    """The value of anything that stands for a whole number; None for everything else."""
    try:
        value = item.__index__()
    except BaseException:
        return None
    return int(value) if -(2**63) < value < 2**63 else None


def show(item: Any) -> str:
    """A short repr of a foreign object that cannot fail or grow."""
    if isinstance(item, (str, bytes, list, tuple, dict, set)) and len(item) > 20:
        return f"<{type(item).__name__} of length {len(item)}>"
    try:
        return repr(item)[:80]
    except BaseException as error:
        return f"<{type(item).__name__} whose repr raises {type(error).__name__}>"


HELD = "samples"
"""The only key of a batch that holds the list of its samples."""


class Recorder:
    """Collects items chunk by chunk; `items()` gives them as arrays."""

    def __init__(self) -> None:
        self.values: list[np.ndarray[Any, np.dtype[np.int64]]] = []
        self.sizes: list[int] = []
        self.kinds: dict[str, None] = {}
        self.containers: dict[str, None] = {}
        self.unreadable: list[str] = []
        self.count = 0

    def add(self, chunk: list[Any]) -> None:
        """Record a chunk of items."""
        self.count += len(chunk)
        if {*map(type, chunk)} <= {int}:
            try:
                self.values.append(np.array(chunk, dtype=np.int64))
                if chunk:
                    self.kinds["int"] = None
                return
            except OverflowError:
                pass
        for item in chunk:
            self._add_one(item)

    def _add_one(self, item: Any) -> None:
        if isinstance(item, dict) and [*item] == [HELD]:
            self.containers[_name(item)] = None
            item = item[HELD]
        if isinstance(item, (list, tuple, set, frozenset)) or _has_axis(item):
            self.containers[_name(item)] = None
            members = list(itertools.islice(iter(item), 1 << 20))
            self.sizes.append(len(members))
            self.values.append(np.array([self._index(m) for m in members], dtype=np.int64))
        else:
            self.values.append(np.array([self._index(item)], dtype=np.int64))

    def _index(self, item: Any) -> int:
        self.kinds[_name(item)] = None
        value = whole_number(item)
        if value is None and len(self.unreadable) < 3:
            self.unreadable.append(show(item))
        return UNREADABLE if value is None else value

    def items(self, cut: bool = False, extra: int = 0) -> Items:
        values = np.concatenate(self.values) if self.values else np.zeros(0, dtype=np.int64)
        sizes = np.array(self.sizes, dtype=np.int64) if self.sizes else None
        return Items(
            values=values, kinds=tuple(self.kinds), sizes=sizes, cut=cut, extra=extra,
            containers=tuple(self.containers), unreadable=tuple(self.unreadable),
        )  # fmt: skip


def _name(item: Any) -> str:
    kind = type(item)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def _has_axis(item: Any) -> bool:
    return getattr(item, "ndim", 0) == 1


def read(
    iterator: Iterator[Any], limit: int, keep: list[Any] | None = None,
    more: Callable[[], None] = lambda: None,
) -> tuple[Items, Any]:  # fmt: skip
    """Read at most `limit` items; returns them and the exception that ended the reading, if any.

    keep: a list that batches are appended to, for `Scribble`. more: called after each full chunk.
    """
    recorder = Recorder()
    error = fill(recorder, iterator, limit, more, keep)
    return recorder.items(), error


def fill(
    recorder: Recorder, iterator: Iterator[Any], limit: int, more: Callable[[], None],
    keep: list[Any] | None = None,
) -> BaseException | None:  # fmt: skip
    """Record at most `limit` more items; the exception that ended the reading, if any."""
    end, error, wanted = recorder.count + limit, None, CHUNK
    while recorder.count < end:
        chunk: list[Any] = []
        wanted = min(CHUNK, end - recorder.count)
        try:
            chunk.extend(itertools.islice(iterator, wanted))  # what came before an error stays
        except BaseException as caught:
            error = caught
        recorder.add(chunk)
        if keep is not None and recorder.containers:
            keep.extend(item for item in chunk if isinstance(item, list))
        if error is not None or len(chunk) < wanted:
            break
        more()
    return error


TEXT_MAX = 80_000
"""How much of an exception's text is kept."""

BEHIND_MAX = 3
"""How many exceptions are followed, one behind the other."""


def error_of(error: BaseException, depth: int = 0) -> Error:
    """An exception as data; `where` is the innermost line of its traceback."""
    kinds = tuple(kind.__name__ for kind in type(error).__mro__ if kind is not object)
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""
    try:
        message = _kept(str(error))
    except BaseException:
        message = "<message could not be read>"
    behind = _behind(error) if depth < BEHIND_MAX else []
    followed = tuple(error_of(other, depth + 1) for other in behind)
    return Error(kinds, message, where, _held(error), followed, _notes(error))


def _kept(text: str) -> str:
    """What is kept of a text that somebody else has written."""
    return both_ends(writable(text), TEXT_MAX)


def _behind(error: BaseException) -> list[BaseException]:
    lists = [value for value in error.args if isinstance(value, (list, tuple))]  # of a group
    members = [member for held in lists for member in held[:4]]
    found = [error.__cause__, *members, *vars(error).values(), *error.args]
    kept = {id(other): other for other in found if isinstance(other, BaseException)}
    kept.pop(id(error), None)
    return list(kept.values())[:4]


def _notes(error: BaseException) -> tuple[str, ...]:
    notes = vars(error).get("__notes__", ())
    return tuple(_kept(note) for note in notes if isinstance(note, str))


def _held(error: BaseException) -> tuple[str, ...]:
    """What an exception holds: its arguments, and its attributes by name."""
    try:
        known = ("errno", "filename", "code", "reason")
        named = {name: getattr(error, name, None) for name in known}
        named |= {name: value for name, value in vars(error).items() if name != "__notes__"}
        found = [("arguments", error.args), *sorted(named.items())]
        return tuple(f"{name} {_plain(value)}" for name, value in found if value is not None)
    except BaseException:
        return ()


def _plain(value: Any) -> str:
    """A repr that is the same for equal values in any process: without an address."""
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(map(_plain, value)) + ")"
    return show(value) if isinstance(value, (int, float, str, bytes)) else type(value).__name__
