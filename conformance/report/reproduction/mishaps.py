"""What goes wrong on purpose, as the statement that a person would write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.datasets import Fault
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.sources import copied
from conformance.worlds import mishaps

Deed = Callable[[Draft, Fault, str], list[str]]
"""What makes the statements of a mishap that is no exception."""

CALLS = {
    "OSError": "OSError(28, {text}, 'a file')",
    "UnicodeDecodeError": "UnicodeDecodeError('ascii', b'\\xe9', 0, 1, {text})",
    "TwoArguments": "TwoArguments({text}, 7)",
    "KeywordOnly": "KeywordOnly(text={text})",
    "ExceptionGroup": "ExceptionGroup({text}, [ValueError('a'), KeyError('b')])",
    "Coded": "_coded({text})",
    "Local": "_local({text})",
    "LocalPercent": "_local(_percent({text}))",
    "Percent": "ValueError(_percent({text}))",
    "Leaked": "leaked({text})",
    "CleanExit": "SystemExit(0)",
    "Empty": "queue.Empty({text})",
    "Same": "ValueError('the same for all')",
    "Full": "queue.Full({text})",
}
"""How an exception is made, where that is not by its text alone."""

NEEDED: dict[str, tuple[Any, ...]] = {
    "Coded": (mishaps.Coded, mishaps._coded), "Local": (mishaps._local,),
    "Leaked": (mishaps.leaked,), "Located": (mishaps.Located,), "Percent": (mishaps._percent,),
    "ShardDone": (mishaps.ShardDone,),
    "LocalPercent": (mishaps._local, mishaps._percent),
    "Explosive": (mishaps.Explosive, mishaps._explode), "TwoArguments": (mishaps.TwoArguments,),
    "Building": (mishaps.Building,), "KeywordOnly": (mishaps.KeywordOnly,),
    "WithMessage": (mishaps.WithMessage,), "Unpicklable": (mishaps.Unpicklable,),
    "Planned": (mishaps.Planned,),
    "Direct": (mishaps.Direct,), "Dropped": (mishaps.Dropped,), "Long": (mishaps.Long,),
    "FileName": (mishaps.FileName,), "Chained": (mishaps.Chained,),
    "Hollow": (mishaps.Hollow,), "Slotted": (mishaps.Slotted,),
    "unpinnable": (mishaps.Planned, mishaps.Unpinnable),
    "bursting": (mishaps._explode, mishaps.Bursting),
}  # fmt: skip
"""What the script must define for a mishap."""


def mishap(draft: Draft, fault: Fault, give: str = "return") -> list[str]:
    """The statements of one mishap; `give` hands over an item in place of the right one."""
    what = fault.what
    copied(draft, *NEEDED.get(what, ()))
    if what in mishaps.EXCEPTIONS:
        made = CALLS.get(what, what + "({text})")
        draft.need(*["queue"] * made.startswith("queue."))
        return ["raise " + made.format(text=repr(f"planned {fault.at}"))]
    for begin, make in DEEDS.items():
        if what.startswith(begin):
            return make(draft, fault, give)
    raise ValueError(f"no such mishap: {what}")


def faults(
    draft: Draft, found: tuple[Fault, ...], where: str, variable: str, give: str = "return"
) -> list[str]:
    """The statements of all mishaps of one place."""
    lines = []
    for fault in found:
        if fault.where == where:
            first = " and not vars(self).setdefault('met', [])" if fault.once else ""
            lines.append(f"if {variable} == {fault.at}{first}:")
            lines += ["    self.met.append(True)"] * fault.once
            lines += [f"    {line}" for line in mishap(draft, fault, give)]
    return lines


def _exit(draft: Draft, fault: Fault, give: str) -> list[str]:
    draft.need("os")
    return [f"os._exit({fault.what.removeprefix('exit ')})"]


def _signal(draft: Draft, fault: Fault, give: str) -> list[str]:
    draft.need("os", "signal", "time")
    number = fault.what.removeprefix("SIG")
    named = number if number.isdigit() else f"signal.{fault.what}"
    return [f"os.kill(os.getpid(), {named})", "time.sleep(60)"]


def _hang(draft: Draft, fault: Fault, give: str) -> list[str]:
    draft.need("time")
    return ["time.sleep(3600)"]


def _given(item: str) -> Deed:
    """An item in place of the right one; `item` makes it of its index."""

    def statements(draft: Draft, fault: Fault, give: str) -> list[str]:
        made = f"{give} {item.format(fault.at)}"
        return [made, "continue"] if give == "yield" else [made]

    return statements


DEEDS: dict[str, Deed] = {
    "exit ": _exit, "SIG": _signal, "hang": _hang, "unpicklable": _given("lambda: {}"),
    "bursting": _given("Bursting({})"), "unpinnable": _given("Unpinnable({})"),
}  # fmt: skip
