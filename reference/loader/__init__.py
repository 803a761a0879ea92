"""A loader of batches, with or without worker processes, that obeys every clause of the spec.

How it works, from the outside in. One pass over the loader is one iterator (`passes.py`). A
`Producer` draws batches of indices from the sampler, in the caller's process, and keeps an error of
the sampler until all earlier batches are delivered. A fetcher (`fetch.py`) turns a batch of indices
into a batch of data. Without workers that is all: draw, fetch, return.

With workers the pass deals numbered tasks to a `Crew`, worker k of W gets every W-th, never more
than prefetch_factor * W at a time. Answers arrive in any order, a `ReorderBuffer` puts them right.
Whatever happens to a task is an outcome, a value like any other: a batch, a failure, or the end of
a worker's data. So an error needs no way of its own. It waits in the buffer for its turn.

Three decisions shape the rest.

The pass waits in one place only, and there for everything at once: answers, room to send more, and
the death of any worker. That needs sockets which never block (`channel.py`), and no thread, no
signal handler and no queue whose lock a killed worker could keep. Queues of `multiprocessing` were
the alternative. Their feeder threads swallow what cannot be pickled, their locks die with their
holder, and half a message from a stopped worker blocks the reader for ever.

What is large in a batch is written to a nameless file in memory, and its descriptor travels along
the socket with the message (`parcel.py`). The batch outlives the worker, nothing has a name that
could leak, and memory that runs out is an OSError, where a write to a mapping is a bus error.

A crew does not know about passes. It can be given back and be taken again (persistent_workers), or
be dismissed, and that is the same for a pass that ended, failed or was dropped. The dataset is sent
anew for each pass, because the caller may have changed it. Reuse saves the start of the processes
and nothing else, so that persistent or not makes no difference to what is delivered.

Read in this order: loader, passes, producer, fetch, collate; then reorder, crew, worker, seeds,
channel, parcel, buffers, failure, pin.
"""

from torch.utils.data import IterableDataset

from reference.loader.collate import default_collate
from reference.loader.failure import WorkerDied, WorkerError
from reference.loader.loader import DataLoader
from reference.loader.worker import WorkerInfo, get_worker_info

__all__ = [
    "DataLoader",
    "IterableDataset",
    "WorkerDied",
    "WorkerError",
    "WorkerInfo",
    "default_collate",
    "get_worker_info",
]
