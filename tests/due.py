"""Which classes the cases of each property must reach, and where a class is not due, and why.

`DUE` says what must be reached, by clause and role; `EXEMPT` takes back what a clause excludes or
what its cases cannot show. What neither names is counted and shown, and nobody demands it. The
classes are those of `conformance/classes.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.properties import Property

NEAR = ("n = 0", "n >= 1", "n >= 10", "n >= 100", "n >= 1000")
FAR = ("n >= 10000", "n >= 65536")
REMAINDERS = ("n % W = 0", "n % W = 1", "n % W = W-1", "n % W = other")
RANKS = ("W = 1", "W = 2", "W = 3", "W = 4", "W >= 5", "n < W", *REMAINDERS)
GROUPS = ("group", "group, rank found")
DROPS = ("drop_last", "no drop_last")
BATCHES = ("b = 1", "b > n", "n % b = 0", "n % b = 1", "n % b = b-1", "n % b = other")
SEEDS = ("seed = 0", "seed > 0", "seed >= 2^16")
SAMPLES = ("k < n", "k = n", "k > n")
SOME = ("workers = 1", "workers = 2", "workers >= 3")


@dataclass(frozen=True)
class Rule:
    """Classes for the properties whose "clause role" matches one of the patterns `where`."""

    where: tuple[str, ...]
    classes: tuple[str, ...]

    def covers(self, prop: Property) -> bool:
        return matches(f"{prop.clause.id} {prop.role}", self.where)


@dataclass(frozen=True)
class Due(Rule):
    """Classes that must be reached. drawn: by the drawn cases alone."""

    drawn: bool = False


@dataclass(frozen=True)
class Exempt(Rule):
    """Patterns of classes that are not due after all, and the reason."""

    reason: str


RANKED = ("* DistributedSampler", "* DistributedSamplerWrapper")
ROLES = ("sequential.*", "random.*", "subset.*", "batch.*", "distributed.*", "wrapper.*")
SHARED = ("distributed.cover *", "distributed.equal-counts *", "wrapper.cover *", "wrapper.order *")
MODES = ("loader.batches *", "loader.length *", "loader.fetch-once *")
STREAMS = ("iterable.once *", "iterable.length *", "iterable.drop-total *", "iterable.ends *")

DUE = (
    # Samplers.
    Due(("sampler.*", "balanced.*"), NEAR),
    Due((*ROLES, "weighted.*"), (*NEAR, *FAR, "passes >= 3")),
    Due(RANKED, (*RANKS, *GROUPS)),
    Due(("distributed.*", "wrapper.*"), ("epoch > 2",)),
    Due(("distributed.*", "batch.*", "sampler.* BatchSampler"), DROPS),
    Due(("sampler.* DistributedSampler",), (*DROPS, *SEEDS, "shuffle", "no shuffle")),
    Due(("batch.*", "sampler.* BatchSampler"), BATCHES),
    Due(("random.*", "weighted.*"), (*SAMPLES, "generator", *SEEDS[1:])),
    Due(("sampler.* RandomSampler",), ("replacement", *SAMPLES)),
    Due(("weighted.*", "sampler.* WeightedRandomSampler"), ("replacement", "no replacement")),
    Due(("balanced.* BalanceClassSampler",), ("mode = upsampling", "mode = downsampling")),
    # What is drawn, apart from the small cases.
    Due(("sampler.*",), NEAR[1:3], drawn=True),
    Due(ROLES, NEAR[1:3], drawn=True),
    Due(SHARED, ("n >= 100", "n < W", "n % W = 0", "n % W = W-1"), drawn=True),
    Due(RANKED, GROUPS, drawn=True),
    # Loaders.
    Due(MODES, ("workers = 0", *SOME, "n = 0", "n >= 10", "n < workers x b", "prefetch = 1")),
    Due(MODES, (*BATCHES, *DROPS, "no batches", "sampler", "batch_sampler", "shuffle")),
    Due(("loader.*",), ("workers = 0", "workers = 2", "no batches")),
    Due(STREAMS, ("workers = 0", *SOME, "n = 0", "n >= 10", "n < workers x b", "passes >= 3")),
    Due(STREAMS, (*BATCHES, *DROPS, "no batches", "prefetch = 1", "persistent_workers")),
    Due(("iterable.*",), ("iterable", *SOME[1:])),
    Due(("workers.*",), (*SOME, "persistent_workers")),
    Due(
        ("workers.same-order *",),
        ("n = 0", "n >= 10", "n < workers x b", "passes >= 3", "prefetch = 1"),
    ),
    Due(("workers.same-order *",), ("start = spawn", "start = forkserver", "no in_order")),
    Due(("lifecycle.*",), (*SOME[1:], "persistent_workers")),
)

EXEMPT = (
    Exempt(
        ("sampler.reject*", "sampler.integer-like *", "sampler.epoch-type *", "sampler.flags *",
         "*.reject *"), ("*",),
        reason="arguments are refused or taken as such, whatever the length and the ranks",
    ),
    Exempt(
        ("sampler.empty *",), ("n >= *", "n % *", "k *", "b = 1", "seed*", "group*", "replacement"),
        reason="it is about n = 0, before anything is drawn or divided",
    ),
    Exempt(
        ("* RandomSampler", "* WeightedRandomSampler", "* *BalanceClassSampler"), ("n = 0",),
        reason="there is nothing to draw from; where that is no error, sampler.empty judges it",
    ),
    Exempt(
        ("* *BalanceClassSampler",), ("n >= 1000",),
        reason="labels are written out one by one in a case",
    ),
    Exempt(
        ("sampler.index*", "sampler.arguments-copied *", "sampler.error-through *"), ("n = 0",),
        reason="without an index there is nothing to judge",
    ),
    Exempt(
        ("sampler.resize *",), ("n = 0", "replacement", "k *"),
        reason="the clause speaks of passes that follow the length, from a length that is not 0",
    ),
    Exempt(
        ("*.uniform *", "random.replacement-uniform *", "weighted.frequencies *",
         "weighted.first-draw *", "weighted.scale *", "balanced.reach *", "balanced.shuffled *"),
        ("*",),
        reason="a statistic takes thousands of passes over a few fixed configurations",
    ),
    Exempt(
        ("weighted.large*", "distributed.no-group *", "wrapper.double *"), ("*",),
        reason="one situation, which these classes do not vary",
    ),
    Exempt(
        ("*.kinds *", "balanced.labels *", "balanced.seeded *"), ("*",),
        reason="a list of kinds of arguments; the other clauses vary length and passes",
    ),
    Exempt(
        ("balanced.distributed *",), ("mode = *",),
        reason="the mode is an argument of the inner sampler, where no class is counted",
    ),
    Exempt(("*.seeded *",), ("n = 0",), reason="two empty passes always agree"),
    Exempt(
        ("random.manual-seed *",), ("k = n", "generator", *SEEDS[1:]),
        reason="the clause is about passes without a generator",
    ),
    Exempt(
        ("weighted.distinct *",), ("k > n", "replacement"),
        reason="without replacement k is at most n",
    ),
    Exempt(
        ("batch.fresh *", "batch.lazy *", "batch.inner-end *", "batch.no-poll *",
         "batch.set-epoch *", "batch.forwards *"), FAR,
        reason="each pass is taken apart step by step, or asks the inner sampler at each step",
    ),
    Exempt(
        ("batch.lazy *",), ("n >= 10", "n >= 100", "passes >= 3", "n % b = 1"),
        reason="it is about how far one pass has read ahead",
    ),
    Exempt(("batch.inner-end *",), ("passes >= 3",), reason="it is about one end of one pass"),
    Exempt(
        ("distributed.cover *", "distributed.padding*"), ("drop_last",),
        reason="it holds for drop_last=False",
    ),
    Exempt(("distributed.drop *",), ("no drop_last",), reason="it holds for drop_last=True"),
    Exempt(
        ("distributed.epochs-differ *", "distributed.seed *", "distributed.mix *"),
        ("n = 0", "n >= 1", "n < W"),
        reason="two shuffles of fewer than 16 indices may agree by chance",
    ),
    Exempt(
        ("distributed.one-sequence *", "distributed.mix *"), ("passes >= 3",),
        reason="each construction is read once, and compared with another",
    ),
    Exempt(
        ("distributed.mix *",), DROPS,
        reason="what is dropped or padded does not depend on how seed and epoch are mixed",
    ),
    Exempt(
        ("distributed.any-world-size *",), ("*",),
        reason="one rank builds the shards of every world size by turns",
    ),
    Exempt(
        ("distributed.batches *",), (*FAR, "passes >= 3", "epoch > 2", "group"),
        reason="one pass of an inner sampler that the other clauses have judged",
    ),
    Exempt(
        ("wrapper.small *",), ("n >= 100*", *FAR, "n >= 10", "passes >= 3", "epoch > 2"),
        reason="it is about n <= 2 W",
    ),
    Exempt(
        ("wrapper.set-epoch *", "wrapper.agree *", "wrapper.fresh-draw *", "wrapper.length-lie *",
         "wrapper.shuffle *", "wrapper.batches *", "wrapper.view *"), (*FAR, "passes >= 3"),
        reason="the inner sampler reports, changes or is read item by item, with each pass",
    ),
    Exempt(
        ("wrapper.agree *", "wrapper.epochs-differ *", "wrapper.shuffle *"), ("n >= 1", "n < W"),
        reason="two shuffles of few indices may agree by chance",
    ),
    Exempt(("wrapper.agree *",), ("W = 1",), reason="one rank agrees with itself"),
    Exempt(
        ("wrapper.set-epoch *", "wrapper.agree *", "wrapper.fresh-draw *", "wrapper.shuffle *",
         "wrapper.epochs-differ *", "wrapper.batches *"), ("n = 0",),
        reason="an empty inner sampler neither changes nor tells of epochs",
    ),
    Exempt(
        ("wrapper.fresh-draw *", "wrapper.length-lie *", "wrapper.batches *", "wrapper.view *",
         "wrapper.inner-untouched *"), ("epoch > 2", "n >= 10", "n >= 1000"),
        reason="no epoch is set, and the lengths about a few multiples of W decide",
    ),
    Exempt(
        ("wrapper.inner-untouched *",), ("n *", ),
        reason="the inner sampler is one list of seven",
    ),
    Exempt(
        ("loader.reject *", "loader.errors *", "loader.reused-buffer *"), ("workers = 2",),
        reason="refused before any worker is started; or about the main process, or about one",
    ),
    Exempt(
        ("loader.collate *", "loader.getitems *", "loader.reject *"), ("no batches",),
        reason="without batches nothing is collated, and items are asked for one by one",
    ),
    Exempt(
        ("workers.rank-seeds *", "workers.ranks *", "workers.object-rng *", "workers.timeout *"),
        ("workers = 1", "workers >= 3", "persistent_workers"),
        reason="ranks or generators are compared, with two workers each; a timeout takes seconds",
    ),
    Exempt(
        ("lifecycle.failed-construction *", "lifecycle.memory *", "lifecycle.unpicklable *",
         "iterable.unsharded *"), ("workers >= 3", "persistent_workers"),
        reason="it fails before the workers run, or takes many passes; two workers show it",
    ),
)  # fmt: skip
"""What is not due, and why."""


def due(prop: Property, drawn: bool = False) -> list[str]:
    """The classes that a property must reach, by all its cases or by the drawn ones alone."""
    rules = [rule for rule in DUE if rule.drawn == drawn and rule.covers(prop)]
    taken = [pattern for rule in EXEMPT if rule.covers(prop) for pattern in rule.classes]
    return [name for name in named(rules) if not matches(name, taken)]


def named(rules: Iterable[Rule]) -> list[str]:
    """The classes of these rules, each once."""
    return list(dict.fromkeys(name for rule in rules for name in rule.classes))


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
