"""Does a role work at all? Ordinary use, apart from whether what comes of it is right.

What fails here is no violation: more often than the class, how it is called is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from conformance.candidate import Description
from conformance.case import Case
from conformance.datasets import Mapped
from conformance.examine import Examiner
from conformance.operations import Iterate, Len, Look, Operation, SetEpoch
from conformance.recipes import Data, Probe, Values
from conformance.roles import FIRST, LOADERS, RANKED
from conformance.trace import Event, Items, Trace

LABELS = Values((0, 1, 1, 2, 0, 1))

ORDINARY: dict[str, dict[str, Any]] = {
    "SequentialSampler": {"data_source": Data(6)},
    "RandomSampler": {"data_source": Data(6)},
    "SubsetRandomSampler": {"indices": Values((4, 1, 3))},
    "WeightedRandomSampler": {"weights": Values((1.0, 3.0, 2.0)), "num_samples": 5},
    "BatchSampler": {"sampler": Probe("Counting", 7), "batch_size": 3, "drop_last": False},
    "DistributedSampler": {"dataset": Data(6)},
    "BalanceClassSampler": {"labels": LABELS, "mode": "downsampling"},
    "WeightedBalanceClassSampler": {
        "labels": LABELS, "weight": Values((0.5, 0.2, 0.3)), "length": 6,
    },
    "DatasetFromSampler": {"sampler": Probe("Counting", 6)},
    "DistributedSamplerWrapper": {"sampler": Probe("Counting", 6)},
    "DataLoader": {"dataset": Mapped(6), "batch_size": 2},
    "get_worker_info": {"dataset": Mapped(6, gives="info"), "batch_size": 2},
}  # fmt: skip
"""What each role is built with."""

STEPS = {Iterate: "list(it)", SetEpoch: "it.set_epoch(1)", Len: "len(it)", Look: "it[0]"}
"""What is done with it, as somebody would write it."""

UNTOLD = "it takes no rank, and what torch.distributed, RANK and WORLD_SIZE say changes nothing"

HINT = "what cannot be bound by name takes an adapter: see conformance/adapter.py"


def ordinary(candidate: Description, role: str) -> Iterator[Case]:
    """Ordinary uses of a role: with one rank and two, without workers and with two."""
    arguments = ORDINARY[role]
    if role in LOADERS:
        for workers in (0, 2):
            yield Case(role, {**arguments, "num_workers": workers}, [Iterate(), Iterate()])
        return
    tells = role in candidate.epochs and role != "BatchSampler"  # its inner sampler has no epochs
    epoch: list[Operation] = [SetEpoch(1)] if tells else []
    plan = [Len(), Look()] if role == "DatasetFromSampler" else [Iterate(), *epoch, Iterate()]
    for world_size in (1, 2) if role in RANKED else (1,):
        yield Case(role, arguments, plan, world_size=world_size)


def smoke(examiner: Examiner, candidate: Description, role: str) -> str:
    """Why a role does not work, as a text: what was called with what; "" if it does."""
    if role not in ORDINARY:
        return ""
    used = False
    for case in ordinary(candidate, role):
        use = examiner.carried(candidate, case)
        failure = _failure(candidate, *use) or _untold(candidate, *use) if use else ""
        if failure:
            return failure
        used = used or use is not None
    return "" if used else _unfit(candidate, role)


def _unfit(candidate: Description, role: str) -> str:
    """Why no ordinary use of a role can be made of what its constructor takes."""
    others = [name for name in ORDINARY[role] if name != _first(role)]
    wanted = [name for name in others if not candidate.accepts(role, name)]
    told = f"its constructor does not take {', '.join(wanted)}" if wanted else "no world fits"
    return f"{role} of {candidate.source} cannot be used: {told}\n  hint    {HINT}"


def _failure(candidate: Description, case: Case, trace: Trace) -> str:
    """What did not work in one use, of the first rank where something did not."""
    for rank in trace:
        wrong = ((event, _wrong(event, case.role)) for event in rank.events)
        failed = next((pair for pair in wrong if pair[1]), None)
        if failed is not None or rank.fate != "done":
            last = rank.events[-1] if rank.events else Event(None)
            event, came = failed or (last, f"the process ended: {rank.fate}")
            return "\n".join(_told(candidate, case, rank.rank, event, came))
    return ""


def _untold(candidate: Description, case: Case, trace: Trace) -> str:
    """That a class which is not given its rank gives all ranks the same: it looks elsewhere."""
    given = [[e.value.tolist() for e in r.events if isinstance(e.value, Items)] for r in trace]
    alike = len(given) > 1 and any(given[0]) and all(items == given[0] for items in given)
    if not alike or not candidate.binding(case.role).ambient:
        return ""
    shown = str(given[0][0])
    return "\n".join(
        _told(candidate, case, 0, Event(None), f"every rank was given {shown}: {UNTOLD}")
    )


def _wrong(event: Event, role: str) -> str:
    """Why an event is no ordinary one, "" if it is."""
    if event.error is not None:
        where = f" ({event.error.where})" if event.error.where else ""
        return f"{event.error}{where}"
    if role not in LOADERS and isinstance(event.value, Items) and event.value.unreadable:
        shown = ", ".join(islice(event.value.unreadable, 2))
        return f"items are no indices: {shown}; the hook `indices` says what they stand for"
    return ""


def _told(candidate: Description, case: Case, rank: int, event: Event, came: str) -> Iterator[str]:
    step = f", then {STEPS[type(event.operation)]}" if event.operation else ""
    yield f"{case.role} of {candidate.source} does not work; nothing is said of whether it is right"
    yield f"  called  {_call(candidate, case, rank)}{step}"
    yield f"  came    {came}"
    yield f"  hint    {HINT}"


def _call(candidate: Description, case: Case, rank: int) -> str:
    """The construction, in the candidate's own names."""
    binding = candidate.binding(case.role)
    own = dict(case.arguments)
    if case.role in RANKED and case.passed:
        own |= {"num_replicas": case.world_size, "rank": rank}
    subject = _word(own.pop(_first(case.role)))
    given = [f"{binding.first}={subject}" if binding.first else subject]
    given += [f"{name}={_word(value)}" for name, value in binding.given(own).items()]
    told = ", ".join([*given, *(f"{name}=<made up>" for name in binding.filled)])
    grouped = f" in a process group of {case.world_size}" if case.world == "group" else ""
    name = candidate.source.text.rpartition(":")[2] if ":" in candidate.source.text else case.role
    return f"{name}({told}){grouped}"


def _first(role: str) -> str:
    """The argument that is given by position."""
    return FIRST.get(role, "dataset")


def _word(value: Any) -> str:
    """An argument, as somebody would write it."""
    if isinstance(value, (Data, Mapped)):
        return f"<dataset of {value.n}>"
    if isinstance(value, Probe):
        return f"<sampler of {value.count}>"
    return repr(list(value.items)) if isinstance(value, Values) else repr(value)
