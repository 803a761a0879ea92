"""Valid constructor arguments for each role: a few small ones, and very large ones."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from conformance.classes import size_of
from conformance.recipes import SOURCES, Data, Generator, Probe, Role, Runs, Values
from conformance.roles import FIRST
from conformance.scenarios import Setting

Arguments = dict[str, Any]
Sizes = tuple[int, ...]

LONG = (200, 1500)
"""The lengths of the longest small arguments."""

LARGE = 70_001
"""Past sizes at which an implementation may choose another way, such as 10^4, 2^15 and 2^16, more
draws than a chunk of so many holds, and no multiple of one."""

MANY_DRAWS: dict[str, list[Arguments]] = {
    "RandomSampler": [
        {"data_source": Data(5), "replacement": True, "num_samples": LARGE},
        {"data_source": Data(40_009), "num_samples": LARGE},
    ],
    "WeightedRandomSampler": [
        {"weights": Values((1.0, 3.0)), "num_samples": LARGE},
        {"weights": Values(range(LARGE)), "num_samples": LARGE - 9, "replacement": False},
    ],
}

SEEDED = (
    "DistributedSampler", "BalanceClassSampler", "WeightedBalanceClassSampler",
    "DistributedSamplerWrapper",
)  # fmt: skip
DRAWN = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
RANKED = ("DistributedSampler", "DistributedSamplerWrapper")


def small(setting: Setting) -> Iterator[Arguments]:
    """A few arguments of each kind, smallest first."""
    return iter([optional(setting, found) for found in SMALL[setting.role](LONG)])


def large(setting: Setting) -> list[Arguments]:
    """The last argument that the role has of a large size, and many draws."""
    *_, found = (m for m in SMALL[setting.role]((LARGE,)) if size_of(m) == LARGE)
    return [optional(setting, found), *MANY_DRAWS.get(setting.role, ())]


def sources(setting: Setting) -> Iterator[Arguments]:
    """Every kind of dataset; a batch that is to hold all there is, however much."""
    name = FIRST[setting.role]
    if setting.role in ("SequentialSampler", "RandomSampler", "DistributedSampler"):
        for n, kind in enumerate(SOURCES, 3):
            yield {name: Data(n, kind)}
    if setting.role == "RandomSampler":
        yield {name: Data(4, "ndarray"), "replacement": True, "num_samples": 40}
    if setting.role == "BatchSampler":
        yield {name: Probe("Descending", 5), "batch_size": sys.maxsize // 2, "drop_last": False}


def paged(setting: Setting) -> Iterator[Arguments]:
    """A dataset that fills whole pages, blocks or buffers, of whichever power of two."""
    if setting.role in ("SequentialSampler", "RandomSampler", "DistributedSampler"):
        yield {FIRST[setting.role]: Data(1024)}


def uncounted(setting: Setting) -> Iterator[Arguments]:
    """What has no length to be asked for, and draws where it is read instead."""
    inner = {"sampler": Probe("TorchUnsized", 7)}
    if setting.role == "BatchSampler":
        yield {**inner, "batch_size": 2, "drop_last": False}
    if setting.role == "DistributedSamplerWrapper":
        yield inner


def abridged(setting: Setting) -> Iterator[tuple[Arguments, Arguments]]:
    """Short arguments, and weights or labels instead of which numpy prints the ends alone: there
    are many, which come in runs."""
    weights = Values(Runs(((1.0, 4), (3.0, 500), (0.5, 700), (1.0, 4))))
    labels = Values(Runs(((0, 4), (1, 500), (2, 700), (0, 4))))
    few = {"labels": Values((0, 1, 2))}
    if setting.role == "WeightedRandomSampler":
        yield {"weights": Values((1.0, 2.0)), "num_samples": 40}, {"weights": weights}
    if setting.role == "BalanceClassSampler":
        yield {**few, "mode": 7}, {"labels": labels}
    if setting.role == "WeightedBalanceClassSampler":
        yield {**few, "weight": Values((1.0, 1.0, 1.0)), "length": 30}, {"labels": labels}


def hashed(setting: Setting) -> Iterator[tuple[Arguments, Arguments, Arguments]]:
    """Short arguments, and two instead of them that differ in numbers of one hash: Python's of -1
    is that of -2, and that of 1.0 is that of 2.0**61."""
    one, other = (Values((-1, -2, -1, 0, -2, -1, 0)), Values((-2, -1, -1, 0, -1, -1, 0)))
    heavy, light = Values((1.0, 2.0**61, 0.0)), Values((2.0**61, 1.0, 0.0))
    few = {"labels": Values((0, 1, 2))}
    if setting.role == "SubsetRandomSampler":
        yield {"indices": Values((3, 4))}, {"indices": one}, {"indices": other}
    if setting.role == "WeightedRandomSampler":
        given = {"weights": Values((1.0, 2.0)), "num_samples": 40}
        yield given, {"weights": heavy}, {"weights": light}
    if setting.role == "BalanceClassSampler":
        yield {**few, "mode": 7}, {"labels": one}, {"labels": other}
    if setting.role == "WeightedBalanceClassSampler":
        given = {**few, "weight": Values((1.0, 2.0, 1.0)), "length": 9}
        yield given, {"labels": one}, {"labels": other}


def containers(setting: Setting) -> Iterator[Arguments]:
    """Indices, weights and labels in each kind of container, which may be drawn from, or copied, in
    another way."""
    for kind in ("ndarray", "tensor", "column"):
        if setting.role == "SubsetRandomSampler":
            yield {"indices": Values((9, 8, 0, 1, 2, 30), kind)}
        if setting.role == "WeightedRandomSampler":
            yield {"weights": Values((0.5, 0.0, 2.0, 1.0), kind), "num_samples": 40}
        if setting.role == "BalanceClassSampler":
            yield {"labels": Values((0, 1, 1, 0, 1, 2, 2, 2), kind)}
        if setting.role == "WeightedBalanceClassSampler":
            labels, weight = Values((0, 1, 1, 0, 1, 0), kind), Values((1.0, 2.0), kind)
            yield {"labels": labels, "weight": weight, "length": 9}


def learned(setting: Setting) -> Iterator[Arguments]:
    """Weights of which gradients are wanted: what is computed from them cannot be copied."""
    weights = Values((0.5, 0.0, 2.0, 1.0), "learned")
    if setting.role == "WeightedRandomSampler":
        yield {"weights": weights, "num_samples": 40}
    if setting.role == "WeightedBalanceClassSampler":
        yield {"labels": Values((0, 1, 2, 3, 0, 2)), "weight": weights, "length": 9}


def optional(setting: Setting, arguments: Arguments) -> Arguments:
    """Without those optional arguments that torch's signature lacks and the role does not take."""
    extra = {"WeightedBalanceClassSampler", "BalanceClassSampler", "DistributedSamplerWrapper"}
    if setting.role not in extra:
        return arguments
    required = ("labels", "mode", "weight", "length", "sampler", "num_replicas", "rank")
    return {k: v for k, v in arguments.items() if k in required or setting.accepts(k)}


def has_epochs(setting: Setting) -> bool:
    """Whether the role's order follows set_epoch; a class-balanced one need not offer it."""
    return setting.role in SEEDED and (
        setting.has_epochs or not setting.role.endswith("ClassSampler")
    )


def is_private(setting: Setting, arguments: Arguments) -> bool:
    """Whether the arguments fix all randomness: a generator or seed is given, or none is needed."""
    if setting.role in DRAWN:
        return arguments.get("generator") is not None
    if setting.role.endswith("ClassSampler"):
        return "seed" in arguments or setting.accepts("seed")
    return True


def with_generator(setting: Setting, arguments: Arguments, seed: int = 5) -> Arguments:
    """The same arguments with a generator, where the role takes one."""
    if setting.role in DRAWN:
        return {**arguments, "generator": Generator(seed)}
    return arguments


def without_generator(arguments: Arguments) -> Arguments:
    return {name: value for name, value in arguments.items() if name != "generator"}


def _sequential(long: Sizes) -> list[Arguments]:
    return [{"data_source": Data(n)} for n in (0, 1, 2, 5, 13, *long)]


def _random(long: Sizes) -> list[Arguments]:
    sources: list[Arguments] = [{"data_source": Data(n)} for n in (1, 2, 5, 13, *long)]
    more = [
        {"data_source": Data(5), "num_samples": 3}, {"data_source": Data(3), "num_samples": 7},
        {"data_source": Data(6), "num_samples": 6},
        {"data_source": Data(4), "replacement": True},
        {"data_source": Data(5), "replacement": True, "num_samples": 3},
        {"data_source": Data(3), "replacement": True, "num_samples": 70},
    ]  # fmt: skip
    return sources + more


def _subset(long: Sizes) -> list[Arguments]:
    few = ((), (4,), (3, 1, 2), (7, 7, 0), (9, 8, 0, 1, 2, 30))
    made = [Values(items, kind) for items in few for kind in ("list", "tuple")]
    made += [Values(range(0, 10, 3), "range"), Values(range(9, -1, -2), "range")]
    return [{"indices": indices} for indices in (*made, *(Values(range(n)) for n in long))]


def _weighted(long: Sizes) -> list[Arguments]:
    weights = (Values((1.0,)), Values((1.0, 3.0)), Values((0.5, 0.0, 2.0, 1.0), "float64"))
    made = [{"weights": w, "num_samples": k} for w in weights for k in (1, 5, 40)]
    made += [{"weights": Values(range(n)), "num_samples": 70} for n in long]
    return [*made, {"weights": weights[2], "num_samples": 3, "replacement": False}]


def _batch(long: Sizes) -> list[Arguments]:
    inners = (
        Probe("Counting", 0), Probe("Counting", 1), Probe("Counting", 7),
        Role("SequentialSampler", data_source=Data(6)),
        Role("RandomSampler", data_source=Data(5), generator=Generator(5)),
        *(Probe("Descending", n) for n in long),
    )  # fmt: skip
    return [
        {"sampler": inner, "batch_size": size, "drop_last": drop}
        for inner in inners
        for size in (1, 3)
        for drop in (False, True)
    ]


def _distributed(long: Sizes) -> list[Arguments]:
    made: list[Arguments] = [{"dataset": Data(n)} for n in (0, 1, 4, 5, 8, *long)]
    made += [{"dataset": Data(n), "drop_last": True} for n in (1, 4, 5, 6, 7)]
    for n in (1, 7):
        made += [{"dataset": Data(n), "shuffle": False, "drop_last": d} for d in (False, True)]
    made += [
        {"dataset": Data(7), "seed": 0, "shuffle": True},
        {"dataset": Data(17), "seed": 1 << 31},
    ]
    return [*made, {"dataset": Data(9), "seed": 7}]


LABELS = (
    Values((0,)), Values((0, 1)), Values((0, 0, 0, 1)), Values((1, 0, 2, 0, 1, 0, 0, 2), "tensor"),
    Values((2, 2, 2, 0, 1, 1, 1, 1, 2, 1, 1), "ndarray"), Values((0, 1, 1, 2) * 40),
    Values(("cat", "eel", "dog", "ant", "dog", "cat", "ant") * 2),
)  # fmt: skip


def squares(n: int, modulus: int) -> list[int]:
    """`n` labels of classes that differ in size, made of two numbers: lists are slow to draw."""
    return [i * i % modulus for i in range(n)]


def _labels(long: Sizes) -> list[Values]:
    """The same, and very long ones."""
    return [*LABELS, *(Values(tuple(squares(n, 7)), "ndarray") for n in long if n == LARGE)]


def _balance(long: Sizes) -> list[Arguments]:
    modes = ("downsampling", "upsampling", 1, 5)
    return [{"labels": labels, "mode": mode} for labels in _labels(long) for mode in modes]


def _weighted_balance(long: Sizes) -> list[Arguments]:
    weights = {1: (1.0,), 2: (1.0, 3.0), 3: (0.2, 0.5, 0.3), 4: (2.0, 1.0, 1.0, 3.0)}
    return [
        {"labels": labels, "weight": Values(weights[len(set(labels.items))]), "length": length}
        for labels in _labels(long)
        for length in (1, 7, 20, 1000)
    ]


def _wrapper(long: Sizes) -> list[Arguments]:
    inners = (
        Probe("Descending", 1), Probe("Descending", 5), Probe("Descending", 8),
        Probe("Doubling", 9), Probe("Descending", 0), *(Probe("Descending", n) for n in long),
        Role("RandomSampler", data_source=Data(7), generator=Generator(5)),
        Role("SequentialSampler", data_source=Data(10)), Probe("Epoched", 11),
    )  # fmt: skip
    made: list[Arguments] = [{"sampler": inner} for inner in inners]
    flags = ({"shuffle": False}, {"shuffle": True}, {"drop_last": True}, {"seed": 3})
    return made + [{"sampler": inners[1], **flag} for flag in flags]


def _view(long: Sizes) -> list[Arguments]:
    return [{"sampler": Probe("Descending", n)} for n in (0, 1, 5, *long)]


SMALL: dict[str, Callable[[Sizes], list[Arguments]]] = {
    "SequentialSampler": _sequential, "RandomSampler": _random, "SubsetRandomSampler": _subset,
    "WeightedRandomSampler": _weighted, "BatchSampler": _batch, "DistributedSampler": _distributed,
    "BalanceClassSampler": _balance, "WeightedBalanceClassSampler": _weighted_balance,
    "DistributedSamplerWrapper": _wrapper, "DatasetFromSampler": _view,
}  # fmt: skip
