"""An operation as the statements that a person would write for it.

Each appends what it sees to `now`. `seen.py` says the same of what the run saw, so the two change
together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance import operations as op
from conformance.report.reproduction.draft import Draft, indented
from conformance.report.reproduction.presenting import setter
from conformance.report.reproduction.seen import NOTHING, Form, form_of
from conformance.report.reproduction.states import globals_, reseed, surround
from conformance.report.reproduction.threads import threads
from conformance.report.reproduction.values import call, expression, overwritten, the_same
from conformance.roles import FIRST
from conformance.trace import Event

Statements = Callable[[Draft, Any, Event], list[str]]

CAUGHT = ["except BaseException as error:", "    now.append(type(error).__name__)"]


def construction(draft: Draft, overrides: tuple[tuple[str, object], ...] = ()) -> list[str]:
    """The arguments, fresh, and the role built from them."""
    draft.kept.clear()
    lines: list[str] = []
    arguments = dict(draft.case.arguments) | dict(overrides)
    built = call(draft, draft.built, arguments, lines)
    if draft.has(op.Arguments):
        draft.need("pickle")
        lines.append(f"handed_over = pickle.dumps({_given(draft)})")
    return [*lines, f"{draft.subject} = {built}"]


def _given(draft: Draft) -> str:
    """What was handed over, and whether its owner can write to it."""
    arrays = draft.kept["arrays"]
    flags = (f"getattr(getattr({name}, 'flags', None), 'writeable', None)" for name in arrays)
    return f"[{', '.join([*draft.kept['given'], *flags])}]"


def items(iterable: str, form: Form, keep: str = "") -> list[str]:
    """Append the items of an iterable in the form in which they are compared."""
    if keep:
        return [f"{keep} += [{iterable}]", *_appended(f"{keep}[-1]", form)]
    return _appended(iterable, form)


def _appended(iterable: str, form: Form) -> list[str]:
    wrap, each = form.wrap, form.each
    inner = f"[{each} for i in {iterable}]" if each != "i" else f"list({iterable})"
    return [f"now.append({wrap.format(inner)})"]


def _rebuild(draft: Draft, step: op.Rebuild, event: Event) -> list[str]:
    built = construction(draft, step.overrides)
    if not step.early:
        return built
    draft.names["torch"].add("distributed")
    groups = "distributed.distributed_c10d"
    hidden = [f"group = {groups}.GroupMember.WORLD", f"{groups}._update_default_pg(None)"]
    used = [f"for batch in {draft.subject}:", "    pass"]
    return [*hidden, *built, *used, f"{groups}._update_default_pg(group)"]


def _refill(draft: Draft, step: op.Refill, event: Event) -> list[str]:
    """What was handed over is overwritten, and the role built from the same objects."""
    lines: list[str] = []
    kept = [(name, overwritten(draft, name, recipe, lines)) for name, recipe in step.overrides]
    return [*lines, *construction(draft, tuple(kept))]


def _neighbour(draft: Draft, step: op.Neighbour, event: Event) -> list[str]:
    """A second sampler, of which the plan does not speak again: its arguments are not held."""
    lines: list[str] = []
    name = f"beside_{draft.case.plan.index(step)}"
    with draft.aside():
        given = draft.case.beside(step)
        given |= {name: the_same(draft, name, given[name]) for name in draft.case.shared(step)}
        lines.append(f"{name} = {call(draft, draft.built, given, lines)}")
    lines += ["try:", f"    len({name})", "except TypeError:", "    pass"]
    if step.epoch is not None:
        lines.append(f"{name}.{setter(draft)}({expression(draft, step.epoch, lines)})")
    if step.count:
        draft.need("itertools")
        lines.append(f"list(itertools.islice({name}, {step.count}))")
    return lines if step.rank is None else [f"if {draft.rank} == {step.rank}:", *indented(lines)]


def _len(draft: Draft, step: op.Len, event: Event) -> list[str]:
    return [f"now.append(len({draft.subject}))"]


def _set_epoch(draft: Draft, step: op.SetEpoch, event: Event) -> list[str]:
    lines: list[str] = []
    method = setter(draft)
    called = f"{draft.subject}.{method}({expression(draft, step.epoch, lines)})"
    return [*lines, called]


def _whole(draft: Draft, iterable: str, event: Event) -> list[str]:
    """A whole pass over something; one that was cut off is cut off again."""
    form = form_of(event, draft)
    if draft.has(op.Scribble):
        draft.need("copy")
        return [f"got = list({iterable})", "batches += got", *items("copy.deepcopy(got)", form)]
    if form.cut:
        draft.need("itertools")
        iterable = f"itertools.islice({iterable}, {form.cut})"
    if form.extra:
        draft.need("itertools")
        after = "now.append(len(list(itertools.islice(ended, 3))))"
        return [f"ended = iter({iterable})", *items("ended", form), after]
    return items(iterable, form)


def _iterate(draft: Draft, step: op.Iterate, event: Event) -> list[str]:
    return _whole(draft, draft.subject, event)


def _passes(draft: Draft, step: op.Passes, event: Event) -> list[str]:
    if step.count == 1:
        return _whole(draft, draft.subject, event)
    many = f"(i for _ in range({step.count}) for i in {draft.subject})"
    return _whole(draft, many, event)


def _epochs(draft: Draft, step: op.Epochs, event: Event) -> list[str]:
    return [
        "many = []",
        f"for epoch in range({step.start}, {step.start + step.count}):",
        f"    {draft.subject}.{setter(draft)}(epoch)",
        f"    many += {draft.subject}",
        *_whole(draft, "many", event),
    ]


def _open(draft: Draft, step: op.Open, event: Event) -> list[str]:
    return [f"pass_{step.name} = iter({draft.subject})"]


def _take(draft: Draft, step: op.Take, event: Event) -> list[str]:
    draft.need("itertools")
    return _whole(draft, f"itertools.islice(pass_{step.name}, {step.count})", event)


def _drain(draft: Draft, step: op.Drain, event: Event) -> list[str]:
    return _whole(draft, f"pass_{step.name}", event)


def _scribble(draft: Draft, step: op.Scribble, event: Event) -> list[str]:
    again = "now.append(len(batches) - len({id(batch) for batch in batches}))"
    return [again, "for batch in batches:", "    batch[:] = [-7] * (len(batch) + 1)"]


def _look(draft: Draft, step: op.Look, event: Event) -> list[str]:
    view, lines = draft.subject, list[str]()
    read = f"({view}[k] for k in range(len({view})))"
    if step.how != "ascending":
        places = PLACES[step.how].format(n=f"len({view})")
        lines = [f"found = {{k: {view}[k] for k in {places}}}"]
        read = "(found[k] for k in sorted(found))"
    place = f"len({view}) + {step.past}" if step.past > 0 else f"len({view})"
    place = f"{step.past} - len({view})" if step.past < 0 else place
    beyond = [f"    {view}[{place}]", f"    now.append({NOTHING!r})"]
    return [*lines, *items(read, form_of(event, draft)), "try:", *beyond, *CAUGHT]


PLACES = {
    "descending": "range({n})[::-1]",
    "strided": "[k for start in range(3) for k in range(start, {n}, 3)]",
    "shuffled": "sorted(range({n}), key=lambda k: (k * 7919 + 13) % 10_007)",
    "twice": "[k for place in range({n}) for k in (place, max(0, place - 1), place)]",
}
"""`operations.PLACES` in the words of a script."""


def _copy(draft: Draft, step: op.Copy, event: Event) -> list[str]:
    name = draft.subject
    deep = step.how == "deepcopy"
    draft.need("copy" if deep else "pickle")
    made = f"copy.deepcopy({name})" if deep else f"pickle.loads(pickle.dumps({name}))"
    return [made if step.spare else f"{name} = {made}"]


def _resize(draft: Draft, step: op.Resize, event: Event) -> list[str]:
    own = "Data" in draft.classes or draft.subject == "loader"
    resized = "{}.n = {}" if own else "{}[:] = range({})"
    probes = [f"{name}.count = {step.n}" for name in draft.kept["probe"]]
    return [resized.format(name, step.n) for name in draft.kept["data"]] + probes


def _group(draft: Draft, step: op.Group, event: Event) -> list[str]:
    draft.names["torch"].add("distributed")
    if not step.begins:
        return ["distributed.destroy_process_group()"]
    store = "store=distributed.HashStore(), rank=0, world_size=1"
    return [f"distributed.init_process_group('gloo', {store})"]


def _overwrite(draft: Draft, step: op.Overwrite, event: Event) -> list[str]:
    lists = [f"{name}[:] = {name}[:1] * len({name})" for name in draft.kept["lists"]]
    return lists + [f"{name}[:] = {name}[:1]" for name in draft.kept["arrays"]]


def _lengthen(draft: Draft, step: op.Lengthen, event: Event) -> list[str]:
    if step.count < 0:
        return [f"del {name}[{step.count}:]" for name in draft.kept["lists"]]
    return [f"{name}.extend({name}[:1] * {step.count})" for name in draft.kept["lists"]]


def _forget(draft: Draft, step: op.Forget, event: Event) -> list[str]:
    draft.need("gc")
    return [*(f"{name} = None" for name in draft.kept["data"]), "gc.collect()"]


def _arguments(draft: Draft, step: op.Arguments, event: Event) -> list[str]:
    same = f"pickle.dumps({_given(draft)}) == handed_over"
    return [f"now.append('as handed over' if {same} else 'changed')"]


def _inner(draft: Draft, step: op.Inner, event: Event) -> list[str]:
    return _whole(draft, (draft.kept["inner"] or draft.kept["probe"])[-1], event)


def _twin(draft: Draft, step: op.Twin, event: Event) -> list[str]:
    """The first one after a construction makes the other inner sampler, too."""
    lines: list[str] = []
    if not draft.kept["twin"]:
        inner = draft.case.argument(FIRST[draft.case.role])
        with draft.aside():
            lines.append(f"twin = {expression(draft, inner, lines)}")
        draft.kept["twin"] = ["twin"]
    return [*lines, *_whole(draft, "twin", event)]


def _inspect(draft: Draft, step: op.Inspect, event: Event) -> list[str]:
    return [f"now.append(dict({draft.kept['probe'][0]}.seen))"]


STATEMENTS: dict[type, Statements] = {
    op.Rebuild: _rebuild, op.Refill: _refill, op.Neighbour: _neighbour, op.Len: _len,
    op.SetEpoch: _set_epoch, op.Iterate: _iterate, op.Passes: _passes, op.Epochs: _epochs,
    op.Open: _open, op.Take: _take, op.Drain: _drain, op.Scribble: _scribble, op.Look: _look,
    op.Globals: globals_, op.Reseed: reseed, op.Surround: surround, op.Threads: threads,
    op.Group: _group,
    op.Copy: _copy, op.Resize: _resize, op.Overwrite: _overwrite, op.Forget: _forget,
    op.Lengthen: _lengthen, op.Arguments: _arguments, op.Inner: _inner, op.Twin: _twin,
    op.Inspect: _inspect,
}  # fmt: skip
