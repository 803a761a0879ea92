"""The suite's inner samplers in a few lines each: a list where that will do, else a class."""

from __future__ import annotations

import re
from collections.abc import Callable

from conformance.operations import Inspect, Len, Resize
from conformance.recipes import EPOCHED, PARTS, Probe, part
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.origin import stand_in

PLAIN: dict[str, Callable[[Probe], list[object]]] = {
    "Counting": lambda recipe: [*range(recipe.count)],
    "Descending": lambda recipe: [*reversed(range(recipe.count))],
    "Doubling": lambda recipe: [place // 2 for place in range(recipe.count)],
    "Pairs": lambda recipe: [part(place, recipe.at) for place in range(recipe.count)],
}
"""Probes that are a list to whoever does not count the calls.

They are not asked themselves: they know torch, and to import that takes longer than most runs.
"""

UNSIZED = ("Unsized", "Endless", "TorchUnsized", "Spent")
"""Those without a length."""

ITEMS = {
    "Descending": "self.count - 1 - place", "Posing": "self.count - 1 - place",
    "Doubling": "place // 2",
    **dict.fromkeys(EPOCHED, "(self.count - 1 - place + epoch) % self.count"),
    "Growing": "place % self.count",
    "Turning": "(place + self.seen['passes'] - 1) % self.count",
    "Pairs": "[6 * (place // 3) + k for k in {batches}[place % 3]]",
    "Sourced": "self.count - 1 - place",
    "Bucketed": "tuple(6 * ((self.count - 1 - place) // 3) + k"
    " for k in {batches}[(self.count - 1 - place) % 3])",
}  # fmt: skip
"""Item number `place` of those that do not simply count."""

KEPT = {
    "Sourced": [
        "self.data_source, self.num_samples = range(count), count",
        "self.generator, self.shuffle, self.seed = torch.Generator(), True, 0",
    ],
    "Bucketed": ["self.sampler, self.batch_size, self.drop_last = range(2 * count), 3, {cut}"],
}
"""What some keep as torch's samplers do."""

BASES = {"Bucketed": "BatchSampler", "Sourced": "SequentialSampler"}
"""The classes of torch that some derive from."""

POSES = {
    "Posing": [
        "    batch_size, drop_last, num_samples, replacement = 2, True, 1, False",
        "    generator = batch_sampler = None",
        "    sampler, data_source, dataset, indices = range(2), range(99), range(50), [7, 8]",
    ],
    "Growing": [
        "    epoch = 0",
        "    def set_epoch(self, epoch):",
        "        self.epoch = epoch",
    ],
}
"""What a probe has besides its own attributes."""

RANDOM = {
    "TorchRandom": "torch.randperm(self.count).tolist()",
    "TorchUnsized": "torch.randperm(self.count).tolist()",
    "LateRandom": "torch.randperm(self.count).tolist()"
    " if self.seen['passes'] > 1 else range(self.count)",
    "StepRandom": "map((left := list(range(self.count))).pop,"
    " map(random.randrange, range(self.count, 0, -1)))",
    "NumpyRandom": "numpy.random.permutation(self.count).tolist()",
    "PythonRandom": "random.sample(range(self.count), self.count)",
}
"""A whole pass of those that draw from a global generator."""

EPOCH = "epoch = sum(self.seen['epochs'][-1:])"
"""What a pass of `Epoched` begins with: an epoch that is set later is that of the next one."""

BENEATH = "self.sampler = type('Beneath', (), {'set_epoch': lambda self, epoch: None})()"
"""What an `Epoched` holds that looks like a wrapper."""

SET_EPOCH = {
    "Epoched": ["    def set_epoch(self, epoch):", "        self.seen['epochs'].append(epoch)"],
    "Delegating": [
        "    def __getattr__(self, name):", "        if name != 'set_epoch':",
        "            raise AttributeError(name)", "        return self.seen['epochs'].append",
    ],
}  # fmt: skip
"""How they are told one."""

ENDLESS = 1_000_000

LISTED = 1_000
"""No script lists more items than so many: lengths are asked of probes that fit into no memory."""


def probe(draft: Draft, recipe: Probe) -> str:
    """The expression for a probe."""
    if recipe.name == "Spent":
        elements = f"range({recipe.count})"
        return f"iter({elements})" if draft.has(Len) else f"(place for place in {elements})"
    uncounted = not draft.has(Inspect, Resize) and not draft.candidate.bound
    if recipe.name in PLAIN and uncounted and recipe.count <= LISTED:
        return repr(PLAIN[recipe.name](recipe))
    words = RANDOM.get(recipe.name, "")
    draft.need(*re.findall(r"(?<![.\w])(torch|numpy|random)\.", words))
    name = draft.define(_name(recipe), _class(draft, recipe))
    return f"{name}({recipe.count})"


def _name(recipe: Probe) -> str:
    """The name of the class: what it raises is written into it."""
    return recipe.name + recipe.what


def _class(draft: Draft, recipe: Probe) -> list[str]:
    """The class of a probe, with what this plan asks of it."""
    sized = recipe.name not in UNSIZED
    polled = draft.has(Inspect) and sized
    polled = polled and recipe.name not in RANDOM
    base = stand_in(draft, BASES.get(recipe.name, "Sampler"))
    lines = [f"class {_name(recipe)}({base}):", *POSES.get(recipe.name, ())]
    lines += _init(recipe, polled)
    lines += indented((line.format(cut=recipe.at == 2) for line in KEPT.get(recipe.name, ())), 2)
    lines += indented([BENEATH] * (recipe.name in EPOCHED and bool(recipe.at)), 2)
    draft.need(*["torch"] * (recipe.name == "Sourced"))
    if sized:
        length = recipe.at if recipe.name == "Lying" else _count(recipe)
        lines += ["    def __len__(self):", f"        return {length}"]
    lines += SET_EPOCH.get(recipe.name, [])
    return lines + indented(_polled(draft, recipe) if polled else _pass(draft, recipe))


def first_seen(recipe: Probe) -> dict[str, object]:
    """What has been asked of a probe at first."""
    ends = {} if recipe.name in UNSIZED else {"after_end": 0}
    epochs = {"epochs": list[int]()} if recipe.name in EPOCHED else {}
    return {"draws": 0, "passes": 0, **ends, **epochs}


def _init(recipe: Probe, polled: bool) -> list[str]:
    seen = first_seen(recipe)
    if not polled:
        return [
            "    def __init__(self, count):", f"        self.count, self.seen = count, {seen!r}"
        ]  # fmt: skip
    return [
        "    def __init__(self, count, seen=None):",
        f"        self.count, self.seen = count, seen or {seen!r}",
        "        self.place, self.running = -1, seen is not None",
        *[f"        self.{EPOCH}"] * (recipe.name in EPOCHED),
    ]


def _pass(draft: Draft, recipe: Probe) -> list[str]:
    """One pass."""
    begin = ["def __iter__(self):", "    self.seen['passes'] += 1"]
    if recipe.name in RANDOM:
        return [*begin, f"    return iter({RANDOM[recipe.name]})"]
    begin += [f"    {EPOCH}"] * (recipe.name in EPOCHED)
    count = ENDLESS if recipe.name == "Endless" else _count(recipe)
    count = f"{count} + 1" if recipe.name == "Raising" and recipe.at == recipe.count else count
    begin += [f"    for place in range({count}):", "        self.seen['draws'] += 1"]
    begin += _raised(draft, recipe, "place", "        ")
    begin += [f"        yield {_item(recipe)}"]
    return [*begin, f"    raise {_planned(draft)}"] if recipe.name == "Endless" else begin


def _polled(draft: Draft, recipe: Probe) -> list[str]:
    """One pass whose iterator tells of calls after its end: another one that shares `seen`."""
    item = re.sub(r"\b(place|epoch)\b", r"self.\1", _item(recipe))
    return [
        "def __iter__(self):",
        "    self.seen['passes'] += not self.running",
        f"    return self if self.running else {_name(recipe)}(self.count, self.seen)",
        "def __next__(self):",
        "    self.place += 1",
        f"    if self.place >= {_count(recipe)}:",
        f"        self.seen['after_end'] += self.place > {_count(recipe)}",
        "        raise StopIteration",
        "    self.seen['draws'] += 1",
        *_raised(draft, recipe, "self.place", "    "),
        f"    return {item}",
    ]


def _count(recipe: Probe) -> str:
    """How many items a pass has."""
    return "self.count + self.epoch" if recipe.name == "Growing" else "self.count"


def _item(recipe: Probe) -> str:
    return ITEMS.get(recipe.name, "place").format(batches=PARTS.get(recipe.at))


def _raised(draft: Draft, recipe: Probe, place: str, margin: str) -> list[str]:
    """`Raising` raises in one place, `Faltering` in its first pass alone."""
    if recipe.name not in ("Raising", "Faltering"):
        return []
    if recipe.what == "Leaked":
        raised = "RuntimeError('generator raised StopIteration') from StopIteration()"
    else:
        raised = _planned(draft, recipe.what or "Planned", f"'planned', {recipe.at}")
    first = " and self.seen['passes'] == 1" if recipe.name == "Faltering" else ""
    return [f"{margin}if {place} == {recipe.at}{first}:", f"{margin}    raise {raised}"]


def _planned(draft: Draft, kind: str = "Planned", told: str = "'planned'") -> str:
    base = {"Planned": "Exception", "PlannedRuntime": "RuntimeError"}.get(kind, "")
    if base:
        draft.define(kind, [f"class {kind}({base}):", "    pass"])
    return f"{kind}({told})"
