"""Samplers, `collate_fn` and `worker_init_fn` of a loader's case."""

from __future__ import annotations

from conformance.datasets import Collate, Init, Order
from conformance.operations import SetEpoch
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.forms import odd
from conformance.report.reproduction.gates import held, reported
from conformance.report.reproduction.gives import ROLLED
from conformance.report.reproduction.mishaps import faults, mishap
from conformance.report.reproduction.origin import role_name
from conformance.report.reproduction.sources import copied
from conformance.worlds.keys import BELOW, FAR, ODD, Label

LISTS = {
    "ascending": "range({n})", "descending": "range({last}, -1, -1)",
    "lambdas": "[lambda k=k: k for k in range({n})]",
    "texts": "[f'item {{k}}' for k in range({n})]", "tuples": "[(k, 'item') for k in range({n})]",
    "named": "[Named(k) for k in range({n})]",
    "lists": "[[k] for k in range({n})]", "pairs": "[(k, -1) for k in range({n})]",
    "arrays": "[numpy.array([k, -1]) for k in range({n})]",
    "gaps": "[[k // 2] if k % 2 else [] for k in range({n})]",
    "odd": f"{list(ODD)}[:{{n}}]", "flags": "[k == 0 for k in range({n})]",
    "labels": "[Label(k) for k in range({n})]", "far": f"[{FAR} - k for k in range({{n}})]",
    "below": f"[{BELOW} - k for k in range({{n}})]",
    "long": "[f'item {{k}}'.ljust(1 << 18) for k in range({n})]",
    "scalars": "[numpy.int64(-1 - k) for k in range({n})]",
    "tensors": "[torch.tensor(-1 - k) for k in range({n})]",
}  # fmt: skip
"""Samplers that are a list, if nobody asks what was drawn from them."""

BATCH = "[6 * (k // 3) + j for j in ((0,), (1, 2), (3, 4, 5))[k % 3]]"

PLACES = {
    "ascending": "k", "descending": "{last} - k", "lambdas": "lambda: k", "batches": BATCH,
    "epochs": "(k + turned) % {n}", "turning": "(k + turned) % {n}",
    "growing": "k", "gaps": "[k // 2] if k % 2 else []",
    "growing-batches": "[k]", "texts": "f'item {{k}}'", "tuples": "(k, 'item')",
    "lists": "[k]", "pairs": "(k, -1)", "odd": f"{ODD}[k]",
    "arrays": "numpy.array([k, -1])", "named": "Named(k)",
    "epochs-batches": "[(k + turned) % {n}]", "again": "k", "again-batches": "[k]",
    "understated": "k", "rooted": "k",
    "flags": "k == 0", "labels": "Label(k)", "far": f"{FAR} - k",
    "below": f"{BELOW} - k", "long": "f'item {{k}}'.ljust(1 << 18)",
    "scalars": "numpy.int64(-1 - k)", "tensors": "torch.tensor(-1 - k)",
}  # fmt: skip
"""The index at place `k`."""


LAZY = (
    "epochs", "epochs-batches", "turning", "growing", "growing-batches", "understated", "rooted",
)  # fmt: skip
"""Samplers that no list is like: their passes differ, their length is wrong, they stay here."""


def order(draft: Draft, recipe: Order) -> str:
    """The expression for a sampler."""
    words = {"n": max(1, recipe.n), "last": recipe.n - 1}
    draft.need(*["numpy"] * (recipe.how in ("arrays", "scalars")))
    draft.need(*["torch"] * (recipe.how == "tensors"))
    if recipe.how == "named":
        draft.need("collections")
        fields = "['place', 'kind'], defaults=['named']"
        draft.define("Named", [f"Named = collections.namedtuple('Named', {fields})"])
    if recipe.how == "labels":
        copied(draft, Label)
    if recipe.how.startswith("again"):
        return draft.define("Order", _again(recipe)) + "()"
    if recipe.sized and not recipe.faults and not draft.reports and recipe.how not in LAZY:
        if recipe.how == "batches":
            return f"[{BATCH} for k in range({recipe.n})]"
        return LISTS[recipe.how].format(n=recipe.n, last=recipe.n - 1)
    grown = " + self.epoch" if recipe.how.startswith("growing") else ""
    length = recipe.n // (2 if recipe.how == "understated" else 1)
    size = ["    def __len__(self):", f"        return {length}{grown}"]
    lines = ["class Order:", *(size if recipe.sized else [])]
    if draft.has(SetEpoch) or recipe.how.startswith("epochs") or grown:
        lines.insert(1, "    epoch = 0")
        lines += ["    def set_epoch(self, epoch):", "        self.epoch = epoch"]
    if recipe.how == "turning":
        lines.insert(1, "    passes = -1")
    if recipe.how == "rooted":
        lines += ["    def __getstate__(self):", "        raise TypeError('cannot be sent')"]
    draft.define("Order", [*lines, *indented(_passes(draft, recipe, PLACES[recipe.how], words))])
    return "Order()"


def _again(recipe: Order) -> list[str]:
    """Its iterator, asked after its end, starts over."""
    return [
        "class Order:", "    def __len__(self):", f"        return {recipe.n}",
        "    def __iter__(self):", "        self.place = 0", "        return self",
        "    def __next__(self):", f"        if self.place == {recipe.n}:",
        "            self.place = 0", "            raise StopIteration",
        "        k, self.place = self.place, self.place + 1",
        f"        return {PLACES[recipe.how]}",
    ]  # fmt: skip


def _passes(draft: Draft, recipe: Order, index: str, words: dict[str, int]) -> list[str]:
    """One pass: a generator, with a method before it where a pass does something at its start."""
    grown = recipe.how.startswith("growing")
    loop = [f"for k in range({'len(self)' if grown else recipe.n}):"]
    inner = [*faults(draft, recipe.faults, "sampler", "k", "yield"), *reported(draft, "draw", "k")]
    loop += indented([*inner, f"yield {index.format(**words)}"])
    if recipe.how.startswith("epochs"):
        loop = ["turned = self.epoch", *loop]
    begin = reported(draft, "begin", "0")
    for fault in recipe.faults:
        begin += mishap(draft, fault) if fault.where == "begin" else []
    if recipe.how == "turning":
        begin = [*begin, "self.passes += 1"]
    if not begin:
        return ["def __iter__(self):", *indented(loop)]
    given = "self.passes" if recipe.how == "turning" else "0"
    start = ["def __iter__(self):", *indented([*begin, f"return self.draw({given})"])]
    return [*start, f"def draw(self, {'turned' if given != '0' else '_'}):", *indented(loop)]


def collate(draft: Draft, recipe: Collate) -> str:
    """The expression for a `collate_fn`."""
    if recipe.how == "lambda":
        return "lambda samples: samples"
    if recipe.how == "odd":
        return draft.define("collate", ["def collate(samples):", *odd()])
    made = {
        "list": "samples", "sum": "sum(samples)", "thin": "samples[1:]",
        "thin tensor": "torch.tensor(samples[1:])", "held": "{'samples': samples}",
        "called": "[s() for s in samples] if isinstance(samples, list) else samples()",
        "double": "[2 * s for s in samples] if isinstance(samples, list) else 2 * samples",
    }[recipe.how]  # fmt: skip
    draft.need(*["torch"] * (recipe.how == "thin tensor"))
    wrong = faults(draft, recipe.faults, "collate", "i")
    each = "for i in samples if isinstance(samples, list) else [samples]:"
    body = [*reported(draft, "collate", "0"), *([each, *indented(wrong)] if wrong else [])]
    lines = ["def collate(samples):", *indented([*body, f"return {made}"])]
    return draft.define("collate", lines)


def init(draft: Draft, recipe: Init) -> str:
    """The expression for a `worker_init_fn`."""
    if recipe.how == "lambda":
        return "lambda worker: None"
    body = [
        *reported(draft, "init", "worker"),
        *held(draft),
        *faults(draft, recipe.faults, "init", "worker"),
    ]
    if recipe.how == "seed":
        draft.need("torch")
        body.append("torch.manual_seed(5)")
    if recipe.how == "dice":
        body.append(f"dataset = {role_name(draft, 'get_worker_info')}().dataset")
        body.append(f"dataset.early = [({ROLLED}) for _ in range(8)]")
    if recipe.how == "mark":
        body.append(f"info = {role_name(draft, 'get_worker_info')}()")
        body.append("info.dataset.mark = 1 + worker if info.id == worker else -1")
    return draft.define("init", ["def init(worker):", *indented(body or ["pass"])])
