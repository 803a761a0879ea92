"""Workers that die, and resources that run out."""

import os
import signal
import subprocess
import sys
import time

import pytest
import torch
from test_reference_loader import Squares, failing, outcomes
from test_reference_loader import bounded as bounded

from reference import DataLoader, WorkerDied


@pytest.mark.parametrize("died", ["kill", "term", "exit 0", "exit 1", "sys.exit"])
@pytest.mark.parametrize("persistent", [False, True])
def test_death_is_told_soon_and_for_ever(died, persistent):
    """A death is told within 2 s, with worker and reason; nothing after the hole is delivered."""
    ends = {
        "kill": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "term": lambda: os.kill(os.getpid(), signal.SIGTERM),
        "exit 0": lambda: os._exit(0),
        "exit 1": lambda: os._exit(1),
        "sys.exit": lambda: sys.exit(3),
    }
    said = dict(zip(ends, ["SIGKILL", "SIGTERM", "code 0", "code 1", "code 3"], strict=True))
    dataset = failing(ends[died], at=3)
    dataset.alive = True
    loader = DataLoader(dataset, num_workers=2, persistent_workers=persistent)
    iterator, start = iter(loader), time.monotonic()

    seen = outcomes(iterator, calls=7)

    assert time.monotonic() - start < 2
    delivered = [b.item() for b in seen if torch.is_tensor(b)]
    assert delivered == [0, 1, 2][: len(delivered)]
    assert len({str(error) for error in seen[len(delivered) :]}) == 1
    assert isinstance(seen[-1], WorkerDied) and said[died] in str(seen[-1])
    assert "worker 1 (pid" in str(seen[-1])
    dataset.__class__.__getitem__ = lambda self, index: index
    assert [b.item() for b in loader] == list(range(6))


def test_death_of_an_idle_worker():
    """A worker killed between two calls is an error of the loader alone, once it is missed."""
    loader = DataLoader(range(100), num_workers=2)
    iterator = iter(loader)
    next(iterator)
    os.kill(iterator._crew.members[0].pid, signal.SIGKILL)
    iterator._crew.members[0].process.join()
    seen = outcomes(iterator)
    assert isinstance(seen[-1], WorkerDied)
    delivered = [b.item() for b in seen if torch.is_tensor(b)]
    assert delivered == list(range(1, 6))[: len(delivered)]  # 6 was not dealt before the death


def test_batches_sent_before_a_death_that_sending_reveals():
    """What a dead worker has sent is read even if a message to it has failed before."""

    class Gated(Squares):
        def __getitem__(self, index):
            if index == 2:
                gate.wait()
            if index == 4:
                os._exit(1)
            return index

    gate = torch.multiprocessing.Event()
    iterator = iter(DataLoader(Gated(9), None, num_workers=1, prefetch_factor=5))
    seen = [next(iterator)]
    gate.set()
    iterator._crew.members[0].process.join()
    *batches, error = outcomes(iterator, calls=4)
    assert seen + batches == [0, 1, 2, 3] and isinstance(error, WorkerDied)


def test_finished_batches_of_a_dead_worker_arrive():
    """What a worker has sent before its death is delivered."""
    iterator = iter(DataLoader(failing(lambda: os._exit(1), at=1), None, num_workers=1))
    iterator._crew.members[0].process.join()
    first, second = outcomes(iterator, calls=2)
    assert first == 0 and isinstance(second, WorkerDied)


def test_shared_memory_exhausted():
    """Memory that runs out is an OSError of the batch that it was for, not a dead worker."""
    code = """if True:
        import resource, torch
        from reference import DataLoader
        class Data:
            def __len__(self): return 3
            def __getitem__(self, index):
                size = (100, 10 ** 6)[index == 1]
                resource.setrlimit(resource.RLIMIT_FSIZE, (10 ** 6, 10 ** 6))
                return torch.zeros(size)
        import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        iterator = iter(DataLoader(Data(), num_workers=1, multiprocessing_context="fork"))
        print(next(iterator).shape)
        try: next(iterator)
        except Exception as error: print(type(error).__name__, error)
        print(next(iterator).shape)
    """
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "shape" not in told.stderr and told.stdout.count("torch.Size([1, 100])") == 2
    assert "File too large" in told.stdout


def test_descriptors_exhausted():
    """A main process without free descriptors is told so by the batch, and can go on."""
    code = """if True:
        import os, torch
        from reference import DataLoader
        import resource
        iterator = iter(DataLoader([torch.zeros(10 ** 5)] * 6, num_workers=1))
        next(iterator)
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
        held = []
        try:
            while True: held.append(os.open("/dev/null", os.O_RDONLY))
        except OSError: pass
        seen = []
        for _ in range(5):
            try: seen.append(type(next(iterator)).__name__)
            except OSError as error: seen.append(str(error))
            if len(seen) == 2:
                for fd in held: os.close(fd)
        print(seen)
    """
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "Too many open files" in told.stdout, told.stderr
    assert told.stdout.strip().endswith("'Tensor']")
