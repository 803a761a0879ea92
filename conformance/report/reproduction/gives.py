"""What an item is, and what a dataset holds for it, as the text of a script."""

from __future__ import annotations

from conformance.datasets import HERE, SLOW_S, Init, Mapped, Order, Stream
from conformance.items import ODD
from conformance.loading import Tell
from conformance.operations import Resize
from conformance.report.reproduction.draft import Draft
from conformance.report.reproduction.gates import passing, reported
from conformance.report.reproduction.mishaps import faults
from conformance.report.reproduction.origin import role_name
from conformance.report.reproduction.sources import copied, sampled
from conformance.worlds import mishaps
from conformance.worlds.keys import BELOW, FAR
from conformance.worlds.keys import ODD as ODD_KEYS

DRAWS = "1 << 30"

ROLLED = (
    f"int(torch.randint({DRAWS}, ())), numpy.random.randint({DRAWS}), random.randrange({DRAWS})"
)
"""A draw each from the global generators."""

GIVES = {
    "mingled": "i + i % 2 / 10 if i % 2 else i", "number": "i", "complex": "complex(i + 0.1, 0.2)",
    "parcel": "i", "tensor": "torch.tensor(i)", "buffer": "self.buffer.fill_(i)",
    "buffers": "[self.buffer.fill_(i)]",
    "dice": f"(i, worker, {ROLLED})",
    "marked": "1000 * self.mark + i", "bulk": "bytes([i % 256]) * (1 << 20)",
    "dict": "{{'x': torch.tensor([i, i + 1]), 'y': i}}",
    "ordered": "collections.OrderedDict(b=i, a=torch.tensor(float(i)))",
    "counter": "collections.Counter({{'a': i, 'b': 2}})",
    "blended": "{{'t': torch.tensor(i + 0.5 if i % 2 else i),"
    " 'a': numpy.array([i + 0.5 if i % 2 else i])}}",
    "tuple": "(i, torch.tensor([float(i)]))", "list": "[i, i + 0.5]",
    "named": "Point(torch.tensor([[i]]), i)",
    "nested": "{{'a': [i, (torch.tensor(i), 's')], 'b': {{'c': numpy.float32(i)}}}}",
    "text": "f'text {{i}}'", "bytes": "bytes([i])", "float": "i + 0.5", "flag": "i % 2 == 0",
    "array": "numpy.array([i, i], dtype=numpy.int32)", "span": "range(i, i + 2)",
    "disk": "numpy.array([i, i], dtype=numpy.int32).view(numpy.memmap)", "scalar": "numpy.int16(i)",
    "mixed": "torch.zeros(i % 2 + 1)", "foreign": "Foreign()", "none": "None",
    "odd": f"[{', '.join(ODD)}][i % {len(ODD)}]".replace("{", "{{").replace("}", "}}"), "held": "i",
    "called": "lambda: i",
    "bursting": "i", "interrupting": "i",
    "slow": f"time.sleep({SLOW_S}) or i",
    "held-marked": "1000 * self.mark + i", "listed": "i", "stored": "int(self.stored[i])",
    "epoched": "1000 * self.mark + i",
    "local": "i + self.here",
    "counted": "i * self.counter.value", "ragged": "[i] * (i + 1)",
    "stretched": "torch.full((1 if i % 2 else 3,), i)",
    "bulging": "[i] * (1 + i % 3 % 2)", "struct": "torch.max(torch.tensor([i, i + 1]), dim=0)",
    "lazy": "(lambda x: [x, x.imag])(torch.complex(torch.tensor([0.5, 2.0]), "
    "torch.tensor([i + 1.0, 3.0])).conj())",
    "many": "[torch.full((300,), i + k) for k in range(1100)]",
    "mapping": "Sealed({{'x': torch.tensor(i), 'y': i + 0.5}})",
    "swept": "i + 0 * gc.collect()", "graded": "_graded(i, self)",
    "through": "sum(map(int, self.loader([i])))",
    "large": "torch.full((1 << 21,), i)",
    "device": "torch.tensor([i, worker, int(torch.cuda.is_initialized())])",
    "info": "_info(i, self)", "inside": "_inside(i, self)",
    "bag": "Bag(f'bag {{i}}', x=torch.tensor([i]), y=[b'b', torch.tensor(0.5)])",
    "row": "_row(i, self)", "pair": "_pair(i, self)",
    "record": "Reading(i + 1.0, f'text {{i}}')",
    "range": "{{'x': torch.tensor(i), 'ids': range(i, i + 2)}}",
    "expanded": "torch.tensor([i]).expand(3)", "pinnable": "Pinnable(i)",
    "pinnables": "{{'x': [Pinnable(i), torch.tensor(i)], 'y': (Pinnable(-i), 's')}}",
    "views": "(lambda x: [x, x.t(), x[::2], x[1:]])(torch.arange(9600).reshape(96, 100) + i)",
    "turned": "dict([('x', i), ('y', i + 10)][:: -1 if i % 2 else 1])",
    "sparse": "torch.tensor([0, i + 1, 0]).to_sparse()",
    "wide": "[numpy.full(1 << 14, i), numpy.full((300, 100), i, dtype=numpy.float32), "
    "torch.full((1 << 14,), -i)]",
    "own-Generator": "(i, worker, int(self.own.integers({d})))",
    "own-RandomState": "(i, worker, int(self.own.randint({d})))",
    "own-Random": "(i, worker, self.own.randrange({d}))",
    "own-class": "(i, worker, self.own.randrange({d}))",
    "own-torch": "(i, worker, int(torch.randint({d}, (), generator=self.own)))",
}  # fmt: skip
"""Item `i` of a dataset, by what it gives."""

OWN = {
    "own-Generator": "own = numpy.random.default_rng(5)",
    "own-RandomState": "own = numpy.random.RandomState(5)", "own-Random": "own = random.Random(5)",
    "own-class": "own = random.Random(5)",
    "own-torch": "own = torch.Generator().manual_seed(5)", "marked": "mark = 0",
    "buffer": "buffer = torch.zeros((), dtype=torch.int64)",
    "buffers": "buffer = torch.zeros((), dtype=torch.int64)",
    "stored": "stored = torch.arange(1 << 15)", "bursting": "burst = Bursting(0)",
    "interrupting": "burst = Interrupting()",
    "counted": "counter = multiprocessing.get_context('spawn').Value('i', 1)",
}  # fmt: skip
"""What the dataset holds for it."""

CLASSES = {
    "foreign": ("Foreign",), "bag": ("Bag", "_bag"), "row": ("Row", "_row"),
    "record": ("Reading",),
    "pair": ("Pair", "_pair"), "mapping": ("Sealed",), "info": ("_info",),
    "inside": ("_info", "_inside"), "graded": ("_graded",),
    "pinnable": ("Pinnable",), "pinnables": ("Pinnable",),
}  # fmt: skip

STATE = {
    "attribute": ("mark = 0", "{name}.mark = {mark}", "self.mark"),
    "method": ("mark = 0", "{name}.tell({mark})", "self.mark"),
    "list": ("marks = [0]", "{name}.marks[0] = {mark}", "self.marks[0]"),
    "dict": ("marks = {'mark': 0}", "{name}.marks['mark'] = {mark}", "self.marks['mark']"),
    "tensor": ("mark = torch.zeros(())", "{name}.mark.fill_({mark})", "int(self.mark)"),
    "array": ("marks = numpy.zeros(1 << 19)", "{name}.marks[-1] = {mark}", "int(self.marks[-1])"),
    "items": ("", "{name}[:] = [1000 * {mark} + i for i in range(len({name}))]", ""),
    "deleted": ("mark = 0", "del {name}.mark", "self.mark"),
    "lambda": ("mark = 0", "{name}.held = lambda: None", "self.mark"),
    "inner": ("inner = types.SimpleNamespace(mark=0)", "{name}.inner.mark = {mark}",
              "self.inner.mark"),
}  # fmt: skip
"""State of a dataset: what it holds, how that is changed, and how it is read."""

LAZY = (
    "held", "held-marked", "bursting", "interrupting", "slow", "swept", "graded", "through",
    "device", "large", "bulk", "mixed", "counted", "local", "called",
)  # fmt: skip
"""What must be made where it is asked for."""

MODULES = (
    "torch", "numpy", "random", "collections", "gc", "operator", "types", "time", "multiprocessing",
)  # fmt: skip

NUMBERS = {
    "odd": f"i = {ODD_KEYS}.index(i)", "flags": "i = int(not i)",
    "far": f"i = {FAR} - i", "below": f"i = {BELOW} - i",
    **dict.fromkeys(("texts", "long"), "i = int(i[len('item ') :])"),
    **dict.fromkeys(("named", "labels"), "i = i.place"),
    **dict.fromkeys(("scalars", "tensors"), "i = -1 - i.item()"),
    **dict.fromkeys(("tuples", "lists", "pairs", "arrays"), "i = int(i[0])"),
}  # fmt: skip
"""The number of the item that an index stands for, by the orders whose indices are no numbers."""


def number(draft: Draft) -> list[str]:
    """The statement that finds the number of an item from its index, if that is another."""
    order = dict(draft.case.arguments).get("sampler")
    found = NUMBERS.get(order.how, "") if isinstance(order, Order) else ""
    return [found] if found else []


def item(draft: Draft, gives: str) -> str:
    """The expression for item `i`; imports and defines what it needs."""
    text = GIVES[gives].format(d=DRAWS)
    if gives == "marked":
        text = text.replace("self.mark", STATE[_told(draft)][2])
    if gives == "dice" and _early(draft):
        text = f"(i, worker, *(self.early.pop() if self.early else ({ROLLED})))"
    sampled(draft, *CLASSES.get(gives, ()))
    if gives == "named":
        draft.need("collections")
        draft.define("Point", ["Point = collections.namedtuple('Point', ['x', 'label'])"])
    if gives == "mapping":
        draft.need("collections.abc", "torch")
    if gives in ("row", "pair"):
        draft.need("torch")
    if gives in ("info", "inside"):
        draft.need("operator")
    if gives == "bursting":
        copied(draft, mishaps._explode, mishaps.Bursting)
    if gives == "interrupting":
        draft.need("os", "signal")
        copied(draft, mishaps.Interrupting)
    kept = STATE[_told(draft)][0] if gives == "marked" else OWN.get(gives, "")
    draft.need(*(name for name in MODULES if f"{name}." in text or f"{name}." in kept))
    return text


def _early(draft: Draft) -> bool:
    """Whether a `worker_init_fn` draws for the items."""
    return dict(draft.case.arguments).get("worker_init_fn") == Init("dice")


def _told(draft: Draft) -> str:
    """How the plan changes the state of the dataset."""
    return next((step.how for step in draft.case.plan if isinstance(step, Tell)), "attribute")


def worker(draft: Draft) -> str:
    """The number of the worker, -1 in the main process."""
    return f"worker = getattr({role_name(draft, 'get_worker_info')}(), 'id', -1)"


def fetched(
    draft: Draft, recipe: Mapped | Stream, text: str, give: str = "return", share: str = ""
) -> list[str]:
    """How item `i` is fetched: it is reported, waits at the gate, goes wrong or is made."""
    lines = [*reported(draft, "fetch", "i"), *passing(draft, recipe.gated, share)]
    lines += faults(draft, recipe.faults, "item", "i", give)
    if "worker" in text + "".join(lines) and isinstance(recipe, Mapped):
        lines.insert(0, worker(draft))
    return [*lines, f"{give} {text}"]


def held(draft: Draft, gives: str) -> list[str]:
    """What a dataset holds for its items, as the first lines of its class."""
    how = _told(draft)
    if gives == "marked" and how != "attribute":
        told = ["def tell(self, mark):", "    self.mark = mark"] if how == "method" else []
        return ["def __init__(self):", f"    self.{STATE[how][0]}", *told]
    if gives == "epoched":
        told = ["def tell(self, mark):", "    self.mark = mark", "set_epoch = tell"]
        return ["mark = 0", *told]
    if gives == "local":
        return ["here = 0", "def __init__(self):", f"    type(self).here = {HERE}"]
    if gives.startswith("held"):
        return ["mark = 0", "def __init__(self):", "    self.held = lambda: None"]
    if gives in ("info", "inside"):
        info = f"info = staticmethod({role_name(draft, 'get_worker_info')})"
        return [info, *[f"loader = {role_name(draft, 'DataLoader')}"] * (gives == "inside")]
    if gives == "through":
        return [f"loader = {role_name(draft, 'DataLoader')}"]
    if gives == "own-class":
        return [OWN[gives]]
    if gives.startswith("own-") or gives in ("stored", "counted", "bursting", "interrupting"):
        return ["def __init__(self):", f"    self.{OWN[gives]}"]
    if gives == "dice" and _early(draft):
        return ["early = []"]
    return [OWN[gives]] if gives in OWN else []


def size(draft: Draft, n: int) -> str:
    """How many items there are, in a method of the dataset."""
    return "self.n" if draft.has(Resize) else f"{n}"
