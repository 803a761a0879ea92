"""The laws of `spec/workers.md` about exceptions in workers, on traces written by hand."""

from dataclasses import replace

import pytest
from by_hand import UNMET, judged, seen

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Order, Stream
from conformance.operations import Drain, Iterate, Open, Take
from conformance.trace import Error, Event

HUNG = Error(("Hang",), "did not return within 11 s; it waits in queues.py:113 get")
TRACED = "planned 1\n  File mishaps.py, line 1, in happen"


def raised(kind, message="planned 1", *behind, held=()):
    return Error((kind, "Exception"), message, held=tuple(held), behind=behind)


def case(*plan, what="Planned", where="item", n=4, **options):
    """Something goes wrong at 1, with one worker and batches switched off unless said otherwise."""
    planned = (Fault(where, 1, what),)
    given = {"dataset": Mapped(n), "batch_size": None, "num_workers": 1, **options}
    if where == "item":
        given["dataset"] = replace(given["dataset"], faults=planned)
    elif where == "sampler":
        given["sampler"] = Order(n, faults=planned)
    elif where == "collate":
        given["collate_fn"] = Collate(faults=planned)
    elif where == "init":
        given["worker_init_fn"] = Init(faults=(Fault("init", 0, what),))
    elif where == "iter":
        given["dataset"] = Stream(n, faults=(Fault("iter", 0, what),))
    return Case("DataLoader", given, plan)


WALK = Open("a"), Take("a"), Take("a"), Take("a")


@pytest.mark.parametrize(
    ("what", "arrived", "anomaly"),
    [
        ("Planned", raised("Planned"), ""),
        ("Planned", raised("RuntimeError", f"Planned: {TRACED}"), ""),
        ("Planned", raised("RuntimeError", "it failed", raised("Planned", TRACED)), ""),
        ("Planned", raised("RuntimeError", "Planned: planned 1"), "no-traceback"),
        ("Planned", raised("RuntimeError", TRACED), "other-error"),
        ("Planned", raised("Planned", "Planned: a word"), "other-error"),
        ("Building", raised("Building", "failed with planned 1"), ""),
        ("Building", raised("Building", "failed with failed with planned 1"), "changed-message"),
        ("KeywordOnly", raised("TypeError", "KeywordOnly() takes no argument"), "other-error"),
        ("Planned", HUNG, UNMET),
        ("SIGKILL", raised("RuntimeError"), UNMET),
        ("unpicklable", raised("TypeError"), UNMET),
    ],
)
def test_an_exception_arrives_as_itself_or_is_told(what, arrived, anomaly):
    """A report holds type and message, and the traceback unless it is of the same type."""
    assert judged("workers.errors", seen(case(Iterate(), what=what), arrived)) == anomaly


def test_no_exception_is_swallowed_or_repeated():
    """Each planned exception is reported once; a pass that ends without it has lost it."""
    data = Mapped(4, faults=(Fault("item", 1, "Planned"), Fault("item", 2, "Planned")))
    twice = Case("DataLoader", {"dataset": data, "batch_size": None, "num_workers": 1}, WALK)
    first, second = raised("Planned"), raised("Planned", "planned 2")

    assert judged("workers.errors", seen(case(Iterate()), [0, 2, 3])) == "swallowed-error"
    assert judged("workers.errors", seen(twice, None, [0], first, second)) == ""
    assert judged("workers.errors", seen(twice, None, [0], first, first)) == "repeated-error"
    assert judged("workers.errors", seen(case(Open("a"), Take("a")), None, [0])) == UNMET


@pytest.mark.parametrize(
    ("what", "arrived", "anomaly"),
    [
        ("Planned", raised("Planned", held=["arguments ('planned 1')"]), ""),
        ("Planned", raised("Planned", held=["arguments ('Caught planned 1')"]), "lost-attribute"),
        ("Coded", raised("Coded", held=["arguments ('planned 1')", "code 0"]), "lost-attribute"),
        (
            "Coded",
            raised("E", "", raised("Coded", held=["arguments ('planned 1')", "code 7"])),
            "",
        ),
        ("KeywordOnly", raised("KeywordOnly"), UNMET),
    ],
)
def test_what_an_exception_holds_survives(what, arrived, anomaly):
    """In the exception itself or in one behind it; where pickle loses it, nobody is asked."""
    trace = seen(case(Iterate(), what=what), arrived)
    assert judged("workers.error-attributes", trace) == anomaly


@pytest.mark.parametrize(
    ("where", "options", "steps", "anomaly"),
    [
        ("item", {}, ([0], raised("Planned"), [2]), ""),
        ("item", {}, (raised("Planned"), [2], [3]), "lost-batch"),
        ("item", {}, (raised("Planned"), [0], [2]), "misplaced-error"),
        ("item", {}, ([0], [2], raised("Planned")), "misplaced-error"),
        ("item", {"in_order": False}, ([2], [0], raised("Planned")), ""),
        ("sampler", {"in_order": False}, ([2], [0], []), "swallowed-error"),
        ("sampler", {}, ([0], raised("Planned"), []), ""),
        ("sampler", {}, (raised("Planned"), [0], []), "misplaced-error"),
        ("sampler", {}, ([0], [], []), "swallowed-error"),
        ("sampler", {"batch_size": 2}, ([[0]], raised("Planned"), []), ""),
        ("sampler", {"batch_size": 2}, (raised("Planned"), [], []), ""),
        ("collate", {"batch_size": 2}, (raised("Planned"), [[2, 3]], []), ""),
        ("collate", {"batch_size": 2}, ([[0, 1]], raised("Planned"), []), "misplaced-error"),
    ],
)
def test_an_error_comes_in_its_place(where, options, steps, anomaly):
    """All whole batches before it come first; a sampler's incomplete one may."""
    trace = seen(case(*WALK, where=where, **options), None, *steps)
    assert judged("workers.error-place", trace) == anomaly


@pytest.mark.parametrize(
    ("second", "anomaly"),
    [
        (([2], raised("Planned", "planned 3")), ""),
        ((raised("Planned", "planned 3"), [2]), "misplaced-error"),
    ],
)
def test_every_error_comes_in_its_place(second, anomaly):
    """A later error may no more overtake a batch than the first."""
    two = Mapped(4, faults=(Fault("item", 1, "Planned"), Fault("item", 3, "Planned")))
    plan = Case(
        "DataLoader", {"dataset": two, "batch_size": None, "num_workers": 1}, (*WALK, Take("a"))
    )

    found = seen(plan, None, [0], raised("Planned"), *second)

    assert judged("workers.error-place", found) == anomaly


def test_an_error_of_iter_comes_before_all_batches():
    """Where `iter()` raises what the sampler raised later, the batches before are lost."""
    early = case(Open("a"), Take("a"), where="sampler")
    missing = Error(("KeyError", "Exception"), "'a'")  # there is no such iterator

    assert judged("workers.error-place", seen(early, raised("Planned"), missing)) == "lost-batch"


@pytest.mark.parametrize(
    ("steps", "anomaly"),
    [
        ((raised("Planned", "planned 0"),) * 3, ""),
        (([0], raised("Planned", "planned 0"), raised("Planned", "planned 0")), ""),
        ((raised("UnboundLocalError", "fetcher"),) * 3, "other-error"),
        ((raised("Planned", "planned 0"), raised("UnboundLocalError"), []), "changed-error"),
        ((raised("Planned", "planned 0"), [1], []), "goes-on"),
        ((raised("Planned", "planned 0"), [], []), "ends"),
        (([0], [1], []), "swallowed-error"),
    ],
)
@pytest.mark.parametrize("where", ["init", "iter"])
def test_a_failed_start_is_reported_again_and_again(where, steps, anomaly):
    """As itself, by each `next()` after the first report."""
    assert judged("workers.init-error", seen(case(*WALK, where=where), None, *steps)) == anomaly


def test_a_failed_start_may_be_reported_by_iter():
    """Then there is no iterator to ask again."""
    early = case(Open("a"), where="init")
    assert judged("workers.init-error", seen(early, raised("Planned", "planned 0"))) == ""


def test_a_drain_past_an_error_is_one_walk():
    """Errors and items of an iterator keep their order over several operations."""
    plan = case(Open("a"), Drain("a"), Drain("a"))
    error = replace(Event(None, None, raised("Planned")), value=None)

    assert judged("workers.error-place", seen(plan, None, error, [2, 3])) == "lost-batch"
