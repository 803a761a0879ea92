"""The loader itself: it keeps the arguments, and starts a pass."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sized
from itertools import repeat
from multiprocessing.context import BaseContext
from typing import Any, Generic, TypeVar

import torch
from torch.utils.data import IterableDataset

from reference import arguments
from reference.batch import BatchSampler
from reference.loader import options
from reference.loader.bench import Bench
from reference.loader.collate import default_collate, default_convert
from reference.loader.crew_pass import CrewPass, Plan
from reference.loader.fetch import Recipe
from reference.loader.passes import LonePass
from reference.loader.pin import accelerated
from reference.loader.producer import Producer
from reference.loader.seeds import base_seed
from reference.loader.worker import Job
from reference.random import RandomSampler
from reference.sequential import SequentialSampler

T = TypeVar("T")


class DataLoader(Generic[T]):
    """Yields the batches of a dataset; the arguments are those of torch.utils.data.DataLoader.

    Where it differs from torch: with `in_order`, each batch and each error comes in its place, for
    any number of workers. After the error of a batch the next call gives the next batch; after the
    death of a worker every call raises. Each pass has its own workers, or takes over idle ones
    (`persistent_workers`): then the dataset is sent anew for each pass, or if that fails, new
    processes are started. worker_init_fn is called in each worker at the start of each pass.

    With an IterableDataset, the workers take turns as long as they have data. `drop_last` drops
    what is too little for a batch even when all workers put theirs together. The length is known
    only without workers: how the dataset divides itself among them, its own length does not tell.

    Raises TypeError or ValueError for arguments out of range or that contradict each other. `iter`
    raises TypeError for what cannot be sent to the workers, and RuntimeError if the process may
    not have any.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable[Any] | None = None,
        batch_sampler: Iterable[Any] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], Any] | None = None,
        multiprocessing_context: str | BaseContext | None = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self.num_workers = arguments.integer("num_workers", num_workers, 0)
        self.timeout = options.seconds("timeout", timeout)
        self.persistent_workers = arguments.boolean("persistent_workers", persistent_workers)
        self.pin_memory = arguments.boolean("pin_memory", pin_memory)
        self.pin_memory_device = options.text("pin_memory_device", pin_memory_device)
        self.in_order = arguments.boolean("in_order", in_order)
        self.worker_init_fn = options.function("worker_init_fn", worker_init_fn)
        self.generator = arguments.generator("generator", generator)
        self.prefetch_factor = self._prefetch(prefetch_factor)
        options.need_workers(
            self.num_workers,
            timeout=timeout,
            persistent_workers=persistent_workers,
            multiprocessing_context=multiprocessing_context,
        )
        options.context(multiprocessing_context)  # refused now, and looked up in each pass
        self.multiprocessing_context = multiprocessing_context
        self._set_batches(batch_size, arguments.boolean("drop_last", drop_last), batch_sampler)
        self._set_sampling(dataset, shuffle, sampler, batch_sampler)
        if collate_fn is None:
            collate_fn = default_collate if self._batched else default_convert
        self.collate_fn = options.function("collate_fn", collate_fn)
        self._passes = 0
        self._bench = Bench(self.persistent_workers)

    def _prefetch(self, factor: int | None) -> int | None:
        if factor is None:
            return 2 if self.num_workers else None
        checked = arguments.integer("prefetch_factor", factor, 1)
        options.need_workers(self.num_workers, prefetch_factor=checked)
        return checked

    def _set_batches(self, batch_size: Any, drop_last: bool, batch_sampler: Any) -> None:
        self.batch_size: int | None = None
        self.batch_sampler: Iterable[Any] | None = None
        self.drop_last = drop_last
        self._batched = batch_size is not None or batch_sampler is not None
        if batch_sampler is not None:
            given = (
                batch_size if batch_size is None else arguments.integer("batch_size", batch_size)
            )
            options.refuse_beside("batch_sampler", batch_size=given != 1, drop_last=drop_last)
        elif batch_size is None:
            options.refuse_beside("batch_size=None", drop_last=drop_last)
        else:
            self.batch_size = arguments.integer("batch_size", batch_size, 1)

    def _set_sampling(self, dataset: Any, shuffle: Any, sampler: Any, batch_sampler: Any) -> None:
        self._iterable = isinstance(dataset, IterableDataset)
        shuffled = shuffle is not None and arguments.boolean("shuffle", shuffle)
        given = {"sampler": sampler is not None, "batch_sampler": batch_sampler is not None}
        self.dataset = options.dataset(dataset, self._iterable, not any(given.values()))
        self.sampler: Iterable[Any] | None = None
        if self._iterable:
            options.refuse_sampling(shuffle=shuffled, **given)
        elif batch_sampler is not None:
            options.refuse_beside("batch_sampler", shuffle=shuffled, sampler=given["sampler"])
            self.batch_sampler = arguments.iterable("batch_sampler", batch_sampler)
        else:
            options.refuse_beside("shuffle", sampler=shuffled and given["sampler"])
            self.sampler = options.sampler(sampler, self._batched)
            self.sampler = self._own_sampler(shuffled) if self.sampler is None else self.sampler
            if self.batch_size is not None:
                self.batch_sampler = BatchSampler(self.sampler, self.batch_size, self.drop_last)

    def _own_sampler(self, shuffled: bool) -> Iterable[int]:
        if shuffled:
            return RandomSampler(self.dataset, generator=self.generator)
        return SequentialSampler(self.dataset)

    def __len__(self) -> int:
        """The number of batches of a pass; TypeError if that cannot be known."""
        if not self._iterable:
            return len(self._draws())  # type: ignore[arg-type]
        if self.num_workers:
            raise TypeError("with workers, the number of batches of an IterableDataset is unknown")
        whole, rest = divmod(len(self.dataset), self.batch_size or 1)
        return whole + (rest > 0 and not self.drop_last)

    def __iter__(self) -> Iterator[T]:
        pin = self.pin_memory and accelerated()
        recipe = Recipe(
            self._iterable, self._batched, self.batch_size, self.drop_last, self.collate_fn
        )
        self._passes += 1
        seed = base_seed(self.generator, self._passes)
        producer = Producer(self._draws())
        if self.num_workers == 0:
            return LonePass(producer, lambda: recipe.fetcher(self.dataset), pin)
        assert self.prefetch_factor is not None
        job = Job(self.dataset, recipe, self.worker_init_fn, self.num_workers)
        crew = self._bench.begin(job, self._context, seed)
        ahead = self.prefetch_factor * self.num_workers
        plan = Plan(recipe, ahead, self.in_order, self.timeout, pin, self._declared())
        return CrewPass(crew, self._bench.release, producer, plan)

    @property
    def _context(self) -> BaseContext:
        return options.context(self.multiprocessing_context)

    def _draws(self) -> Iterable[Any]:
        """What a pass draws its tasks from."""
        if self._iterable:
            return repeat(None)
        chosen = self.batch_sampler if self.batch_sampler is not None else self.sampler
        assert chosen is not None
        return chosen

    def _declared(self) -> int | None:
        if not self._iterable or not isinstance(self.dataset, Sized):
            return None
        try:
            return len(self.dataset)
        except (TypeError, NotImplementedError):
            return None
