"""Iterable-style datasets as the few lines that this very case needs."""

from __future__ import annotations

from conformance.datasets import Stream
from conformance.operations import Resize
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.gates import reported
from conformance.report.reproduction.gives import fetched, held, item, size, worker
from conformance.report.reproduction.mishaps import faults
from conformance.report.reproduction.origin import role_name


def stream(draft: Draft, recipe: Stream) -> str:
    """The expression for an iterable-style dataset, an instance of the candidate's class."""
    text = item(draft, recipe.gives)
    base = role_name(draft, "IterableDataset")
    lines = [f"class Data({base}):", *indented(held(draft, recipe.gives))]
    if recipe.sized:
        length = size(draft, recipe.n) if recipe.claims is None else recipe.claims
        lines += ["    def __len__(self):", f"        return {length}"]
        lines += ["    def __getitem__(self, i):", "        return 'looked at', i"]
    if draft.has(Resize):
        lines.append(f"    n = {recipe.n}")
    early = any(fault.where == "iter" for fault in recipe.faults)
    if draft.reports or recipe.again or recipe.itself:
        body = _reporting(draft, recipe, text)
    else:
        body = _iterating(draft, recipe, text, early)
    draft.define("Data", [*lines, *indented(body)])
    return "Data()"


def _share(draft: Draft, recipe: Stream) -> list[str]:
    """The elements that this worker gives."""
    n = size(draft, recipe.n)
    spare = f"max(0, {n} - workers + 1)"
    ranks = draft.case.world_size
    text = {
        "worker": f"range(worker, {n}, workers)",
        "rank": f"range(self.rank * workers + worker, {n}, {ranks} * workers)",
        "skewed": f"range({spare}) if worker == 0 else [*range({spare}, {n})][worker - 1 : worker]",
        "blocks": f"range({n} * worker // workers, {n} * (worker + 1) // workers)",
        "uneven": f"range(sum(lengths[:worker]), {n} if worker == workers - 1"
        " else sum(lengths[: worker + 1]))",
        "told": f"range({n}) if worker == self.mark % workers else ()",
    }.get(recipe.shard)
    if text is None:
        return [f"share = range({n})"]
    info = f"info = {role_name(draft, 'get_worker_info')}()"
    told = "worker, workers = (info.id, info.num_workers) if info else (0, 1)"
    known = [f"lengths = {recipe.lengths}"] if recipe.lengths else []
    return [info, told, *known, f"share = {text}"]


def _iterating(draft: Draft, recipe: Stream, text: str, early: bool) -> list[str]:
    """`__iter__` as a generator, unless it asks for its share at once and its elements need no
    statements; where it fails itself, the elements have one of their own."""
    lines = fetched(draft, recipe, text, "yield", "share")
    known = [worker(draft)] if "worker" in " ".join(lines) else []
    if lines == [f"yield {text}"] and not (recipe.late or early or known):
        elements = "iter(share)" if text == "i" else f"({text} for i in share)"
        return ["def __iter__(self):", *indented([*_share(draft, recipe), f"return {elements}"])]
    loop = [*_share(draft, recipe), *known, "for i in share:", *indented(lines)]
    if not early:
        return ["def __iter__(self):", *indented(loop)]
    failing = [worker(draft), *faults(draft, recipe.faults, "iter", "max(0, worker)")]
    begin = ["def __iter__(self):", *indented(failing), "    return self.elements()"]
    return [*begin, "def elements(self):", *indented(loop)]


def _reporting(draft: Draft, recipe: Stream, text: str) -> list[str]:
    """An iterator that tells of its end, and of being asked after it."""
    begin = [*reported(draft, "iter", "0"), worker(draft)]
    begin += [*faults(draft, recipe.faults, "iter", "max(0, worker)"), *_share(draft, recipe)]
    lines = fetched(draft, recipe, text, share="self.share")
    known = [worker(draft)] if "worker" in " ".join(lines) else []
    again = ["self.left = iter(self.share) if self.ended else self.left"] if recipe.again else []
    told = ['report("ask" if self.ended else "end", 0)'] if draft.reports else []
    draft.define("Elements", [
        "class Elements:", "    def __init__(self, share):",
        "        self.share, self.left, self.ended = share, iter(share), False",
        "    def __iter__(self):", "        return self", "    def __next__(self):",
        *indented([*again, *known, "for i in self.left:", *indented(lines), *told], 2),
        "        self.ended = True", "        raise StopIteration",
    ])  # fmt: skip
    if not recipe.itself:
        return ["def __iter__(self):", *indented([*begin, "return Elements(share)"])]
    start = [*begin, "self.elements = Elements(share)", "return self"]
    own = ["def __next__(self):", "    return next(self.elements)"]
    return ["def __iter__(self):", *indented(start), *own]
