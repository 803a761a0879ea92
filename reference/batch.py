"""Lists of indices, from a sampler of indices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import TypeVar

from reference import arguments
from reference.sampler import Sampler

T = TypeVar("T")


class BatchSampler(Sampler[list[T]]):
    """Yields the items of `sampler` in fresh lists of `batch_size`.

    The last list may be shorter, or is left out with `drop_last`. No more items are drawn than
    the batches so far hold, so that an endless sampler works, and an error of the sampler comes
    after all complete batches. The length is TypeError if the sampler has none.

    Raises TypeError or ValueError for a `batch_size` that is not an integer of at least 1.
    """

    def __init__(self, sampler: Iterable[T], batch_size: int, drop_last: bool) -> None:
        self.sampler = arguments.iterable("sampler", sampler)
        self.batch_size = arguments.integer("batch_size", batch_size, 1)
        self.drop_last = arguments.boolean("drop_last", drop_last)

    def __iter__(self) -> Iterator[list[T]]:
        # Not iter(), which islice would call again on the iterator: one that is its own
        # iterable may then start over, and never end. A chain also ends for good.
        items = chain(self.sampler)
        while batch := [*islice(items, self.batch_size)]:
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self) -> int:
        whole, rest = divmod(len(self.sampler), self.batch_size)  # type: ignore[arg-type]
        return whole + (rest > 0 and not self.drop_last)

    @property
    def set_epoch(self) -> Callable[[int], None]:
        """The sampler's own `set_epoch`; a property, so that hasattr says whether there is one."""
        return self.sampler.set_epoch  # type: ignore[attr-defined, no-any-return]
