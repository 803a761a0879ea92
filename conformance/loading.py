"""The operations that a plan may ask of a loader, besides those of a sampler."""

from __future__ import annotations

from dataclasses import dataclass

from conformance.operations import Drain, Iterate, Open, Operation, Rebuild, Take


@dataclass(frozen=True, repr=False)
class Schedule(Operation):
    """The order in which gated fetches of the next pass may complete.

    turns: whose turn it is, by number of the worker; after the last turn the gate is open. A turn
    ends when the item has arrived in the main process (`arrival`, for parcels), otherwise when it
    has left the gate. dies: the place of the turn at which the worker dies instead, of `how`.
    """

    turns: tuple[int, ...] = ()
    arrival: bool = True
    dies: int = -1
    how: str = "SIGKILL"


@dataclass(frozen=True, repr=False)
class Shut(Operation):
    """Shut the gate: gated fetches of all workers wait until `Free`."""


@dataclass(frozen=True, repr=False)
class Trickle(Operation):
    """Shut the gate for all workers but one, or for none if `worker` is -1: who may go on waits for
    `pace_s` with each item. item: shut it for all items but this one, whichever worker has it."""

    worker: int
    pace_s: float
    item: int = -1

    @property
    def who(self) -> int:
        """Who may go on, as one number: a worker, or an item as a number below -1."""
        return self.worker if self.item < 0 else -2 - self.item


@dataclass(frozen=True, repr=False)
class Hold(Operation):
    """Hold the gate: all workers wait, at a fetch or at their start, until the caller asks for an
    item. What goes wrong then goes wrong while it waits in `next()`, and at no other moment."""


@dataclass(frozen=True, repr=False)
class Free(Operation):
    """Open the gate."""


@dataclass(frozen=True, repr=False)
class Settle(Operation):
    """Wait until nothing has been reported for a while: all workers wait for something."""


@dataclass(frozen=True, repr=False)
class Journal(Operation):
    """All that was reported since the last time, in order: a tuple of `trace.Record`."""


@dataclass(frozen=True, repr=False)
class Reread(Operation):
    """The items delivered so far by the last pass or iterator, read again."""


@dataclass(frozen=True, repr=False)
class Describe(Operation):
    """The batches delivered so far by the last pass or iterator: types, shapes and values."""


@dataclass(frozen=True, repr=False)
class Tell(Operation):
    """Change the dataset in the main process, to `mark`.

    how: "attribute" sets `dataset.mark`; "method" calls one that does; "list", "dict", "tensor",
    "array" (of 256 KiB) and "inner" change an object that the dataset holds, in its place.
    "deleted" deletes the attribute, and what its class says counts again, a mark of 0.
    "lambda" gives it something to hold that cannot be pickled.
    """

    mark: int
    how: str = "attribute"


@dataclass(frozen=True, repr=False)
class Drop(Operation):
    """Forget the iterator `name`; "" forgets the loader and all its iterators.

    collected: otherwise it is garbage that nobody has collected yet, as an iterator is to which a
    caught exception has led.
    """

    name: str = ""
    collected: bool = True


@dataclass(frozen=True, repr=False)
class Leave(Operation):
    """Forget the loader itself, as a `for` loop over a new one does: its iterators are in use."""


@dataclass(frozen=True, repr=False)
class Crowd(Operation):
    """Open so many files that the next descriptor is above `below`, where the machine lets us; with
    0 close standard input instead, as a daemon does, so that the next descriptor is 0."""

    below: int = 1024


ALARM_S = 86_400
"""When the caller's alarm would ring, where `Leftovers` are asked of: whoever clears it shows."""


@dataclass(frozen=True, repr=False)
class Reload(Rebuild):
    """Construct another loader over the dataset that there is, as some do for each epoch.

    beside: the one before is kept, as that for training is beside that for validation.
    """

    beside: bool = False


@dataclass(frozen=True, repr=False)
class Leftovers(Operation):
    """What stands now and did not before the construction: see `worlds/leftovers.py`."""


@dataclass(frozen=True, repr=False)
class Strike(Operation):
    """Send a signal to a worker and wait until it has taken effect."""

    worker: int
    how: str = "SIGKILL"


@dataclass(frozen=True, repr=False)
class Ponder(Operation):
    """The user's own code: nothing of the loader is called for `seconds`."""

    seconds: float = 0.5


@dataclass(frozen=True, repr=False)
class Interrupt(Operation):
    """SIGINT while the main process waits in next(iterator `name`): to all processes of the run, as
    Ctrl-C sends it, or to the main one alone.

    starting: it comes in iter() instead, as the dataset is pickled for a worker.
    """

    name: str
    everybody: bool = True
    starting: bool = False


@dataclass(frozen=True, repr=False)
class Fork(Operation):
    """Fork a child that drops what it inherits and ends; gives how it ended.

    how: "_exit" ends it at once, "exit" runs its exit handlers first, as the end of a script does.
    """

    how: str = "_exit"


@dataclass(frozen=True, repr=False)
class Orphan(Operation):
    """A child builds the same loader, takes one item and is killed. Gives how many workers it had,
    how many of them live after ten seconds, and when the last ended; None if it took no item.

    between: it is killed between two passes instead, when it has taken all items.
    """

    between: bool = False


@dataclass(frozen=True, repr=False)
class End(Operation):
    """A child builds the same loader, takes one item and ends, as a script does whose last line
    that was. Gives how it ended, "stuck" if it did not, and after how many seconds; None if it took
    no item."""


@dataclass(frozen=True, repr=False)
class Limit(Operation):
    """Allow only `spare` more descriptors, bytes in one segment of shared memory, or forks.

    what: "descriptors", "memory" or "processes". A negative `spare` takes the limit back.
    """

    what: str
    spare: int


@dataclass(frozen=True, repr=False)
class Daemon(Operation):
    """Make this process daemonic, as children of a multiprocessing.Pool are."""


@dataclass(frozen=True, repr=False)
class Preempt(Operation):
    """The program takes SIGTERM for itself, as one that saves its state before it is stopped: it
    does not end by it, and nor does a child that inherits this."""


@dataclass(frozen=True, repr=False)
class Memory(Operation):
    """MiB of memory that only this process and its workers hold."""


@dataclass(frozen=True, repr=False)
class Consume(Operation):
    """Read iterator `name` to its end and let go of each batch at once: gives how many came, and
    how many of those were alive at most; None where nothing can tell."""

    name: str


@dataclass(frozen=True, repr=False)
class Printed(Operation):
    """The text printed so far, by all processes of the run."""


@dataclass(frozen=True, repr=False)
class Inform(Operation):
    """What `get_worker_info()` says in the main process: None, or its repr."""


@dataclass(frozen=True, repr=False)
class Devices(Operation):
    """How many accelerators there are, and which of them is made the current one.

    current: its number, from the end if negative; None leaves it as it is. Gives the two numbers.
    """

    current: int | None = None


@dataclass(frozen=True, repr=False)
class Contexts(Operation):
    """The accelerators on which this process has a context."""


@dataclass(frozen=True, repr=False)
class Pinned(Operation):
    """How many tensors there are in the batches delivered so far, and where those that are not
    pinned are."""


@dataclass(frozen=True, repr=False)
class Carry(Operation):
    """A pass whose batches are copied to the device, late, and forgotten at once: the least and
    the greatest number in each copy."""


@dataclass(frozen=True, repr=False)
class Overlap(Operation):
    """Milliseconds that the copy of the first batch takes, a computation, and both together."""


LOADING: tuple[type[Operation], ...] = (
    Schedule, Shut, Trickle, Hold, Free, Settle, Journal, Reread, Describe, Tell, Drop, Leave,
    Leftovers, Strike, Ponder, Interrupt, Fork, Orphan, End, Limit, Crowd, Daemon, Preempt, Memory,
    Consume, Reload, Printed, Inform, Devices, Contexts, Pinned, Carry, Overlap,
)  # fmt: skip

CALLS = (Rebuild, Reload, Open, Take, Drain, Iterate, Drop)
"""Operations in which a loader is called, or let go."""
