"""The objects of a loader's case: datasets, streams, samplers and functions that tell the gate."""

from __future__ import annotations

from typing import Any

from conformance.case import Case
from conformance.datasets import Collate, Init, Mapped, Order, Stream
from conformance.worlds import functions, streams, workload
from conformance.worlds.gate import Gate
from conformance.worlds.realise import Realiser


class LoaderRealiser(Realiser):
    """Makes the objects of a loader's case as well."""

    def __init__(self, roles: dict[str, Any], case: Case, rank: int, gate: Gate) -> None:
        super().__init__(roles, rank, case.world_size, case.passed)
        self.gate, self.info = gate, roles["get_worker_info"]
        self.samplers: list[Any] = []

    def role(self, name: str, arguments: dict[str, Any]) -> Any:
        made = super().role(name, arguments)
        if hasattr(made, "set_epoch"):
            self.samplers.append(made)
        return made

    def _mapped(self, recipe: Mapped) -> Any:
        made = workload.mapped(recipe, self.gate, self.info)
        return self._known(made, recipe.gives)

    def _stream(self, recipe: Stream) -> Any:
        base = self.roles["IterableDataset"]
        made = streams.stream(recipe, self.gate, self.info, base, self.rank, self.world_size)
        return self._known(made, recipe.gives)

    def _known(self, made: Any, gives: str) -> Any:
        """A dataset; one that reads through a loader of its own has the class of that."""
        if gives in ("inside", "through"):
            made.loader = self.roles["DataLoader"]
        self.datasets.append(made)
        return made

    def _order(self, recipe: Order) -> Any:
        kind = functions.Sampler if recipe.sized else functions.Unsized
        self.samplers.append(kind(recipe, self.gate))
        return self.samplers[-1]

    def _collate(self, recipe: Collate) -> Any:
        made = functions.Collating(recipe, self.gate, self.info)
        return made if recipe.how != "lambda" else lambda samples: made(samples)

    def _init(self, recipe: Init) -> Any:
        made = functions.Initialising(recipe, self.gate, self.info)
        return made if recipe.how != "lambda" else lambda worker: made(worker)
