"""What goes wrong on purpose, by name: exceptions of every odd kind, deaths, and endless waits."""

from __future__ import annotations

import builtins
import os
import signal
import threading
from collections.abc import Callable
from typing import Any


class Planned(Exception):
    """An ordinary exception with one argument."""


class TwoArguments(Exception):
    """Its constructor takes two arguments and shows another text."""

    def __init__(self, first: str, second: int) -> None:
        super().__init__(f"{first} and {second}")
        self.first, self.second = first, second


class KeywordOnly(Exception):
    """Its constructor takes keywords only."""

    def __init__(self, *, text: str) -> None:
        super().__init__(text)
        self.text = text


class WithMessage(Exception):
    """A class with an attribute `message`."""

    message = "a class attribute"


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


def _local(text: str) -> BaseException:
    class Local(Exception):
        """Nobody can import it."""

    return Local(text)


def _group(text: str) -> BaseException:
    kind: Any = getattr(builtins, "ExceptionGroup", None)  # Python 3.11
    return kind(text, [ValueError("a"), KeyError("b")]) if kind else Planned(text)


def _errno(text: str) -> BaseException:
    return OSError(28, text, "a file")


EXCEPTIONS: dict[str, Callable[[str], BaseException]] = {
    "Planned": Planned, "ValueError": ValueError, "KeyError": KeyError, "OSError": _errno,
    "IndexError": IndexError, "StopIteration": StopIteration,
    "KeyboardInterrupt": KeyboardInterrupt, "SystemExit": SystemExit,
    "TwoArguments": lambda text: TwoArguments(text, 7),
    "KeywordOnly": lambda text: KeywordOnly(text=text), "WithMessage": WithMessage,
    "ExceptionGroup": _group, "Local": _local, "Unpicklable": Unpicklable, "Explosive": Explosive,
}  # fmt: skip

GIVES = ("unpicklable", "hang")


def happen(what: str, at: int) -> Any:
    """Raise, die or wait for ever; "unpicklable" gives an item that cannot be pickled.

    The text of an exception is "planned AT": laws look for it in what the caller is told.
    """
    if what in EXCEPTIONS:
        raise EXCEPTIONS[what](f"planned {at}")
    if what.startswith("exit "):
        os._exit(int(what.removeprefix("exit ")))
    if what.startswith("SIG"):
        os.kill(os.getpid(), signal.Signals[what])
        threading.Event().wait()  # a signal may take a moment
    if what == "hang":
        threading.Event().wait()
    return lambda: at
