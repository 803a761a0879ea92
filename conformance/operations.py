"""The operations that a plan may ask of a rank. A rank knows these and nothing else.

Resume, re-iteration, interleaving and epochs are all lists of these. Every plan starts with a
construction of the case's role, which is not written down.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.recipes import Recipe


class Operation(Recipe):
    """Base of all operations."""

    def __repr__(self) -> str:
        return super().__repr__() if self.__dataclass_fields__ else f"{type(self).__name__}()"  # type: ignore[attr-defined]


@dataclass(frozen=True, repr=False)
class Rebuild(Operation):
    """Construct the role afresh, from fresh arguments; `overrides` replaces some of them.

    early: of a loader, as if it were constructed, and passed over once, before there is a process
    group.
    """

    overrides: tuple[tuple[str, object], ...] = ()
    early: bool = False


@dataclass(frozen=True, repr=False)
class Neighbour(Operation):
    """Construct a second sampler of the role beside the first, from fresh arguments, and use it.

    `overrides` replaces some arguments. Where ranks are told, it is the last rank of one more.
    Then follow `len`, `set_epoch(epoch)` where there is one, and `count` items; it is kept.
    rank: the only rank that does so. shared: of data, indices, labels and weights that nothing
    replaces it is given the very objects that the first sampler was.
    """

    overrides: tuple[tuple[str, object], ...] = ()
    epoch: object = None
    count: int = 0
    rank: int | None = None
    shared: bool = False


@dataclass(frozen=True, repr=False)
class Refill(Rebuild):
    """Construct the role afresh, from sequences and a dataset that were handed over before.

    Their owner has overwritten them in place: now they hold what `overrides` says.
    """


@dataclass(frozen=True, repr=False)
class Len(Operation):
    """`len(sampler)`."""


@dataclass(frozen=True, repr=False)
class SetEpoch(Operation):
    """`sampler.set_epoch(epoch)`."""

    epoch: object


@dataclass(frozen=True, repr=False)
class Iterate(Operation):
    """One whole pass: `list(sampler)`, cut off at the case's limit."""


@dataclass(frozen=True, repr=False)
class Validate(Iterate):
    """The same under `torch.inference_mode()`, as the passes of a validation are."""


@dataclass(frozen=True, repr=False)
class Within(Iterate):
    """The same in another surrounding: "loop", a coroutine that an event loop of asyncio runs, as
    any cell of a notebook is; "autocast", code under `torch.autocast`."""

    where: str = "loop"


@dataclass(frozen=True, repr=False)
class Passes(Operation):
    """`count` whole passes, laid end to end (statistics)."""

    count: int


@dataclass(frozen=True, repr=False)
class Epochs(Operation):
    """For each epoch from `start` on, `count` of them: set_epoch and a whole pass (statistics)."""

    count: int
    start: int = 0


@dataclass(frozen=True, repr=False)
class Open(Operation):
    """`name = iter(sampler)`."""

    name: str


@dataclass(frozen=True, repr=False)
class Take(Operation):
    """`count` items from the iterator `name`."""

    name: str
    count: int = 1


@dataclass(frozen=True, repr=False)
class Drain(Operation):
    """All further items of the iterator `name`."""

    name: str


@dataclass(frozen=True, repr=False)
class Scribble(Operation):
    """Overwrite every batch received so far with -7 (the caller owns a batch).

    Gives how many of them are the same list as one before.
    """


@dataclass(frozen=True, repr=False)
class Look(Operation):
    """`[view[k] for k in range(len(view))]`, and what `view[len(view) + past]` raises, or for a
    `past` below 0 `view[past - len(view)]`.

    how: the order in which the places are read, a key of `PLACES`; where one is read twice, the
    later item counts.
    """

    how: str = "ascending"
    past: int = 0


PLACES: dict[str, Callable[[int], list[int]]] = {
    "ascending": lambda n: [*range(n)],
    "descending": lambda n: [*range(n)][::-1],
    "strided": lambda n: [k for start in range(3) for k in range(start, n, 3)],
    "shuffled": lambda n: sorted(range(n), key=lambda k: (k * 7919 + 13) % 10_007),
    "twice": lambda n: [k for place in range(n) for k in (place, max(0, place - 1), place)],
}
"""The places of a view of `n` items in the order in which they are read."""


@dataclass(frozen=True, repr=False)
class Globals(Operation):
    """A digest of the global torch, numpy and random states, and of the caller's generator."""


@dataclass(frozen=True, repr=False)
class Reseed(Operation):
    """Set global states: all three, or one of `which` ("torch", "numpy", "random"); or, where that
    is "generator", the one that the caller has handed over."""

    seed: int
    which: str = "all"


LAUNCHED = ("RANK", "WORLD_SIZE", "OMP_NUM_THREADS")
"""What a launcher sets."""


@dataclass(frozen=True, repr=False)
class Surround(Operation):
    """Change the process's default dtype and thread count, as another machine would, and the digits
    with which decimal numbers are computed. launched: rank and world size, as a launcher leaves
    them in the environment beside a number of threads. spare: garbage is collected when the caller
    says so, gradients are not recorded, and threads take turns more often. worker: the process is
    a loader's worker, of this number among so many, as torch's `get_worker_info` tells."""

    dtype: str = "float64"
    threads: int = 3
    digits: int = 28
    launched: tuple[int, int] | None = None
    spare: bool = False
    worker: tuple[int, int] | None = None

    @property
    def environment(self) -> dict[str, str]:
        """What the launcher has set, by name."""
        told = [*map(str, self.launched), "1"] if self.launched else []
        return dict(zip(LAUNCHED, told, strict=False))


@dataclass(frozen=True, repr=False)
class Threads(Operation):
    """From now on the candidate is called from threads: each call comes from one of its own, which
    ends with it."""


@dataclass(frozen=True, repr=False)
class Group(Operation):
    """A process group of this process alone begins, or, if not `begins`, the one there is ends."""

    begins: bool = True


@dataclass(frozen=True, repr=False)
class Copy(Operation):
    """Replace the sampler by its copy, `how` = "pickle" or "deepcopy". spare: make the copy, and go
    on with the sampler that was copied."""

    how: str = "pickle"
    spare: bool = False


@dataclass(frozen=True, repr=False)
class Resize(Operation):
    """Change the length of the dataset, and of a probe, to `n` behind the sampler's back."""

    n: int


@dataclass(frozen=True, repr=False)
class Overwrite(Operation):
    """The caller overwrites the mutable arguments that it passed."""


@dataclass(frozen=True, repr=False)
class Lengthen(Operation):
    """The caller appends `count` items to the lists that it passed; below 0: takes them away."""

    count: int


@dataclass(frozen=True, repr=False)
class Forget(Operation):
    """The caller forgets what it has handed over, and garbage is collected."""


@dataclass(frozen=True, repr=False)
class Arguments(Operation):
    """A digest of the sequences that were passed: when they were handed over, and now."""


@dataclass(frozen=True, repr=False)
class Inner(Operation):
    """One whole pass of the sampler that was wrapped, by itself."""


@dataclass(frozen=True, repr=False)
class Twin(Operation):
    """The next whole pass of another such inner sampler, which nothing is wrapped around."""


@dataclass(frozen=True, repr=False)
class Inspect(Operation):
    """What the case's probe has seen: calls, draws, epochs."""


OPERATIONS: tuple[type[Operation], ...] = (
    Rebuild, Refill, Neighbour, Len, SetEpoch, Iterate, Validate, Within, Passes, Epochs, Open,
    Take, Drain, Scribble, Look, Globals, Reseed, Surround, Threads, Group, Copy, Resize,
    Overwrite, Lengthen, Forget, Arguments, Inner, Twin, Inspect,
)  # fmt: skip
