"""What a plan does to a loader's processes, as statements: signals, forks, limits, measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance import loading as lo
from conformance import operations as op
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.loader import LOADING
from conformance.report.reproduction.sources import sampled
from conformance.report.reproduction.states import surround
from conformance.trace import Event, Trace

STANDING = """\
def standing():
    found = pathlib.Path("/proc/self/task").glob("*/children")
    tasks = [path.read_text().split() for path in found]
    names = [pathlib.Path(f"/proc/{pid}/cmdline").read_text() for pids in tasks for pid in pids]
    own = [name for name in names if not any(word in name for word in ("_tracker", "forkserver"))]
    return {"children": len(own), "threads": threading.active_count(),
            "descriptors": len(os.listdir("/proc/self/fd")),
            "segments": segments(), "settings": (settings(), warnings.filters[:])}
def left(before):
    end = time.monotonic() + 7
    while (now := standing()) != before and time.monotonic() < end:
        time.sleep(0.05)
    kinds = ("children", "descriptors", "segments", "threads")
    other = ["settings"] * (now["settings"] != before["settings"])
    return sorted([kind for kind in kinds if now[kind] > before[kind]] + other)""".splitlines()

SEGMENTS = """\
def segments():
    maps = pathlib.Path("/proc/self/maps").read_text(errors="replace").splitlines()
    mapped = [line for line in maps if "/memfd:" in line or "/dev/shm/" in line]
    return len(os.listdir("/dev/shm")) + len(mapped)""".splitlines()
NO_SEGMENTS = ["def segments():", "    return 0  # other programs make and remove some, too"]


def left_shared(trace: Trace) -> bool:
    """Whether anything was left in shared memory."""
    events = [event for rank in trace.ranks for event in rank.events]
    left = [e.value for e in events if isinstance(e.operation, lo.Leftovers) and not e.error]
    return any(value["segments"] for value in left)


def before(draft: Draft) -> list[str]:
    """What must be looked at before the construction."""
    lines = []
    if draft.has(lo.Leftovers):
        draft.need("gc", "os", "pathlib", "signal", "threading", "time", "warnings")
        sampled(draft, "Frozen", "settings")
        draft.define("segments", SEGMENTS if draft.shared else NO_SEGMENTS)
        draft.define("standing", STANDING)
        lines += ["gc.freeze()  # as one does who forks"]
        alarm = f"signal.setitimer(signal.ITIMER_REAL, {lo.ALARM_S})"
        lines += [f"{alarm}  # as one does who watches a run"]
        lines += ["before = standing()"]
    if draft.has(lo.Printed):
        draft.need("os", "tempfile")
        lines += ["out, file = os.dup(1), tempfile.TemporaryFile()"]
        lines += ["os.dup2(file.fileno(), 1), os.dup2(file.fileno(), 2)"]
    return lines


def after(draft: Draft) -> list[str]:
    """What must be put back at the end."""
    return ["sys.stdout.flush()", "os.dup2(out, 1)"] if draft.has(lo.Printed) else []


def _leftovers(draft: Draft, step: lo.Leftovers, event: Event) -> list[str]:
    draft.need("gc")
    return ["gc.collect()", "now.append(left(before))"]


def _surround(draft: Draft, step: op.Surround, event: Event) -> list[str]:
    return [*surround(draft, step, event), *_settled(draft)]


def _settled(draft: Draft) -> list[str]:
    """What the caller has set is where it starts from."""
    return ["before = standing()"] if draft.has(lo.Leftovers) else []


def _strike(draft: Draft, step: lo.Strike, event: Event) -> list[str]:
    draft.need("os", "signal", "time")
    kill = f"os.kill(pids[{step.worker}] or 1 << 22, signal.{step.how})"
    return ["time.sleep(0.5)", kill, "time.sleep(0.5)"]


def _ponder(draft: Draft, step: lo.Ponder, event: Event) -> list[str]:
    draft.need("time")
    return [f"end = time.monotonic() + {step.seconds}", *BUSY]


BUSY = ["while time.monotonic() < end:", "    time.sleep(0.01)"]


def _interrupt(draft: Draft, step: lo.Interrupt, event: Event) -> list[str]:
    if step.starting:
        return ["Interrupting.armed = True", *LOADING[op.Open](draft, op.Open(step.name), event)]
    draft.need("itertools", "os", "signal", "threading")
    kill = "os.killpg, (os.getpgrp(), " if step.everybody else "os.kill, (os.getpid(), "
    sent = f"threading.Timer(1, {kill}signal.SIGINT)).start()"
    return [sent, *LOADING[op.Take](draft, op.Take(step.name), event)]


def _fork(draft: Draft, step: lo.Fork, event: Event) -> list[str]:
    draft.need("atexit", "gc", "os", "signal")
    last = ["    atexit._run_exitfuncs()"] if step.how == "exit" else []
    opened = [f"pass_{s.name}" for s in draft.case.plan if isinstance(s, op.Open)]
    gone = " = ".join(dict.fromkeys(["loader", *opened, "batch"]))
    return [
        "pid = os.fork()", "if not pid:", "    signal.alarm(5)", f"    {gone} = None",
        "    gc.collect()", *last, "    os._exit(0)",
        "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])",
        "now.append('stuck' if code == -signal.SIGALRM else f'exit {code}')",
    ]  # fmt: skip


def _orphan(draft: Draft, step: lo.Orphan, event: Event) -> list[str]:
    draft.need("os", "pathlib", "signal", "time")
    children = 'pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()'
    bound_s = draft.case.argument("dataset").seconds + 10.5
    return [
        "pid = os.fork()", "if not pid:", "    opened = iter(loader)",
        f"    {'taken = list(opened)' if step.between else 'next(opened)'}",
        "    time.sleep(60)", "    os._exit(1)",
        "time.sleep(4)", f"workers = {children}", "os.kill(pid, signal.SIGKILL)",
        "os.waitpid(pid, 0)", f"time.sleep({bound_s})",
        'alive = [w for w in workers if os.path.exists(f"/proc/{w}/exe")]',
        "for worker in alive:", "    os.kill(int(worker), signal.SIGKILL)",
        "now.append(['workers live on'] * bool(alive))",
    ]  # fmt: skip


def _end(draft: Draft, step: lo.End, event: Event) -> list[str]:
    """What Python does at the end of a script, in that order."""
    draft.need("atexit", "gc", "os", "signal", "threading")
    return [
        "pid = os.fork()", "if not pid:", "    opened = iter(loader)", "    next(opened)",
        "    signal.alarm(8)", "    threading._shutdown()", "    atexit._run_exitfuncs()",
        "    loader = opened = None", "    gc.collect()", "    os._exit(0)",
        "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])",
        "now.append('stuck' if code == -signal.SIGALRM else f'exit {code}')",
    ]  # fmt: skip


def _limit(draft: Draft, step: lo.Limit, event: Event) -> list[str]:
    if step.what == "processes":
        draft.need("errno", "os")
        draft.define("limit_forks", FORKS)
        return [f"limit_forks({step.spare})"]
    draft.need("os", "resource")
    which = {"descriptors": "NOFILE", "memory": "FSIZE"}[step.what]
    draft.define("limit", LIMIT)
    if step.spare < 0:
        return [f"limit(resource.RLIMIT_{which})"]
    free = " + 1 + min(set(range(1 << 16)) - set(map(int, os.listdir('/proc/self/fd'))))"
    return [f"limit(resource.RLIMIT_{which}, {step.spare}{free if which == 'NOFILE' else ''})"]


def _crowd(draft: Draft, step: lo.Crowd, event: Event) -> list[str]:
    if not step.below:
        draft.need("contextlib", "os", "sys")
        return ["sys.stdin.close()", "with contextlib.suppress(OSError):", "    os.close(0)"]
    draft.need("os", "resource")
    which, room = "resource.RLIMIT_NOFILE", step.below + 200
    hard = f"resource.getrlimit({which})[1]"
    more = f"resource.setrlimit({which}, ({room}, {hard}))"
    return [more, f"while os.open(os.devnull, os.O_RDONLY) < {step.below}:", "    pass"]


LIMIT = """\
def limit(which, soft=None, limits={}):
    now, hard = resource.getrlimit(which)
    before = limits.setdefault(which, now)
    resource.setrlimit(which, (before if soft is None else soft, hard))""".splitlines()


FORKS = """\
def limit_forks(spare, fork=os.fork):
    left = iter(range(spare))
    def refused():
        if next(left, None) is None:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        return fork()
    os.fork = refused if spare >= 0 else fork""".splitlines()


def _daemon(draft: Draft, step: lo.Daemon, event: Event) -> list[str]:
    draft.need("multiprocessing")
    return ['multiprocessing.current_process()._config["daemon"] = True']


def _preempt(draft: Draft, step: lo.Preempt, event: Event) -> list[str]:
    draft.need("signal")
    return ["signal.signal(signal.SIGTERM, lambda *_: None)", *_settled(draft)]


def _memory(draft: Draft, step: lo.Memory, event: Event) -> list[str]:
    draft.need("gc", "pathlib", "re")
    draft.define("memory", MEMORY)
    return ["gc.collect()", "sizes.append(memory())"]


def _consume(draft: Draft, step: lo.Consume, event: Event) -> list[str]:
    draft.need("weakref")
    return [
        "seen, most = [], 0", f"for batch in pass_{step.name}:",
        "    seen.append(weakref.ref(batch))", "    batch = None",
        "    most = max(most, sum(one() is not None for one in seen))",
        "now.append([len(seen), most])",
    ]  # fmt: skip


MEMORY = """\
sizes = []  # MiB of this process alone
def memory():
    text = pathlib.Path("/proc/self/smaps_rollup").read_text()
    return sum(map(int, re.findall(r"Private_\\w+: +(\\d+)", text))) >> 10""".splitlines()


def _printed(draft: Draft, step: lo.Printed, event: Event) -> list[str]:
    looked = "'printed' if os.pread(1, 20_000, 0) else 'nothing printed'"
    return ["sys.stdout.flush()", f"now.append({looked})"]


def _devices(draft: Draft, step: lo.Devices, event: Event) -> list[str]:
    draft.need("torch")
    if step.current is None:
        return []
    return [f"torch.cuda.set_device({step.current} % torch.cuda.device_count())"]


def _contexts(draft: Draft, step: lo.Contexts, event: Event) -> list[str]:
    draft.need("torch")
    every = "filter(torch._C._cuda_hasPrimaryContext, range(torch.cuda.device_count()))"
    return [f"now.append(list({every}) if torch.cuda.is_initialized() else [])"]


def _pinned(draft: Draft, step: lo.Pinned, event: Event) -> list[str]:
    draft.define("tensors", TENSORS)
    draft.need("torch")
    counted = "sum(not tensor.is_pinned() for tensor in found)"
    return ["found = tensors(batches)", f"now.append([len(found), min(20, {counted})])"]


TENSORS = """\
def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    held = value.values() if isinstance(value, dict) else value
    return [t for v in held for t in tensors(v)] if isinstance(value, (dict, list, tuple)) else []
""".splitlines()


def _carry(draft: Draft, step: lo.Carry, event: Event) -> list[str]:
    draft.need("torch")
    return [
        "for batch in loader:", "    torch.cuda._sleep(500_000_000)",
        "    copy = batch.to('cuda', non_blocking=True)", "    batch = None",
        "    now.append([int(copy.min()), int(copy.max())])",
    ]  # fmt: skip


def _overlap(draft: Draft, step: lo.Overlap, event: Event) -> list[str]:
    draft.need("time", "torch")
    return [
        "batch = next(iter(loader))", "torch.cuda.synchronize()", "began = time.monotonic()",
        "batch.to('cuda', non_blocking=True)", "handed_over = time.monotonic() - began",
        "torch.cuda.synchronize()", "copied = time.monotonic() - began",
        "now.append('in the background' if handed_over < copied / 2 else 'waited for')",
    ]  # fmt: skip


BLOWS: dict[type, Callable[[Draft, Any, Event], list[str]]] = {
    lo.Leftovers: _leftovers, lo.Strike: _strike, lo.Ponder: _ponder, lo.Interrupt: _interrupt,
    lo.Fork: _fork, lo.Orphan: _orphan, lo.End: _end, lo.Limit: _limit, lo.Crowd: _crowd,
    lo.Daemon: _daemon, lo.Preempt: _preempt, lo.Memory: _memory,
    lo.Consume: _consume, lo.Printed: _printed,
    lo.Devices: _devices, lo.Contexts: _contexts, lo.Pinned: _pinned, lo.Carry: _carry,
    lo.Overlap: _overlap, op.Surround: _surround,
}  # fmt: skip
