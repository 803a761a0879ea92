"""A second sampler beside the first: the same role, of other arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.classes import size_of
from conformance.operations import Neighbour
from conformance.recipes import Data, Generator, Probe, Recipe, Role, Runs, Values
from conformance.scenarios import Setting, subjects

Made = dict[str, Any]

MORE = 3
"""So many more items the second sampler has, where they can be counted."""


def neighbour(setting: Setting, made: Made, count: int = 0) -> Neighbour:
    """A sampler that agrees with the first in as little as it can; its pass is read for `count`.

    Without `count` it is read to its end.
    """
    other = {name: _other(name, value) for name, value in made.items()}
    if setting.role in subjects.SEEDED and setting.accepts("seed"):
        other["seed"] = int(made.get("seed", 0)) + 9
    epoch = 7 if subjects.has_epochs(setting) else None
    changed = {name: value for name, value in other.items() if value != made.get(name)}
    return Neighbour(tuple(changed.items()), epoch, count or _enough(made))


def sibling(setting: Setting, made: Made) -> Neighbour:
    """A sampler of the very same data, of another seed and epoch where there are such."""
    other = neighbour(setting, made)
    seed = tuple((name, value) for name, value in other.overrides if name == "seed")
    return replace(other, overrides=seed, shared=True)


def akin(setting: Setting, made: Made, epoch: int) -> Neighbour | None:
    """A sampler of more items that agrees with the first in all else; None if it would in all."""
    given = ((k, v) for k, v in made.items() if isinstance(v, (Data, Probe, Values)))
    return _beside(setting, made, epoch, {name: _other(name, value) for name, value in given})


def flagged(setting: Setting, made: Made, epoch: int) -> Neighbour | None:
    """A sampler of the same data and seed that drops what does not divide; None if that is said."""
    if not setting.accepts("drop_last") or made.get("drop_last") is not None:
        return None
    return _beside(setting, made, epoch, {"drop_last": True})


def history(setting: Setting, made: Made, epoch: int, rank: int) -> list[Neighbour]:
    """Samplers that one rank has made, and read, before: each agrees with the first in all but one
    thing, or has another seed and another epoch, of the same sum and the same bits."""
    found = [flagged(setting, made, epoch), akin(setting, made, epoch)]
    found.append(_turned(setting, made, epoch))
    if setting.accepts("shuffle"):
        found.append(_beside(setting, made, epoch, {"shuffle": made.get("shuffle") is False}))
    if setting.role in subjects.SEEDED and setting.accepts("seed"):
        seed = {"seed": int(made.get("seed", 0)) + 4}
        found.append(_beside(setting, made, epoch, seed))
        if subjects.has_epochs(setting):
            found.append(_beside(setting, made, epoch - 4, seed))
    return _of_rank(found, rank)


def instead(setting: Setting, made: Made, other: Made, rank: int) -> list[Neighbour]:
    """A sampler of these other arguments that one rank has made before."""
    return _of_rank([_beside(setting, made, 0, other)], rank)


def turned(setting: Setting, made: Made, epoch: int, rank: int) -> list[Neighbour]:
    """A sampler that one rank has made before: of the same values, in another order between."""
    return _of_rank([_turned(setting, made, epoch)], rank)


def _of_rank(found: list[Neighbour | None], rank: int) -> list[Neighbour]:
    return [replace(one, rank=rank) for one in found if one]


def _turned(setting: Setting, made: Made, epoch: int) -> Neighbour | None:
    """A sampler whose sequences have the same values, in another order between first and last."""
    given = ((name, value) for name, value in made.items() if isinstance(value, Values))
    other = {name: replace(value, items=_inside_out(value.items)) for name, value in given}
    return _beside(setting, made, epoch, other)


def _beside(setting: Setting, made: Made, epoch: int, other: Made) -> Neighbour | None:
    """A sampler that differs in these arguments, read to its end; None if they are the same."""
    changed = tuple((name, value) for name, value in other.items() if value != made.get(name))
    told = epoch if subjects.has_epochs(setting) else None
    return Neighbour(changed, told, _enough(made)) if changed else None


def _inside_out(items: Any) -> Any:
    """Reversed but for the first and the last; a range stays."""
    if isinstance(items, Runs):
        return replace(items, runs=_inside_out(items.runs))
    return (items[0], *items[-2:0:-1], items[-1]) if type(items) is tuple and items else items


def _enough(made: Made) -> int:
    """More items than the second sampler has."""
    numbers = [value for value in made.values() if type(value) is int]
    return 2 * size_of(made) + 10 * max([MORE, *numbers])


def _other(name: str, value: Any) -> Any:
    """Another argument of the same meaning; a number, a flag or a name stays."""
    if isinstance(value, (Data, Probe)):
        size = "n" if isinstance(value, Data) else "count"
        return replace(value, **{size: getattr(value, size) + MORE})
    if isinstance(value, Generator):
        return replace(value, seed=value.seed + 9)
    if isinstance(value, Role):
        inner = {key: _other(key, held) for key, held in value.arguments}
        return type(value)(value.name, **inner)
    if isinstance(value, Values) and name != "weight":
        return replace(value, items=_longer(value.items))
    return value if isinstance(value, Recipe) or name != "batch_size" else value + 1


def _longer(items: Any) -> Any:
    """More items: each twice, so that there is no other label, and no weight below 0."""
    if isinstance(items, range):
        return range(items.start, items.stop + MORE * items.step, items.step)
    return replace(items, times=2 * items.times) if isinstance(items, Runs) else (*items, *items)
