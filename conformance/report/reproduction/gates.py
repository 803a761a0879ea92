"""The journal and the gate in a few lines: a file that lines are appended to, and shared turns."""

from __future__ import annotations

from conformance.loading import Free, Hold, Schedule, Shut, Strike, Trickle
from conformance.report.reproduction.draft import Draft

REPORT = """\
JOURNAL = os.environ.setdefault("JOURNAL", f"/tmp/journal-{os.getpid()}")
open(JOURNAL, "a").close()
def report(*what):
    with open(JOURNAL, "a") as file:
        print(*what, file=file)""".splitlines()

GATE = """\
gate = multiprocessing.Array("i", 300)  # the turn, how many there are, whose they are
def wait(worker, i=-1):
    came = time.monotonic()
    while gate[1] < 0 or (gate[0] < gate[1] and gate[2 + gate[0]] != worker):
        time.sleep(0.001)
        may = gate[1] == -2 and gate[2] in (worker, -2 - i, -1)
        if may and time.monotonic() - came > gate[3] / 1000:
            return
    time.sleep(0.05)  # what was let through before has arrived by now""".splitlines()

PIDS = ['pids = multiprocessing.Array("i", 300)']


def reported(draft: Draft, kind: str, value: str) -> list[str]:
    """Write one line into the journal, if the clause is about what it tells."""
    if not draft.reports:
        return []
    draft.need("os")
    draft.define("report", REPORT)
    return [f'report("{kind}", {value})']


def passing(draft: Draft, gated: int, share: str = "") -> list[str]:
    """Wait for the worker's turn before every `gated`-th item, of its `share` if it has one, and
    before the last of that; tell who one is."""
    lines = []
    if draft.has(Strike):
        draft.need("multiprocessing", "os")
        draft.define("pids", PIDS)
        lines.append("pids[worker] = os.getpid()")
    lines += held(draft)
    if gated and draft.has(Schedule, Shut, Trickle, Free):
        stops = f"i % {gated} == {gated - 1}"
        if share and gated > 1:
            stops = f"({share}.index(i) % {gated} == {gated - 1} or i == {share}[-1])"
        lines += [f"if worker >= 0 and {stops}:", *_turn(draft)]
    return lines


def held(draft: Draft) -> list[str]:
    """Wait, in a worker, until the caller waits."""
    if not draft.has(Hold):
        return []
    draft.need("multiprocessing", "time")
    draft.define("gate", GATE)
    return ["if worker >= 0:", "    wait(worker)"]


def _turn(draft: Draft) -> list[str]:
    draft.need("multiprocessing", "time")
    draft.define("gate", GATE)
    lines = ["    wait(worker, i)"]
    for step in draft.case.plan:
        if isinstance(step, Schedule) and step.dies >= 0:
            draft.need("os", "signal")
            exits = step.how.startswith("exit")
            deed = (
                f"os._exit({step.how[5:]})" if exits else f"os.kill(os.getpid(), signal.{step.how})"
            )
            lines += [f"    if (gate[0], gate[1]) == ({step.dies}, {len(step.turns)}):"]
            lines += ["        gate[1] = 0", f"        {deed}", "        time.sleep(60)"]
    return [*lines, "    gate[0] += 1"]


def schedule(step: Schedule) -> str:
    """Set the turns of the next pass."""
    count = len(step.turns)
    return f"gate[:{count + 2}] = {[0, count, *step.turns]}"


def journal(draft: Draft) -> list[str]:
    """How often each thing was reported."""
    draft.need("collections", "os")
    draft.define("report", REPORT)
    count = "collections.Counter(line.split()[0] for line in open(JOURNAL))"
    return [f"now.append(sorted({count}.items()))"]
