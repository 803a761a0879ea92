"""What is left when a loader's work is over, however it ends."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
import torch
from test_reference_loader import Squares
from test_reference_loader import bounded as bounded

from reference import DataLoader

HERE = Path(__file__).resolve().parent
EITHER = pytest.mark.parametrize("persistent", [False, True])


def resources():
    me = psutil.Process()
    maps = [m.path for m in me.memory_maps(grouped=False) if "memfd" in m.path]
    return len(me.children(recursive=True)), threading.active_count(), me.num_fds(), len(maps)


class Failing(Squares):
    def __getitem__(self, index):
        if index == 3:
            raise ValueError(index)
        return super().__getitem__(index)


def exhaust(loader):
    list(loader)


def leave(loader):
    for _ in loader:
        break


def drop(loader):
    iterator = iter(loader)
    next(iterator)
    del iterator


def fail(loader):
    iterator = iter(loader)
    with suppress(ValueError):
        list(iterator)


@EITHER
@pytest.mark.parametrize("use", [exhaust, leave, drop, fail])
def test_nothing_is_left(use, persistent):
    """No process, thread, descriptor or mapping is left, without help of the garbage collector."""
    dataset = Failing(8) if use is fail else Squares(8)
    drop(DataLoader(dataset, num_workers=1))
    gc.collect()  # what other tests have left goes before anything is counted
    gc.disable()
    try:
        before = resources()
        loader = DataLoader(dataset, 2, num_workers=2, persistent_workers=persistent)
        for _ in range(4):
            use(loader)
        assert persistent or resources() == before
        del loader
        assert resources() == before
    finally:
        gc.enable()


def test_refusal_leaves_nothing(capsys):
    """A start that fails ends the workers it had started, and prints nothing."""
    multiprocessing.resource_tracker.ensure_running()  # Python's own, for spawned processes
    dataset = torch.utils.data.TensorDataset(torch.arange(3))
    dataset.tensors[0].share_memory_()
    before = resources()
    loader = DataLoader(
        dataset, num_workers=2, multiprocessing_context="spawn", collate_fn=lambda x: x
    )
    with pytest.raises(TypeError):
        iter(loader)
    del loader
    assert resources() == before
    assert capsys.readouterr() == ("", "")


@EITHER
@pytest.mark.parametrize("state", ["busy", "stopped"])
def test_shutdown_does_not_wait_long(state, persistent):
    """A busy or stopped worker delays the end by 2 s and no more."""

    class Busy(Squares):
        def __getitem__(self, index):
            if index:
                started.set()
                signal.pause()
            return index

    started = torch.multiprocessing.Event()
    loader = DataLoader(Busy(4), num_workers=1, persistent_workers=persistent)
    iterator = iter(loader)
    next(iterator)
    started.wait()
    pid = iterator._crew.members[0].pid
    if state == "stopped":
        os.kill(pid, signal.SIGSTOP)
    start = time.monotonic()
    del iterator, loader
    assert time.monotonic() - start < 4
    assert not psutil.pid_exists(pid)


FORKS = """if True:
    import multiprocessing, os
    from reference import DataLoader
    loader = DataLoader(range(40), num_workers=2, persistent_workers=True)
    iterator = iter(loader)
    seen = [next(iterator).item()]
    child = os.fork()
    if not child:
        try:
            next(iterator)
        except RuntimeError as error:
            print(error, flush=True)
        del iterator
        again = [b.item() for b in loader]
        print("again" if again == list(range(40)) else "lost", flush=True)
        multiprocessing.util._exit_function()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert seen + [b.item() for b in iterator] == list(range(40))
"""


def test_forked_child_is_no_heir():
    """A forked child that drops or uses the iterator, and exits, changes nothing for the parent."""
    done = subprocess.run(
        [sys.executable, "-c", FORKS], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "belongs to process" in done.stdout and "again" in done.stdout


PROGRAM = """if True:
    import os, signal, sys, time, torch
    from reference import DataLoader
    class Slow:
        def __len__(self): return 1000
        def __getitem__(self, index):
            if index > 3: time.sleep(0.05)
            return os.getpid()
    workers = set()
    loader = DataLoader(Slow(), num_workers=2, persistent_workers=True)
    for b in loader:
        workers.add(b.item())
        if len(workers) == 2:
            print(*workers, flush=True)
            workers.update([0])
"""


def started():
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # may be ignored here
    )
    return program, [int(pid) for pid in program.stdout.readline().split()]


def gone(pids, limit_s):
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if not any(psutil.pid_exists(p) and _runs(p) for p in pids):
            return True
        time.sleep(0.02)
    return False


def _runs(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_interrupt_is_one_traceback():
    """Ctrl-C is one KeyboardInterrupt of the main process, and all processes end."""
    program, workers = started()
    os.killpg(program.pid, signal.SIGINT)
    _, errors = program.communicate(timeout=30)
    assert errors.count("KeyboardInterrupt") == 1 and errors.count("Traceback") == 1
    assert program.returncode == -signal.SIGINT and gone(workers, 1)


def test_interrupt_during_a_fork_is_not_lost():
    """Ctrl-C that another thread takes while workers start is a KeyboardInterrupt of `iter()`."""
    code = """if True:
        import os, signal, threading
        from reference import DataLoader

        def press():
            signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)

        def forked():
            if not pressed:
                pressed.append(threading.Thread(target=press))
                pressed[0].start()
                pressed[0].join()

        pressed = []
        os.register_at_fork(after_in_parent=forked)
        try:
            iter(DataLoader(range(9), num_workers=3))
        except KeyboardInterrupt:
            print("interrupted")
    """
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": str(HERE.parent)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_orphans_end():
    """Workers whose main process is killed end within seconds."""
    program, workers = started()
    program.kill()
    program.communicate()
    assert gone(workers, 5)


@pytest.mark.parametrize(("method", "count"), [("fork", 2), ("spawn", 1), ("forkserver", 1)])
def test_orphan_that_cannot_send_ends(method, count):
    """So do those that wait for room to send, although other processes hold the same socket."""
    code = """if True:
        import multiprocessing, os, sys
        from reference import DataLoader
        from test_reference_loader import Squares
        loaders = [iter(DataLoader([bytes(30_000)] * 99, None, num_workers=int(sys.argv[2]),
            prefetch_factor=40, multiprocessing_context=sys.argv[1])) for _ in range(2)]
        for loader in loaders: next(loader)
        print(*[m.pid for loader in loaders for m in loader._crew.members], flush=True)
        os.kill(os.getpid(), 9)
    """
    program = subprocess.run(
        [sys.executable, "-c", code, method, f"{count}"],
        capture_output=True, text=True, timeout=60,
        env={**os.environ, "PYTHONPATH": f"{HERE.parent}:{HERE}"},
    )  # fmt: skip
    workers = [int(pid) for pid in program.stdout.split()]
    assert len(workers) == 2 * count and gone(workers, 5), program.stderr


def test_memory_of_a_batch_outlives_the_loader():
    """What was delivered stays when batch, iterator and workers are gone."""
    images = [batch[1] for batch in DataLoader(Squares(6), 2, num_workers=2)]
    gc.collect()
    assert [image[1, 0, 0, 0].item() for image in images] == [1, 9, 25]
