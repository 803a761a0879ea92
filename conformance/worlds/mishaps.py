"""What goes wrong on purpose, by name: exceptions of every odd kind, deaths, and endless waits."""

from __future__ import annotations

import builtins
import contextlib
import os
import queue
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any


class Planned(Exception):
    """An ordinary exception with one argument."""


class Coded(Exception):
    """It was given an attribute, `code`, after it was made."""

    code = 0


class TwoArguments(Exception):
    """Its constructor takes two arguments and shows another text."""

    def __init__(self, first: str, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.first, self.second = first, second


class Building(Exception):
    """Its constructor makes its text of what it is given, and that text is its argument."""

    def __init__(self, text: str) -> None:
        super().__init__(f"failed with {text}")


class KeywordOnly(Exception):
    """Its constructor takes keywords only."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text)
        self.text = text


class WithMessage(Exception):
    """A class with an attribute `message`."""

    message = "a class attribute"


class Located(Exception):
    """It knows where it was raised, by the names that others use for that, too."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.index = self.indices = self.key = "row 7"
        self.worker = self.worker_id = self.rank = self.batch = "none of yours"


class Hollow(Exception):
    """It is false, as an error that collects others is when it has none."""

    def __bool__(self) -> bool:
        return False


class Slotted(Exception):
    """What it says stands in a slot, which pickle leaves behind."""

    __slots__ = ("text",)

    def __init__(self, text: str = "") -> None:
        super().__init__()
        self.text = text

    def __str__(self) -> str:
        return self.text


class Direct(BaseException):
    """It derives from BaseException itself, as asyncio.CancelledError does."""


class Chained(Exception):
    """It was raised from another one."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.__cause__ = KeyError("the cause")


class Long(Exception):
    """Its text is longer than some buffers."""

    def __str__(self) -> str:
        return f"{super().__str__()} {'x' * 33_000}"


class FileName(Exception):
    """Its text has a byte that is no text, as the name of a file may."""

    def __str__(self) -> str:
        return f"{super().__str__()} \udcff"


class Dropped(ConnectionError):
    """A subclass of a builtin exception that some take for a hiccup."""


class ShardDone(StopIteration):
    """A StopIteration of the user's own."""


class Unpicklable(Exception):
    """It holds something that cannot be pickled."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.held = lambda: text


class Explosive(Exception):
    """It pickles, and raises when unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _explode, (str(self),)


def _explode(text: str) -> None:
    raise RuntimeError(f"cannot be unpickled: {text}")


def leaked(text: str) -> BaseException:
    """What a generator raises that let a StopIteration through."""
    error = RuntimeError(text)
    error.__cause__ = StopIteration()
    return error


def _local(text: str) -> BaseException:
    class Local(Exception):
        """Nobody can import it."""

    return Local(text)


class _Group(Exception):
    """What ExceptionGroup is, as far as it matters here, for Python 3.10."""

    message = property(lambda self: self.args[0])

    def __init__(self, text: str, members: list[Exception]) -> None:
        super().__init__(text, members)

    def __str__(self) -> str:
        return f"{self.args[0]} ({len(self.args[1])} sub-exceptions)"


_Group.__name__ = "ExceptionGroup"


def _group(text: str) -> BaseException:
    kind: Any = getattr(builtins, "ExceptionGroup", _Group)
    found: BaseException = kind(text, [ValueError("a"), KeyError("b")])
    return found


def _percent(text: str) -> str:
    return f"{text}, at 50 % of {{it}}"


def _errno(text: str) -> BaseException:
    return OSError(28, text, "a file")


def _coded(text: str) -> BaseException:
    error = Coded(text)
    error.code = 7
    return error


def _builtin(kind: type[BaseException]) -> Iterator[type[BaseException]]:
    """The builtin classes below this one that can be made from a text, and show it."""
    for below in kind.__subclasses__():
        if getattr(builtins, below.__name__, None) is below:
            with contextlib.suppress(TypeError):
                yield from [below] if str(below("text")).strip("'") == "text" else []
            yield from _builtin(below)


NOT_ERRORS = ("StopIteration", "GeneratorExit", "KeyboardInterrupt", "SystemExit")
"""Builtin exceptions that have a meaning of their own."""

BUILTIN = {kind.__name__: kind for kind in _builtin(BaseException)}

ORDINARY = tuple(name for name in BUILTIN if name not in NOT_ERRORS)
"""The builtin exceptions that mean an error, of this version of Python."""

EXCEPTIONS: dict[str, Callable[[str], BaseException]] = {
    **BUILTIN, "Direct": Direct, "Dropped": Dropped, "Long": Long, "FileName": FileName,
    "Chained": Chained, "Located": Located, "ShardDone": ShardDone,
    "Hollow": Hollow, "Slotted": Slotted,
    "Percent": lambda text: ValueError(_percent(text)),
    "LocalPercent": lambda text: _local(_percent(text)),
    "Empty": queue.Empty, "Full": queue.Full, "Leaked": leaked,
    "Same": lambda _: ValueError("the same for all"),
    "Planned": Planned, "ValueError": ValueError, "KeyError": KeyError, "OSError": _errno,
    "UnicodeDecodeError": lambda text: UnicodeDecodeError("ascii", b"\xe9", 0, 1, text),
    "Coded": _coded, "IndexError": IndexError, "StopIteration": StopIteration,
    "KeyboardInterrupt": KeyboardInterrupt, "SystemExit": SystemExit,
    "CleanExit": lambda _: SystemExit(0),
    "TwoArguments": lambda text: TwoArguments(text, 7), "Building": Building,
    "KeywordOnly": lambda text: KeywordOnly(text=text), "WithMessage": WithMessage,
    "ExceptionGroup": _group, "Local": _local, "Unpicklable": Unpicklable, "Explosive": Explosive,
}  # fmt: skip


class Unpinnable:
    """Something that is to be pinned, and cannot be."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __index__(self) -> int:
        return self.index

    def pin_memory(self, device: Any = None) -> Unpinnable:
        raise Planned(f"planned {self.index}")


class Bursting:
    """An item that pickles, and raises where it is unpickled."""

    def __init__(self, index: int) -> None:
        self.index = index

    def __index__(self) -> int:
        return self.index

    def __reduce__(self) -> tuple[Any, ...]:
        return _explode, (f"planned {self.index}",)


class Interrupting:
    """Once it is armed, Ctrl-C is pressed when somebody pickles it next."""

    armed = pressed = False

    def __reduce__(self) -> tuple[Any, ...]:
        if self.armed:
            self.armed, self.pressed = False, True
            os.kill(os.getpid(), signal.SIGINT)
        return Interrupting, ()


GIVES = ("unpicklable", "bursting", "unpinnable", "hang")


EVER_S = 900.0
"""Longer than anybody waits for a case; who was left behind by a run that was killed ends."""


def deadly(what: str) -> bool:
    """Whether it ends the process in which it happens."""
    return what.startswith(("SIG", "exit "))


def happen(what: str, at: int) -> Any:
    """Raise, die or wait as if for ever; "unpicklable" gives an item that cannot be pickled,
    "bursting" one that cannot be unpickled.

    The text of an exception is "planned AT": laws look for it in what the caller is told.
    """
    if what in EXCEPTIONS:
        raise EXCEPTIONS[what](f"planned {at}")
    if what.startswith("exit "):
        os._exit(int(what.removeprefix("exit ")))
    if what.startswith("SIG"):
        name = what.removeprefix("SIG")
        os.kill(os.getpid(), int(name) if name.isdigit() else signal.Signals[what])
        threading.Event().wait(EVER_S)  # a signal may take a moment
    if what == "hang":
        threading.Event().wait(EVER_S)
    items: dict[str, Any] = {"unpinnable": Unpinnable(at), "bursting": Bursting(at)}
    return items.get(what, lambda: at)
