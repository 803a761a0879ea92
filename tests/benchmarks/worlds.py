"""Checks per second across real ranks: our standing pools beside what they could be measured by.

    python tests/benchmarks/worlds.py [--quick] [--json PATH]

A check is: in each rank of a gloo group build torch's DistributedSampler for a length of 1 to 64,
call set_epoch, iterate; then judge over all ranks that the counts are equal and no index is lost.
All ways are given the same checks, and every rank computes with one thread.

- standing pool: `Worlds.run`, one case at a time, and the laws equal-counts and cover;
- bare pipe: the floor, the same processes asked and answering with bytes of the same size, and
  nothing done with them;
- MultiProcContinuousTest: torch's test base with standing ranks, one test a check;
- MultiProcessTestCase: torch's test base that spawns ranks for every test.

The last two gather the indices over gloo to judge them. The first test of the third way pays for
starting its ranks and is left out, as our start is. The ways take turns in one run, and the table
shows medians; ratios are taken between the medians.
"""

import argparse
import contextlib
import json
import os
import pickle
import select
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import torch
from _shared import check, echo, question

from conformance.candidate import Source
from conformance.case import Case
from conformance.laws import load_laws
from conformance.operations import Iterate, SetEpoch
from conformance.recipes import Data
from conformance.worlds.forkserver import Process
from conformance.worlds.worlds import Worlds

SOURCE = Source("torch.utils.data")
LAWS = [load_laws()[f"distributed.{name}"] for name in ("equal-counts", "cover")]
OURS, PIPE = "standing pool (ours)", "bare pipe"
CONTINUOUS, SPAWNED = "MultiProcContinuousTest", "MultiProcessTestCase"
FULL = ([OURS, PIPE, PIPE, OURS] * 2 + [CONTINUOUS]) * 3 + [SPAWNED]
QUICK = [OURS, PIPE, PIPE, OURS] * 3 + [CONTINUOUS, SPAWNED]
COUNTS = {OURS: 500, PIPE: 500, CONTINUOUS: 200, SPAWNED: 3}
QUICK_COUNTS = {OURS: 200, PIPE: 200, CONTINUOUS: 50, SPAWNED: 1}
WAIT_S_MAX, SUITE_S_MAX = 20.0, 300.0

Way = Callable[[int], float]
Rates = dict[str, list[float]]


def case(number: int, ranks: int) -> Case:
    """The check as a case: the ranks find their place in the group themselves."""
    n, epoch = check(number)
    plan = [SetEpoch(epoch), Iterate()]
    return Case("DistributedSampler", {"dataset": Data(n)}, plan, ranks, "group", passed=False)


def pool_s(worlds: Worlds, cases: list[Case]) -> float:
    """Seconds to carry out and judge the cases on a standing pool."""
    start = time.perf_counter()
    for one in cases:
        trace = worlds.run(SOURCE, one)
        if not trace.done or any(law(trace) for law in LAWS):
            raise AssertionError(f"{one!r} does not hold")
    return time.perf_counter() - start


class Echoes:
    """Standing processes, forked as a pool's ranks are, that only answer."""

    def __init__(self, ranks: int) -> None:
        self.poll, self.by_descriptor = select.poll(), dict[int, Connection]()
        self.processes: list[Process] = []
        for rank in range(ranks):
            ours, theirs = Pipe()
            process = Process(rank % 2 + 1, target=echo, args=(theirs,))
            process.start()
            theirs.close()
            self.processes.append(process)
            self.by_descriptor[ours.fileno()] = ours
            self.poll.register(ours.fileno(), select.POLLIN)
        self.receive()

    def receive(self) -> None:
        """Take one answer of each process."""
        waiting = len(self.processes)
        while waiting:
            ready = self.poll.poll(WAIT_S_MAX * 1000)
            if not ready:
                raise TimeoutError("an echo did not answer")
            for descriptor, _ in ready:
                self.by_descriptor[descriptor].recv_bytes()
            waiting -= len(ready)

    def seconds(self, questions: list[bytes]) -> float:
        """Seconds until each question was sent to all and answered by all."""
        start = time.perf_counter()
        for asked in questions:
            for connection in self.by_descriptor.values():
                connection.send_bytes(asked)
            self.receive()
        return time.perf_counter() - start

    def close(self) -> None:
        """End every process."""
        for connection in self.by_descriptor.values():
            connection.close()
        for process in self.processes:
            process.join(WAIT_S_MAX)
            process.kill()


@contextlib.contextmanager
def echoes(ranks: int) -> Iterator[Echoes]:
    made = Echoes(ranks)
    try:
        yield made
    finally:
        made.close()


def same_size(worlds: Worlds, one: Case) -> bytes:
    """A question of the size of a case's request, that asks for an answer of its answer's size."""
    request = pickle.dumps(("run", SOURCE, [one]), protocol=5)
    answer = pickle.dumps([[worlds.run(SOURCE, one).ranks[0]]])
    return question(len(request), len(answer))


def suite_rate(way: str, ranks: int, count: int) -> float:
    """Checks per second of torch's base; whatever it started has ended afterwards."""
    script = Path(__file__).with_name("_torch_multiprocess.py")
    command = [sys.executable, str(script), way, str(ranks), str(count)]
    alone = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    with subprocess.Popen(
        command, env=alone, start_new_session=True, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            said, errors = process.communicate(timeout=SUITE_S_MAX)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise RuntimeError(f"{command} failed\n{errors[-3000:]}")
    ended_s = json.loads(said)[way == "continuous" :]
    return float((len(ended_s) - 1) / (ended_s[-1] - ended_s[0]))


def measure(worlds: Worlds, ranks: int, turns: list[str], counts: dict[str, int]) -> Rates:
    """The rates of every turn, by way."""
    rates: Rates = {}
    cases = [case(number, ranks) for number in range(counts[OURS])]
    pool_s(worlds, cases[:50])  # starts the pool, and warms up
    questions = [same_size(worlds, one) for one in cases]
    with echoes(ranks) as standing:
        ways: dict[str, Way] = {
            OURS: lambda count: count / pool_s(worlds, cases),
            PIPE: lambda count: count / standing.seconds(questions),
            CONTINUOUS: lambda count: suite_rate("continuous", ranks, count),
            SPAWNED: lambda count: suite_rate("spawned", ranks, count),
        }
        for way in turns:
            rates.setdefault(way, []).append(ways[way](counts[way]))
    return rates


def shown(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 else f"{rate:.2g}"


def ratio(rate: float, ours: float) -> str:
    """How many times as fast as ours, or which part of it."""
    return f"{rate / ours:.2f}" if rate > ours / 10 else f"1/{ours / rate:,.0f}"


def table(found: dict[int, Rates]) -> str:
    """The medians as a Markdown table."""
    sizes = " | ".join(f"{ranks} ranks cases/s" for ranks in found)
    head = f"| way | {sizes} | ratio to ours ({', '.join(map(str, found))} ranks) |"
    lines = [head, "|---|" + "---:|" * (len(found) + 1)]
    for way in (PIPE, OURS, CONTINUOUS, SPAWNED):
        rates = [statistics.median(by_way[way]) for by_way in found.values()]
        ours = [statistics.median(by_way[OURS]) for by_way in found.values()]
        ratios = ", ".join(ratio(*pair) for pair in zip(rates, ours, strict=True))
        lines.append(f"| {way} | {' | '.join(map(shown, rates))} | {ratios} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer turns, fewer checks in each")
    parser.add_argument("--json", type=Path, help="where to write the rate of every turn")
    chosen = parser.parse_args()
    turns, counts = (QUICK, QUICK_COUNTS) if chosen.quick else (FULL, COUNTS)
    worlds = Worlds("gloo")
    try:
        worlds.describe(SOURCE)
        found = {ranks: measure(worlds, ranks, turns, counts) for ranks in (2, 4)}
    finally:
        worlds.close()
    about = f"torch {torch.__version__}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    print(f"{about}\n\n{table(found)}")
    if chosen.json:
        chosen.json.write_text(json.dumps({"about": about, "rates": found}, indent=1))


if __name__ == "__main__":
    main()
