"""Datasets as the few lines that this very case needs: a range, a list, or a class."""

from __future__ import annotations

from conformance.datasets import POSED, Init, Mapped, Order, Stream
from conformance.items import ODD
from conformance.loading import Free, Hold, Schedule, Shut, Strike, Tell
from conformance.operations import Resize
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.forms import items
from conformance.report.reproduction.gates import passing, reported
from conformance.report.reproduction.mishaps import faults
from conformance.report.reproduction.origin import role_name
from conformance.report.reproduction.sources import copied, sampled
from conformance.worlds import mishaps
from conformance.worlds.keys import FAR
from conformance.worlds.keys import ODD as ODD_KEYS

DRAWS = "1 << 30"

ROLLED = (
    f"int(torch.randint({DRAWS}, ())), numpy.random.randint({DRAWS}), random.randrange({DRAWS})"
)
"""A draw each from the global generators."""

GIVES = {
    "mingled": "i + i % 2 / 10 if i % 2 else i", "number": "i",
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
    "array": "numpy.array([i, i], dtype=numpy.int32)", "scalar": "numpy.int16(i)",
    "mixed": "torch.zeros(i % 2 + 1)", "foreign": "Foreign()", "none": "None",
    "odd": f"[{', '.join(ODD)}][i % {len(ODD)}]".replace("{", "{{").replace("}", "}}"), "held": "i",
    "bursting": "i",
    "held-marked": "1000 * self.mark + i", "listed": "i", "stored": "int(self.stored[i])",
    "swept": "i + 0 * gc.collect()", "large": "torch.full((1 << 21,), i)",
    "device": "torch.tensor([i, worker, int(torch.cuda.is_initialized())])",
    "info": "_info(i, self)", "inside": "_inside(i, self)",
    "bag": "Bag(f'bag {{i}}', x=torch.tensor([i]), y=[b'b', torch.tensor(0.5)])",
    "row": "_row(i, self)", "pair": "_pair(i, self)",
    "range": "{{'x': torch.tensor(i), 'ids': range(i, i + 2)}}",
    "views": "(lambda x: [x, x.t(), x[::2]])(torch.arange(9600).reshape(96, 100) + i)",
    "wide": "[numpy.full(1 << 14, i), numpy.full((300, 100), i, dtype=numpy.float32)]",
    "own-Generator": "(i, worker, int(self.own.integers({d})))",
    "own-RandomState": "(i, worker, int(self.own.randint({d})))",
    "own-Random": "(i, worker, self.own.randrange({d}))",
    "own-torch": "(i, worker, int(torch.randint({d}, (), generator=self.own)))",
}  # fmt: skip
"""Item `i` of a dataset, by what it gives."""

OWN = {
    "own-Generator": "own = numpy.random.default_rng(5)",
    "own-RandomState": "own = numpy.random.RandomState(5)", "own-Random": "own = random.Random(5)",
    "own-torch": "own = torch.Generator().manual_seed(5)", "marked": "mark = 0",
    "buffer": "buffer = torch.zeros((), dtype=torch.int64)",
    "buffers": "buffer = torch.zeros((), dtype=torch.int64)",
    "stored": "stored = torch.arange(1 << 15)", "bursting": "burst = Bursting(0)",
}  # fmt: skip
"""What the dataset holds for it."""

CLASSES = {
    "foreign": ("Foreign",), "bag": ("Bag", "_bag"), "row": ("Row", "_row"),
    "pair": ("Pair", "_pair"), "info": ("_info",), "inside": ("_info", "_inside"),
}  # fmt: skip

STATE = {
    "attribute": ("mark = 0", "{name}.mark = {mark}", "self.mark"),
    "method": ("mark = 0", "{name}.tell({mark})", "self.mark"),
    "list": ("marks = [0]", "{name}.marks[0] = {mark}", "self.marks[0]"),
    "dict": ("marks = {'mark': 0}", "{name}.marks['mark'] = {mark}", "self.marks['mark']"),
    "tensor": ("mark = torch.zeros(())", "{name}.mark.fill_({mark})", "int(self.mark)"),
    "array": ("marks = numpy.zeros(1 << 19)", "{name}.marks[-1] = {mark}", "int(self.marks[-1])"),
    "items": ("", "{name}[:] = [1000 * {mark} + i for i in range(len({name}))]", ""),
    "lambda": ("mark = 0", "{name}.held = lambda: None", "self.mark"),
    "inner": ("inner = types.SimpleNamespace(mark=0)", "{name}.inner.mark = {mark}",
              "self.inner.mark"),
}  # fmt: skip
"""State of a dataset: what it holds, how that is changed, and how it is read."""

LAZY = ("held", "held-marked", "bursting", "swept", "device", "large", "bulk", "mixed")
"""What must be made where it is asked for."""

MODULES = ("torch", "numpy", "random", "collections", "gc", "operator", "types")


NUMBERS = {
    "odd": f"i = {ODD_KEYS}.index(i)", "flags": "i = int(not i)",
    "far": f"i = {FAR} - i",
    **dict.fromkeys(("texts", "long"), "i = int(i[len('item ') :])"),
    **dict.fromkeys(("named", "labels"), "i = i.place"),
    **dict.fromkeys(("scalars", "tensors"), "i = -1 - i.item()"),
    **dict.fromkeys(("tuples", "lists", "pairs", "arrays"), "i = int(i[0])"),
}  # fmt: skip
"""The number of the item that an index stands for, by the orders whose indices are no numbers."""


def _number(draft: Draft) -> list[str]:
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
    if gives in ("row", "pair"):
        draft.need("torch")
    if gives in ("info", "inside"):
        draft.need("operator")
    if gives == "bursting":
        copied(draft, mishaps._explode, mishaps.Bursting)
    held = STATE[_told(draft)][0] if gives == "marked" else OWN.get(gives, "")
    draft.need(*(name for name in MODULES if f"{name}." in text or f"{name}." in held))
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
    waits = recipe.gated and draft.has(Schedule, Shut, Free)
    acts = (
        recipe.faults
        or recipe.many
        or recipe.poses
        or waits
        or draft.reports
        or _number(draft)
        or draft.has(Tell, Resize, Strike, Hold)
    )
    return recipe.sized and not acts and recipe.gives not in LAZY


def _posed(draft: Draft, recipe: Mapped) -> str:
    """What the dataset derives from."""
    draft.need(*["torch"] * (recipe.poses == "tensors"))
    return {"list": "(list)", "tensors": "(torch.utils.data.TensorDataset)"}.get(recipe.poses, "")


def _filled(recipe: Mapped) -> list[str]:
    """What it holds, and is not to give."""
    numbers = f"range({POSED}, {POSED + recipe.n})"
    if recipe.poses == "list":
        return ["def __init__(self):", f"    super().__init__({numbers})"]
    if recipe.poses == "tensors":
        return ["def __init__(self):", f"    super().__init__(torch.tensor({numbers}))"]
    return []


def _mapped(draft: Draft, recipe: Mapped, text: str) -> list[str]:
    lines = [f"class Data{_posed(draft, recipe)}:", *indented(_held(draft, recipe.gives))]
    if draft.has(Resize):
        lines.append(f"    n = {recipe.n}")
    if recipe.sized:
        lines += ["    def __len__(self):", f"        return {_size(draft, recipe.n)}"]
    lines += indented(_filled(recipe))
    body = [*_number(draft), *_fetched(draft, recipe, text)]
    lines += ["    def __getitem__(self, i):", *indented(body, 2)]
    return lines + (indented(_many(draft, recipe)) if recipe.many else [])


def _size(draft: Draft, n: int) -> str:
    return "self.n" if draft.has(Resize) else f"{n}"


def _fetched(
    draft: Draft, recipe: Mapped | Stream, text: str, give: str = "return", share: str = ""
) -> list[str]:
    """How item `i` is fetched: it is reported, waits at the gate, goes wrong or is made."""
    lines = [*reported(draft, "fetch", "i"), *passing(draft, recipe.gated, share)]
    lines += faults(draft, recipe.faults, "item", "i", give)
    if "worker" in text + "".join(lines) and isinstance(recipe, Mapped):
        lines.insert(0, worker(draft))
    return [*lines, f"{give} {text}"]


def _held(draft: Draft, gives: str) -> list[str]:
    how = _told(draft)
    if gives == "marked" and how != "attribute":
        told = ["def tell(self, mark):", "    self.mark = mark"] if how == "method" else []
        return ["def __init__(self):", f"    self.{STATE[how][0]}", *told]
    if gives.startswith("held"):
        return ["mark = 0", "def __init__(self):", "    self.held = lambda: None"]
    if gives in ("info", "inside"):
        info = f"info = staticmethod({role_name(draft, 'get_worker_info')})"
        return [info, *[f"loader = {role_name(draft, 'DataLoader')}"] * (gives == "inside")]
    if gives.startswith("own-") or gives in ("stored", "bursting"):
        return ["def __init__(self):", f"    self.{OWN[gives]}"]
    if gives == "dice" and _early(draft):
        return ["early = []"]
    return [OWN[gives]] if gives in OWN else []


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


def stream(draft: Draft, recipe: Stream) -> str:
    """The expression for an iterable-style dataset, an instance of the candidate's class."""
    text = item(draft, recipe.gives)
    base = role_name(draft, "IterableDataset")
    lines = [f"class Data({base}):", *indented(_held(draft, recipe.gives))]
    if recipe.sized:
        length = _size(draft, recipe.n) if recipe.claims is None else recipe.claims
        lines += ["    def __len__(self):", f"        return {length}"]
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
    n = _size(draft, recipe.n)
    spare = f"max(0, {n} - workers + 1)"
    size = draft.case.world_size
    text = {
        "worker": f"range(worker, {n}, workers)",
        "rank": f"range(self.rank * workers + worker, {n}, {size} * workers)",
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
    """`__iter__` as a generator; where it fails itself, the elements have one of their own."""
    fetched = _fetched(draft, recipe, text, "yield", "share")
    known = [worker(draft)] if "worker" in " ".join(fetched) else []
    loop = [*_share(draft, recipe), *known, "for i in share:", *indented(fetched)]
    if not early:
        return ["def __iter__(self):", *indented(loop)]
    failing = [worker(draft), *faults(draft, recipe.faults, "iter", "max(0, worker)")]
    begin = ["def __iter__(self):", *indented(failing), "    return self.elements()"]
    return [*begin, "def elements(self):", *indented(loop)]


def _reporting(draft: Draft, recipe: Stream, text: str) -> list[str]:
    """An iterator that tells of its end, and of being asked after it."""
    begin = [*reported(draft, "iter", "0"), worker(draft)]
    begin += [*faults(draft, recipe.faults, "iter", "max(0, worker)"), *_share(draft, recipe)]
    fetched = _fetched(draft, recipe, text, share="self.share")
    known = [worker(draft)] if "worker" in " ".join(fetched) else []
    again = ["self.left = iter(self.share) if self.ended else self.left"] if recipe.again else []
    told = ['report("ask" if self.ended else "end", 0)'] if draft.reports else []
    draft.define("Elements", [
        "class Elements:", "    def __init__(self, share):",
        "        self.share, self.left, self.ended = share, iter(share), False",
        "    def __iter__(self):", "        return self", "    def __next__(self):",
        *indented([*again, *known, "for i in self.left:", *indented(fetched), *told], 2),
        "        self.ended = True", "        raise StopIteration",
    ])  # fmt: skip
    if not recipe.itself:
        return ["def __iter__(self):", *indented([*begin, "return Elements(share)"])]
    start = [*begin, "self.elements = Elements(share)", "return self"]
    own = ["def __next__(self):", "    return next(self.elements)"]
    return ["def __iter__(self):", *indented(start), *own]
