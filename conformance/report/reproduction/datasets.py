"""Map-style datasets as the few lines that this very case needs: a range, a list, or a class."""

from __future__ import annotations

from conformance.datasets import POSED, Mapped
from conformance.loading import Free, Hold, Reload, Schedule, Shut, Strike, Tell, Trickle
from conformance.operations import Resize
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.forms import items
from conformance.report.reproduction.gates import reported
from conformance.report.reproduction.gives import LAZY, fetched, held, item, number, size


def mapped(draft: Draft, recipe: Mapped) -> str:
    """The expression for a map-style dataset."""
    text = items(draft, recipe) if recipe.gives == "formed" else item(draft, recipe.gives)
    if recipe.gives == "listed":
        return f"list(range({recipe.n}))"
    if _plain(draft, recipe) and "self" not in text and "worker" not in text:
        return f"range({recipe.n})" if text == "i" else f"[{text} for i in range({recipe.n})]"
    return draft.define("Data", _mapped(draft, recipe, text)) + "()"


def _plain(draft: Draft, recipe: Mapped) -> bool:
    """Whether a sequence does all that the dataset has to do."""
    waits = recipe.gated and draft.has(Schedule, Shut, Trickle, Free)
    acts = (
        recipe.faults
        or recipe.many
        or recipe.poses
        or waits
        or draft.reports
        or number(draft)
        or draft.has(Tell, Resize, Strike, Hold, Reload)
    )
    return recipe.sized and not acts and recipe.gives not in LAZY


POSES = {
    "list": "(list)", "tensors": "(torch.utils.data.TensorDataset)",
    "subset": "(torch.utils.data.Subset)",
}  # fmt: skip


def _posed(draft: Draft, recipe: Mapped) -> str:
    """What the dataset derives from."""
    draft.need(*["torch"] * (recipe.poses in ("tensors", "subset")))
    return POSES.get(recipe.poses, "")


def _filled(recipe: Mapped) -> list[str]:
    """What it holds, and is not to give."""
    numbers = f"range({POSED}, {POSED + recipe.n})"
    if recipe.poses == "list":
        return ["def __init__(self):", f"    super().__init__({numbers})"]
    if recipe.poses == "tensors":
        return ["def __init__(self):", f"    super().__init__(torch.tensor({numbers}))"]
    if recipe.poses == "subset":
        held = f"    super().__init__(range({2 * POSED}), {numbers})"
        several = "    return [self[i] for i in indices]"
        return ["def __init__(self):", held, "def __getitems__(self, indices):", several]
    return []


def _mapped(draft: Draft, recipe: Mapped, text: str) -> list[str]:
    lines = [f"class Data{_posed(draft, recipe)}:", *indented(held(draft, recipe.gives))]
    if draft.has(Resize):
        lines.append(f"    n = {recipe.n}")
    if recipe.sized:
        lines += ["    def __len__(self):", f"        return {size(draft, recipe.n)}"]
    lines += indented(_filled(recipe))
    body = [*number(draft), *fetched(draft, recipe, text)]
    lines += ["    def __getitem__(self, i):", *indented(body, 2)]
    return lines + (indented(_many(draft, recipe)) if recipe.many else [])


def _many(draft: Draft, recipe: Mapped) -> list[str]:
    if recipe.many == "none":
        return ["__getitems__ = None"]
    answers = {"fewer": "found[:-1]", "more": "found + found[:1]", "lazy": "iter(found[:-1])"}
    name = "fetched" if recipe.many in ELSEWHERE else "__getitems__"
    return [
        f"def {name}(self, indices):", *indented(reported(draft, "collate", "len(indices)")),
        "    found = [self[i] for i in indices]",
        f"    return {answers.get(recipe.many, 'found')}",
        *ELSEWHERE.get(recipe.many, ()),
    ]  # fmt: skip


ELSEWHERE = {
    "held": ("def __init__(self):", "    self.__getitems__ = self.fetched"),
    "delegated": (
        "def __getattr__(self, name):", "    if name == '__getitems__':",
        "        return self.fetched", "    raise AttributeError(name)",
    ),
}  # fmt: skip
"""Where `__getitems__` is, if not in the class."""
