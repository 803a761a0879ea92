"""Calls from threads, each from one of its own, as statements."""

from __future__ import annotations

from conformance import operations as op
from conformance.report.reproduction.draft import Draft, indented
from conformance.trace import Event

IN_THREAD = """\
def in_thread(function):
    found = concurrent.futures.Future()
    def call():
        try:
            found.set_result(function())
        except BaseException as error:
            found.set_exception(error)
    thread = threading.Thread(target=call)
    thread.start(), thread.join()
    return found.result()""".splitlines()


def threads(draft: Draft, step: op.Threads, event: Event) -> list[str]:
    """What later calls assign is known here as well."""
    draft.need("concurrent.futures", "threading")
    draft.define("in_thread", IN_THREAD)
    opened = [f"pass_{s.name}" for s in draft.case.plan if isinstance(s, op.Open)]
    return [f"{' = '.join(dict.fromkeys([*opened, 'whole', 'batch', 'batches']))} = None"]


def in_thread(lines: list[str]) -> list[str]:
    """These statements, carried out by a thread of their own."""
    named = (line.partition(" = ")[0] for line in lines if " = " in line)
    kept = sorted({name for name in named if name.isidentifier()})
    told = [f"nonlocal {', '.join(kept)}"] if kept else []
    return ["@in_thread", "def call():", *indented([*told, *lines])]
