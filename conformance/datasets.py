"""What a loader's case is built from: datasets, samplers, collation and worker initialisation.

All are under the suite's control, in whatever process the candidate runs them: they report each
call to a journal, they stop at the gate (`worlds/gate.py`), and they go wrong where a `Fault` says
so. Here they are recipes; `worlds/workload.py`, `streams.py` and `functions.py` make the objects.
"""

from __future__ import annotations

from dataclasses import dataclass

from conformance.items import Leaf, Nest
from conformance.recipes import Recipe

GENERATORS = ("Generator", "RandomState", "Random", "torch", "class")
"""What a dataset may hold to draw from: numpy's two kinds, Python's, torch's; or its class does."""


HERE = 1000
"""What an item of a dataset that gives "local" is more in the process that made it."""

SLOW_S = 2.5
"""How long a slow item takes: several of them take longer than any bound of the spec."""

POSED = 100
"""Items that a dataset holds and does not give begin here."""


@dataclass(frozen=True, repr=False)
class Fault(Recipe):
    """What goes wrong, where, and at which index (or batch, or worker).

    where: "item" (`__getitem__`, or `__next__` of an iterable), "iter" (`__iter__` of an iterable),
    "collate", "init" (`worker_init_fn`), "sampler", "begin" (`__iter__` of a sampler). what: a key
    of `worlds/mishaps.py`: the name of an exception, of a signal ("SIG37" for one that has none),
    "exit 3", "unpicklable", "bursting", "unpinnable", "hang". once: only the first time, in a
    process, that an item is asked for.
    """

    where: str
    at: int
    what: str
    once: bool = False


@dataclass(frozen=True, repr=False)
class Mapped(Recipe):
    """A map-style dataset of `n` items. What item i is, `gives` tells.

    number: i. parcel: stands for i, and reports its departure from the worker and its arrival in
    the main process. tensor: a 0-d int64 tensor. buffer: one tensor, overwritten by each item.
    buffers: a list that holds it.
    dice: (i, worker, and a draw each from torch, numpy and random). marked: 1000 * mark + i, mark
    being what `Tell` has set. own-NAME: (i, worker, a draw from a generator that the dataset
    holds), NAME being Generator, RandomState, Random or torch; or its class, a Random. bulk: a MiB
    of bytes. info: what `get_worker_info()` says: (i, id, num_workers, seed - id, whether `dataset`
    is this dataset); inside: the same, once the dataset has read i through a loader of its own,
    without workers.
    device: a tensor (i, worker, whether a device is in use there). large: 16 MiB of i. swept: i,
    once garbage was collected. graded: i, which is the slope of a function of torch's.
    through: i, read through a loader of its own, without workers. held: i; the dataset holds a
    lambda, so it cannot be pickled.
    held-marked: as marked, of such a dataset. epoched: as marked, and `set_epoch` sets the mark.
    bursting: i; what the dataset holds cannot be unpickled. interrupting: i; what the dataset holds
    raises SIGINT while it is pickled, once `Interrupt` says so. slow: i, after `SLOW_S`. stored: i,
    from a tensor of 256 KiB. counted: i times 1, which stands in memory that processes share and
    that only their start may pickle. local: i, and `HERE` more in a process that holds the memory
    of the one that made the dataset. listed: as marked, from a plain list. called: a function that
    gives i, so that it cannot be pickled. A sample of a container
    for collation: dict, counter, tuple, named, nested, text, float, complex, mingled (an int for
    even items, a float for odd ones), blended (so are a tensor and an array), array, mixed,
    foreign; of one that is to be kept: bag, row, record, pair, range. views: a tensor of 75 KiB,
    and three more that lie in its memory, in another order and in part. ragged: a list of i + 1
    elements. bulging: a list of one element, or for each third item of two. stretched: a tensor
    of three elements, or of one for each odd item. struct: a maximum with its place, as torch gives
    it: a tuple of a class that takes one argument. lazy: a tensor whose
    conjugate was taken, and not yet computed, and its imaginary part. many: 1,100 tensors of 2.4
    KB. mapping: a mapping that is no dict. disk: a row of a memory-mapped array of numpy's. span: a
    range of two. turned: a dict whose keys stand in another order in each second item. sparse: such
    a tensor. wide: two large arrays and a tensor like the first. odd: one of `items.ODD`. formed:
    what `form` says.

    forms, each: the first `each` items are of the first form, as many of the second, and so on.
    An index may be a number, or what an `Order` makes of it: text, a tuple, a list.

    sized: it has `__len__`. many: its `__getitems__` gives "all" that is asked, "fewer" or "more",
    fewer as an iterator ("lazy"), or is None ("none"); "held" and "delegated": it gives all, and is
    an attribute of the object, or what `__getattr__` finds; it has no such attribute if empty.
    gated: every so many items, the last of them stops at the gate. kept: item i is one object,
    which the dataset keeps. poses: it derives from "list" or from torch's TensorDataset
    ("tensors") or Subset ("subset"), and holds what that would give, but gives items of its own.
    """

    n: int
    gives: str = "number"
    faults: tuple[Fault, ...] = ()
    sized: bool = True
    many: str = ""
    gated: int = 0
    forms: tuple[Leaf | Nest, ...] = ()
    each: int = 1
    kept: bool = False
    poses: str = ""

    @property
    def seconds(self) -> float:
        """How long an item takes."""
        return SLOW_S if self.gives == "slow" else 0.0

    def form(self, i: int) -> Leaf | Nest:
        """What item i is made of."""
        return self.forms[i // self.each % len(self.forms)] if self.forms else Leaf("int")

    @property
    def elements(self) -> int:
        """How many elements all items have together."""
        return sum(self.form(i).count for i in range(self.n))


@dataclass(frozen=True, repr=False)
class Stream(Recipe):
    """An iterable-style dataset of the elements 0 .. n-1.

    shard: "worker" (worker w of W gives w, w + W, ...), "rank" (the same over all workers of all
    ranks), "skewed" (worker 0 gives all but W - 1 elements), "blocks" (worker after worker a block
    of consecutive elements), "uneven" (blocks of the given `lengths`; the last worker gives what
    the others leave), "told" (the worker whose turn `Tell` has set gives all), "none" (every worker
    gives all).
    sized: it has `__len__`, which says n, or what it `claims`, and a `__getitem__` for looking at
    elements, which gives others than a pass. gives, faults, gated: as for `Mapped`; a gated stream
    stops before every `gated`-th element that a worker gives, and before its last. again: asked
    after its end, it starts over. itself: it is its own iterator, and `__iter__` starts it over.
    late: its `__iter__` is a generator, which asks for its share with the first element.
    """

    n: int
    shard: str = "worker"
    sized: bool = False
    gives: str = "number"
    faults: tuple[Fault, ...] = ()
    gated: int = 0
    again: bool = False
    lengths: tuple[int, ...] = ()
    itself: bool = False
    claims: int | None = None
    late: bool = False

    def share(self, worker: int, workers: int, rank: int = 0, world_size: int = 1) -> list[int]:
        """The elements that this worker gives, in order."""
        elements = list(range(self.n))
        if self.shard == "skewed":
            cut = max(0, self.n - (workers - 1))
            return elements[:cut] if worker == 0 else elements[cut:][worker - 1 : worker]
        if self.shard == "blocks":
            return elements[self.n * worker // workers : self.n * (worker + 1) // workers]
        if self.shard == "uneven":
            end = self.n if worker == workers - 1 else sum(self.lengths[: worker + 1])
            return elements[sum(self.lengths[:worker]) : end]
        if self.shard == "worker":
            return elements[worker::workers]
        if self.shard == "rank":
            return elements[rank * workers + worker :: world_size * workers]
        return elements


@dataclass(frozen=True, repr=False)
class Order(Recipe):
    """A sampler over [0, n) that reports each call of `__iter__` and each index drawn.

    how: "ascending", "descending", "turning" (each pass starts one place further on), "epochs"
    (lazily rotated by the epoch as it is when the first index is drawn), "batches" (batches of 1,
    2, 3, 1, ... indices), "lambdas" (indices that cannot be pickled), "growing" (as many more as
    the epoch says), "epochs-batches", "growing-batches" (each of them a batch), "again" and
    "again-batches" (ascending; asked after its end, an iterator starts over), "understated"
    (ascending; its length is half of what it gives), "rooted" (ascending; it cannot be pickled),
    "gaps" (each second batch has one index, the others none), and indices that stand for 0 .. n-1:
    "texts", "tuples", "named" (named tuples), "lists", "pairs", "arrays" (of numpy, of two
    numbers), "odd" (None, an empty text, ...: six at most), "flags" (True and False, which are not
    1 and 0), "labels" (integers with an attribute that tells), "far" (integers below -2**40),
    "below" (below -2**20), "long" (texts of 256 KiB), "scalars" and "tensors" (integers below 0 of
    numpy, and tensors of one). sized: it has `__len__`.
    """

    n: int
    how: str = "ascending"
    faults: tuple[Fault, ...] = ()
    sized: bool = True


@dataclass(frozen=True, repr=False)
class Collate(Recipe):
    """A `collate_fn`: "list" keeps the samples, "sum" adds them, "double" doubles each of them or
    the one it is given, "thin" leaves out the first of several, "thin tensor" makes a tensor of the
    others, "held" is a dict that holds the list of samples, "odd" gives one of `items.ODD`,
    "called" calls each of them, "lambda" cannot be pickled."""

    how: str = "list"
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, repr=False)
class Init(Recipe):
    """A `worker_init_fn`: "report" reports, "mark" sets `get_worker_info().dataset.mark` to 1 + the
    worker's number, or to -1 if `get_worker_info()` has another one, "seed" seeds torch alike in
    all workers, "dice" draws for the first items of a dataset that gives dice, "lambda" cannot be
    pickled."""

    how: str = "report"
    faults: tuple[Fault, ...] = ()


DATASETS: tuple[type[Recipe], ...] = (
    Fault, Mapped, Stream, Order, Collate, Init, Leaf, Nest,
)  # fmt: skip
