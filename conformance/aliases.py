"""What published classes call the arguments of a role, and their role by what they take."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Container
from typing import Any

ALIASES: dict[str, tuple[str, ...]] = {
    "num_replicas": ("num_replicas", "world_size", "num_processes", "dp_size", "num_shards",
                     "shard_count", "data_parallel_size", "dp_world_size", "num_workers"),
    "rank": ("rank", "process_index", "global_rank", "dp_rank", "shard_id", "shard_index",
             "data_parallel_rank"),
    "shuffle": ("shuffle", "batch_shuffle"),
    "seed": ("seed", "shuffle_seed", "data_seed", "random_seed"),
    "drop_last": ("drop_last", "drop_remainder"),
    "replacement": ("replacement", "replace", "with_replacement"),
}  # fmt: skip
"""Arguments that torch's samplers take by name."""

TOTALS = ("total_size", "total_samples", "data_len", "num_records", "dataset_size")
"""Arguments that take the length of a dataset for the dataset."""

BATCHED = "batch_sampler"
"""The argument that takes an inner sampler of batches for an inner sampler."""

FIRSTS = {
    "dataset": ("dataset", "data_source", "iterable", "data", *TOTALS),
    "data_source": ("data_source", "dataset", "data", *TOTALS),
    "sampler": ("sampler", "base_sampler", "inner_sampler", BATCHED),
    "weights": ("weights", "sample_weights", "probs", "probabilities"),
    "indices": ("indices", "indexes", "idxs"),
}
"""The argument that a role takes first; cases give it by position."""

OPPOSITES = {"drop_last": ("keep_last", "keep_remainder", "pad_last")}
"""Flags that mean the opposite of an argument.

`round_up` (mmengine), `even_divisible` (MONAI) and `even_batches` (accelerate) do not: where they
are off nothing is dropped, and ranks are uneven.
"""

EPOCH_SETTERS = ("set_epoch", "reshuffle", "set_epoch_and_start_iteration")
"""Methods that take the number of an epoch."""

FILLS: dict[str, Callable[[int], Any]] = {
    "batch_size": lambda n: 1,
    "micro_batch_size": lambda n: 1,
    "consumed_samples": lambda n: 0,
    "num_samples": lambda n: n,
    "weights": lambda n: [1.0] * n,
    "lengths": lambda n: list(range(1, n + 1)),
    "durations": lambda n: list(range(1, n + 1)),
    "labels": lambda n: [i % 2 for i in range(n)],
    "data_sharding": lambda n: False,
    **dict.fromkeys(TOTALS, lambda n: n),
}
"""What is given for an argument that must be given, and that no case has: by the length n."""

FILLED = {
    "batch_size": "1", "micro_batch_size": "1", "consumed_samples": "0", "num_samples": "{n}",
    "weights": "[1.0] * {n}", "lengths": "list(range(1, {n} + 1))",
    "durations": "list(range(1, {n} + 1))", "labels": "[i % 2 for i in range({n})]",
    "data_sharding": "False", **dict.fromkeys(TOTALS, "{n}"),
}  # fmt: skip
"""The same as a script says it."""

OFFERED = ("lengths", "durations")
"""Those that are given where they need not be, too: without them a class looks at the items."""

ARGUMENTS: dict[str, tuple[str, ...]] = {
    "SequentialSampler": (),
    "RandomSampler": ("replacement", "num_samples", "generator"),
    "SubsetRandomSampler": ("generator",),
    "WeightedRandomSampler": ("num_samples", "replacement", "generator"),
    "BatchSampler": ("batch_size", "drop_last"),
    "DistributedSampler": ("num_replicas", "rank", "shuffle", "seed", "drop_last"),
    "BalanceClassSampler": ("mode", "seed"),
    "WeightedBalanceClassSampler": ("weight", "length", "seed"),
    "DatasetFromSampler": (),
    "DistributedSamplerWrapper": ("num_replicas", "rank", "shuffle", "seed", "drop_last"),
}  # fmt: skip
"""What the roles take beside their first argument, by the names of torch.utils.data and Catalyst.
A loader takes what torch's takes, and nothing of it is turned."""

RANKS = ("num_replicas", "rank")
"""What tells a sampler which rank it serves."""

DEFAULTS: dict[str, dict[str, Any]] = {
    "RandomSampler": {"replacement": False, "num_samples": None, "generator": None},
    "SubsetRandomSampler": {"generator": None},
    "WeightedRandomSampler": {"replacement": True, "generator": None},
    "BatchSampler": {"drop_last": False},
    "DistributedSampler": {"shuffle": True, "seed": 0, "drop_last": False},
    "BalanceClassSampler": {"mode": "downsampling", "seed": 0},
    "WeightedBalanceClassSampler": {"seed": 0},
    "DistributedSamplerWrapper": {"shuffle": False, "seed": 0, "drop_last": False},
}
"""What a role's arguments are where nothing is said: given to a class that must be told."""


def parameters(kind: Any) -> dict[str, inspect.Parameter]:
    """What a class or function can be given by name, `**kwargs` resolved up the class hierarchy.

    Raises ValueError or TypeError for one without a signature.
    """
    if not inspect.isclass(kind):
        return dict(inspect.signature(kind).parameters)
    found: dict[str, inspect.Parameter] = {}
    for base in kind.__mro__:
        if "__init__" not in vars(base) or base is object:
            continue
        own = list(inspect.signature(vars(base)["__init__"]).parameters.values())[1:]
        found = {p.name: p for p in own if p.kind is not p.VAR_KEYWORD} | found
        if not any(p.kind is p.VAR_KEYWORD for p in own):
            break
    else:
        found |= {} if found else dict(inspect.signature(kind).parameters)
    return found


def epoch_setter(kind: Any) -> str:
    """The method that sets the epoch of what a class, or a function that says so, makes."""
    made = kind
    if not inspect.isclass(kind):
        try:
            made = typing.get_type_hints(kind).get("return")
        except Exception:
            made = None
    return among(dir(made), EPOCH_SETTERS)


def canonical(kind: Any) -> set[str]:
    """The arguments that a class takes, by torch's names."""
    try:
        own = set(parameters(kind))
    except (TypeError, ValueError):
        return set()
    tables = (FIRSTS, ALIASES, OPPOSITES)
    return own | {name for table in tables for name, others in table.items() if own & set(others)}


def among(own: Container[str], others: tuple[str, ...]) -> str:
    """The first of several names that is there, "" if none is."""
    return next((name for name in others if name in own), "")


def takes_rank(kind: Any) -> bool:
    """Whether a class is told which rank it serves."""
    return canonical(kind).issuperset(RANKS)


def inferred(kind: Any) -> str:
    """The role of a class that neither its name nor a base class tells, "" if nothing does."""
    takes = canonical(kind)
    ranked = takes.issuperset(RANKS)
    loads = "num_workers" in takes or "DataLoader" in kind.__name__
    if "dataset" in takes and loads and not ranked:
        return "DataLoader"
    if "sampler" in takes and ranked:
        return "DistributedSamplerWrapper"
    if "sampler" in takes and "batch_size" in takes:
        return "BatchSampler"
    if "dataset" in takes and (ranked or epoch_setter(kind)):
        return "DistributedSampler"
    if "weights" in takes:
        return "WeightedRandomSampler"
    if "indices" in takes:
        return "SubsetRandomSampler"
    if "labels" in takes and not ranked:
        wanted = "WeightedBalanceClassSampler", {"weight", "length"}
        return wanted[0] if takes >= wanted[1] else "BalanceClassSampler" * ("mode" in takes)
    if "data_source" in takes and "replacement" in takes:
        return "RandomSampler"
    return _mentioned(kind)


def _mentioned(kind: Any) -> str:
    """The longest name of a role that is a part of the class's name."""
    found = [role for role in ARGUMENTS if role in kind.__name__]
    return max(found, key=len, default="")
