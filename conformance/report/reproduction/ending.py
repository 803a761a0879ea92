"""How a script ends: it looks, prints, and exits 1 while the fault is there. It never hangs."""

from __future__ import annotations

from conformance.report.reproduction.draft import Draft, indented
from conformance.worlds.forkserver import HASH_SEEDS
from conformance.worlds.place import Place

BOUND_S = 30
"""A script that takes longer has found a hang."""


def ending(draft: Draft, broken: str, apart: bool) -> list[str]:
    """The end; `apart`: in a process of its own, which is killed with all that it started."""
    several = draft.several and (draft.grouped or draft.case.world == "alone")
    own = _process(draft) if several else []
    look = _processes(draft) if several else _alone(draft)
    out = ['print("now:    ", now, flush=True)']
    if "SEEN" in broken:
        other = "not the same again: mended, or wrong in another way"
        out.append(f'print("the same again" if {broken} else "{other}", flush=True)')
    if apart:
        return [*own, *_apart(draft, [*look, *out, f"os._exit(1 if {broken} else 0)"])]
    draft.need("faulthandler")
    bound = f"faulthandler.dump_traceback_later({BOUND_S}, exit=True)  # a hang exits 1, too"
    start = ["print(__doc__, flush=True)", bound]
    return [*own, *start, *look, *out, f"sys.exit(1 if {broken} else 0)"]


def _alone(draft: Draft) -> list[str]:
    """One process: one rank, or the ranks one after another."""
    group = []
    if draft.grouped:
        draft.names["torch"].add("distributed")
        store = "store=distributed.HashStore(), rank=0, world_size=1"
        group = [f'distributed.init_process_group("gloo", {store})']
    ranks = f"[look(rank) for rank in range({draft.case.world_size})]"
    return [*group, f"now = {ranks if draft.several else 'look()'}"]


def _process(draft: Draft) -> list[str]:
    """What the script does where it has started itself: the part of one rank, or of one program."""
    draft.need("faulthandler", "os", "pickle", "subprocess", "tempfile", "torch")
    size, group = draft.case.world_size, []
    if draft.grouped:
        draft.names["torch"].add("distributed")
        started = f'"gloo", init_method=f"file://{{folder}}/store", rank=rank, world_size={size}'
        group = [*_told(size), f"distributed.init_process_group({started})"]
    body = [
        "rank, folder = int(sys.argv[1]), sys.argv[2]",
        f"faulthandler.dump_traceback_later({BOUND_S}, exit=True)",
        *group,
        'with open(f"{folder}/{rank}", "wb") as file:',
        "    pickle.dump(look(rank), file)",
        "os._exit(0)",
    ]
    who = "one of the processes that are started below"
    return [f'if __name__ == "__main__" and len(sys.argv) > 1:  # {who}', *indented(body), ""]


def _processes(draft: Draft) -> list[str]:
    """Real processes, which hash texts differently, as interpreters do."""
    return [
        "folder, processes = tempfile.mkdtemp(), []",
        f"for rank in range({draft.case.world_size}):",
        f'    own = {{**os.environ, "PYTHONHASHSEED": str({HASH_SEEDS}[rank % 2])}}',
        "    command = [sys.executable, __file__, str(rank), folder]",
        "    processes.append(subprocess.Popen(command, env=own))",
        "for process in processes:",
        f"    process.wait({BOUND_S})",
        "now = [pickle.load(open(f'{folder}/{rank}', 'rb')) for rank in range(len(processes))]",
    ]


def _told(size: int) -> list[str]:
    """What a launcher tells each rank."""
    most = int(Place(0, size, "gloo", "").environment["LOCAL_WORLD_SIZE"])
    nodes = '("GROUP_RANK", "NODE_RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK")'
    own = f"RANK=rank, WORLD_SIZE={size}, LOCAL_RANK=rank % {most}"
    return [
        f"told = dict.fromkeys({nodes}, rank // {most}) | dict({own})",
        "os.environ.update({name: str(told[name]) for name in told})",
    ]


def _apart(draft: Draft, lines: list[str]) -> list[str]:
    """A child does the work; it is killed with its whole process group when time is up."""
    draft.need("contextlib", "multiprocessing", "os", "signal")
    main = ["def main():", *indented(["os.setpgrp()", *lines])]
    body = [
        "print(__doc__, flush=True)",
        'child = multiprocessing.get_context("fork").Process(target=main)',
        "child.start()",
        f"child.join({BOUND_S})",
        "if child.exitcode not in (0, 1):",
        f'    print("now:     hangs for {BOUND_S} s, or dies:", child.exitcode)',
        "with contextlib.suppress(ProcessLookupError):",
        "    os.killpg(child.pid, signal.SIGKILL)",
        "sys.exit(0 if child.exitcode == 0 else 1)",
    ]
    return [*main, "", "", 'if __name__ == "__main__":', *indented(body)]
