"""Datasets that are an array, a tensor, or made of others, in the words of a script."""

from __future__ import annotations

from conformance.recipes import Data
from conformance.report.reproduction.draft import Draft


def of_kind(draft: Draft, recipe: Data) -> str:
    """A dataset of another kind, as `worlds/realise.py` makes it."""
    n, half = recipe.n, recipe.n // 2
    if recipe.kind in OWN:
        return draft.define(recipe.kind.title(), OWN[recipe.kind]) + f"({n})"
    if recipe.kind != "list":
        draft.need("numpy" if recipe.kind == "ndarray" else "torch")
    return {
        "ndarray": f"numpy.zeros(({n}, 3), dtype='uint8')",
        "tensor": f"torch.zeros({n}, 3, dtype=torch.uint8)",
        "subset": f"torch.utils.data.Subset(range({2 * n + 15}), range({n + 5}, 5, -1))",
        "concat": f"torch.utils.data.ConcatDataset([range({half}), range({n - half})])",
        "columns": f"torch.utils.data.TensorDataset(torch.zeros({n}, 3), torch.zeros({n}))",
        "list": f"list(range({n}))",
    }[recipe.kind]


SIZED = (
    "class Sized:", "    shape, size, n, num_samples = (2, 5), 10, 2, 2",
    "    data = targets = labels = samples = (0, 1)",
    "    def __init__(self, n):", "        self.count = n",
    "    def __len__(self):", "        return self.count",
)  # fmt: skip

ITEMS = ("    def __getitem__(self, i):", "        return i")

UNTRUE = ("    def __bool__(self):", "        return False")

OWN = {
    "sized": SIZED, "endless": ("class Endless:", *SIZED[1:], *ITEMS),
    "closed": ("class Closed:", *SIZED[1:], *UNTRUE),
}  # fmt: skip
"""Datasets of a class of their own, by their kinds."""
