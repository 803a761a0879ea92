"""The files that are changed, the roles that each of them gives, and who may tell.

A target is named by its package and its place there: `torch/sampler.py`, `reference/random.py`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import torch.utils.data
from detect import SMALL

import reference
from conformance.baseline import Deviation, read_baseline
from conformance.clauses import CHAPTERS, clauses
from conformance.examine import Options
from conformance.roles import LOADERS, ROLES
from conformance.scenarios import EFFORTS
from mutants.operators import Mutant, mutants

FOLDERS = {"torch": Path(torch.utils.data.__path__[0]), "reference": Path(reference.__path__[0])}

BALANCED = ("BalanceClassSampler", "WeightedBalanceClassSampler")
DIVIDED = ("DistributedSampler", "DistributedSamplerWrapper")
DRAWN = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
PLAIN = ("SequentialSampler", *DRAWN, "BatchSampler")

SAMPLERS: dict[str, tuple[str, ...]] = {
    "torch/sampler.py": PLAIN,
    "torch/distributed.py": ("DistributedSampler",),
    "reference/arguments.py": tuple(role for role in ROLES if role not in LOADERS),
    "reference/balanced.py": BALANCED,
    "reference/batch.py": ("BatchSampler",),
    "reference/distributed.py": DIVIDED,
    "reference/drop_in.py": ("DistributedSampler",),
    "reference/random.py": ("RandomSampler",),
    "reference/sampler.py": (*PLAIN, *DIVIDED, *BALANCED),
    "reference/sequential.py": ("SequentialSampler",),
    "reference/subset.py": ("SubsetRandomSampler",),
    "reference/weighted.py": ("WeightedRandomSampler",),
    "reference/wrapper.py": ("DistributedSamplerWrapper", "DatasetFromSampler"),
}
"""The files on samplers, and the roles that a change of one can touch."""

LOADING = (
    "torch/dataloader.py", "torch/_utils/worker.py", "torch/_utils/fetch.py",
    "torch/_utils/collate.py", "reference/loader/bench.py", "reference/loader/buffers.py",
    "reference/loader/channel.py", "reference/loader/collate.py", "reference/loader/crew.py",
    "reference/loader/crew_pass.py", "reference/loader/failure.py", "reference/loader/fetch.py",
    "reference/loader/loader.py", "reference/loader/options.py", "reference/loader/parcel.py",
    "reference/loader/passes.py", "reference/loader/producer.py", "reference/loader/reorder.py",
    "reference/loader/seeds.py", "reference/loader/worker.py",
)  # fmt: skip
"""The files on loaders. Those on pinned memory are left out: they need an accelerator."""

TARGETS = (*SAMPLERS, *LOADING)

LEFT_OUT = {
    "torch/_utils/worker.py": {
        "_generate_state": "a hash of the seed: another hash is as good",
    },
    "torch/dataloader.py": {
        "_get_distributed_settings": "data pipes, which torch gives up",
        "_share_dist_seed": "data pipes, which torch gives up",
        "_sharding_worker_init_fn": "data pipes, which torch gives up",
        "DataLoader.check_worker_number_rationality": "it only warns",
    },
}
"""Functions of which no mutants are made, each with the reason."""

ONLY_DROP_IN = frozenset({"reference/drop_in.py"})
"""Files that the torch profile alone looks at."""


FIRST = frozenset({
    "sampler.works", "sampler.arguments", "sampler.length", "sampler.reject", "sampler.empty",
})  # fmt: skip
"""Clauses for every sampler that tell much for little time."""

FIRST_LOADING = frozenset({
    "loader.batches", "loader.length", "loader.collate", "loader.errors", "loader.reject",
    "loader.ends", "workers.same-order", "workers.seeds", "workers.errors", "workers.persistent",
    "workers.unordered", "workers.timeout", "iterable.once", "iterable.worker-info",
    "iterable.drop-last", "iterable.ends",
    "lifecycle.shutdown", "lifecycle.again",
})  # fmt: skip
"""The same for loaders."""


@dataclass(frozen=True)
class Stage:
    """A part of the search for a violation: clauses, effort, profile, whether without groups.

    effort: the name of one of the suite's, or "small".
    """

    clauses: frozenset[str]
    effort: str
    profile: str = "core"
    simulated: bool = False

    def changed(self, options: Options) -> Options:
        """The options of a search in this stage."""
        effort = SMALL if self.effort == SMALL.name else EFFORTS[self.effort]
        return replace(options, effort=effort, profile=self.profile, simulated=self.simulated)


@dataclass(frozen=True)
class Target:
    """A file under test and what is asked about it."""

    name: str

    @property
    def package(self) -> str:
        return self.name.partition("/")[0]

    @property
    def inner(self) -> str:
        """Its path within the package."""
        return self.name.partition("/")[2]

    @property
    def path(self) -> Path:
        return FOLDERS[self.package] / self.inner

    @property
    def source(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def digest(self) -> str:
        """Tells whether the file is the one that was measured: the ids name its lines."""
        return hashlib.sha256(self.source.encode()).hexdigest()[:12]

    @property
    def loads(self) -> bool:
        return self.name in LOADING

    @property
    def roles(self) -> tuple[str, ...]:
        return LOADERS if self.loads else SAMPLERS[self.name]

    def deviations(self) -> list[Deviation]:
        """What is known of torch itself, and says nothing about a mutant."""
        return read_baseline("torch") if self.package == "torch" else []

    def mutants(self) -> Iterator[Mutant]:
        """The mutants of the file, but for functions that are left out."""
        left_out = LEFT_OUT.get(self.name, {})
        for mutant in mutants(self.source, self.name):
            if not any(f"{mutant.function}.".startswith(f"{name}.") for name in left_out):
                yield mutant

    def touched(self, mutant: Mutant) -> tuple[str, ...]:
        """The roles that a mutant can touch: its own class where that is one, else all."""
        kind = mutant.function.partition(".")[0]
        alone = kind in self.roles and self.package == "torch"
        return (kind,) if alone and not self.loads else self.roles

    def stages(self, roles: tuple[str, ...], depth: str = "all") -> tuple[Stage, ...]:
        """How a search goes: what is cheap and tells most first, all of the suite at last.

        The first stages only save time: what they find, the whole suite would find too.
        depth: "first" for the cheap ones alone, "rest" for what comes after them, "quick" for the
        first of that, "later" for the rest of it, "all" for everything.
        """
        everything = self.asked()
        sequences = frozenset(name for name in everything if clauses()[name].profile == "torch")
        torch_profile = Stage(sequences, "ci", "torch", True)
        if self.name in ONLY_DROP_IN:
            return (replace(torch_profile, clauses=sequences | FIRST),)
        if self.loads:
            first = (Stage(FIRST_LOADING, "small"),)
            rest = Stage(everything, "quick"), Stage(everything, "ci")
        else:
            telling = frozenset(name for name in everything if _tells(name, roles))
            first = (Stage(telling, "small", simulated=True),)
            rest = (
                Stage(everything, "quick", simulated=True),
                Stage(everything, "ci"),
                torch_profile,
            )
        depths = {
            "first": first, "quick": rest[:1], "later": rest[1:], "rest": rest, "all": first + rest
        }  # fmt: skip
        return depths[depth]

    def asked(self) -> frozenset[str]:
        """The clauses that may tell."""
        split = CHAPTERS.index("loader")
        chapters = CHAPTERS[split:] if self.loads else CHAPTERS[:split]
        return frozenset(name for name, clause in clauses().items() if clause.chapter in chapters)


def _tells(name: str, roles: tuple[str, ...]) -> bool:
    """Whether a clause belongs to the chapter of one of few roles, or is a first one for all."""
    clause = clauses()[name]
    own = clause.chapter != "sampler" and bool(set(clause.roles) & set(roles))
    return name in FIRST or (own and clause.profile == "core" and not clause.statistical)
