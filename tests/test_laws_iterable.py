"""The laws of `spec/iterable.md` on traces written by hand."""

from dataclasses import replace

import pytest
from by_hand import UNMET, error, items, judged, traced

from conformance.case import Case
from conformance.datasets import Collate, Fault, Init, Mapped, Stream
from conformance.laws import LAWS
from conformance.loading import Describe, Drop, Inform, Journal
from conformance.operations import Drain, Iterate, Len, Open, Rebuild, Resize, Take
from conformance.trace import Event, RankTrace, Record, Trace

ONE = Iterate()


def case(data, *plan, **options):
    return Case("DataLoader", {"dataset": data, **options}, plan)


def several(case, *yielded):
    """A trace of several ranks, each of which made one pass."""
    ranks = [traced(case, result).ranks[0] for result in yielded]
    return Trace(case, tuple(replace(found, rank=rank) for rank, found in enumerate(ranks)))


def journal(*reports):
    """Records of pairs (kind, worker)."""
    return tuple(Record(kind, 0, worker, 10 + worker, 0.0) for kind, worker in reports)


def with_records(case, *results):
    """A trace in which tuples of records are what the journal said."""
    found = [Event(None)]
    for operation, result in zip(case.plan, results, strict=True):
        said = isinstance(operation, Journal)
        value = result if said or result is None else items(result)
        found.append(Event(operation, value))
    return Trace(case, (RankTrace(0, tuple(found)),))


@pytest.mark.parametrize(
    ("passed", "anomaly"),
    [
        ([0, 2, 1], ""),
        ([[0, 2], [1]], ""),
        ([0, 1], "element-lost"),
        ([0, 1, 2, 1], "element-repeated"),
        ([0, 1, 2, 3], "foreign-element"),
        (error("RuntimeError"), "crash"),
    ],
)
def test_each_element_once(passed, anomaly):
    """In any order, in batches or one by one."""
    assert judged("iterable.once", traced(case(Stream(3), ONE, num_workers=2), passed)) == anomaly


@pytest.mark.parametrize(
    ("kind", "anomaly"),
    [("AttributeError", "crash"), ("NotImplementedError", UNMET), ("TypeError", UNMET)],
)
def test_a_dataset_may_be_refused(kind, anomaly):
    """A loader may say that it does not take streams; any other error is one of its own."""
    found = traced(case(Stream(3)), construction=error(kind))

    assert judged("iterable.once", found) == anomaly


@pytest.mark.parametrize(
    ("told", "anomaly"),
    [
        (["NoneType", "bool False"], ""),
        (["bool False", "NoneType"], ""),
        ([], "element-lost"),
        (["NoneType", "bool False", "bool False"], "element-repeated"),
    ],
)
def test_elements_that_look_like_signals(told, anomaly):
    """None and its like are elements as any other."""
    given = case(Stream(2, gives="odd"), ONE, Describe(), batch_size=None)
    events = (Event(None), Event(ONE, items([])), Event(Describe(), tuple(told)))

    assert judged("iterable.once", Trace(given, (RankTrace(0, events),))) == anomaly


@pytest.mark.parametrize(
    ("told", "anomaly"),
    [(["list(int 1)", "list()"], ""), (["list(int 1)"], "element-lost")],
)
def test_batches_that_the_caller_makes_shorter(told, anomaly):
    """A batch without its first element is a batch, and so is an empty one."""
    given = case(Stream(3), ONE, Describe(), batch_size=2, collate_fn=Collate("thin"))
    events = (Event(None), Event(ONE, items([])), Event(Describe(), tuple(told)))

    assert judged("iterable.once", Trace(given, (RankTrace(0, events),))) == anomaly


@pytest.mark.parametrize(
    "of",
    [
        case(Stream(3, shard="none"), ONE, num_workers=2),
        case(Stream(3, faults=(Fault("item", 1, "OSError"),)), ONE),
        case(Stream(3, gives="marked"), ONE),
        case(Mapped(3), ONE),
    ],
)
def test_other_streams_are_not_judged(of):
    """Streams that are not divided, that fail or that give something else."""
    assert judged("iterable.once", traced(of, [0, 0])) == UNMET


@pytest.mark.parametrize(("found", "anomaly"), [([0, 2], ""), ([0, 0], "element-repeated")])
def test_with_drop_last_none_may_come_twice(found, anomaly):
    """Elements may be missing; one that comes again was never left over."""
    dropping = case(Stream(3), ONE, num_workers=2, drop_last=True)

    assert judged("iterable.once", traced(dropping, found)) == anomaly


def test_a_refused_construction_is_not_judged():
    """A candidate may lack an option."""
    refused = traced(case(Stream(3), ONE, in_order=False), [], construction=error("TypeError"))

    for clause in ("once", "order", "ends", "no-data", "length", "drop-last", "ranks"):
        assert judged(f"iterable.{clause}", refused) == UNMET


def test_a_hang_is_judged_by_one_law_only():
    """A pass that did not return says that workers without data did not end."""
    hung = traced(case(Stream(1), ONE, num_workers=2), error("Hang"))

    assert judged("iterable.no-data", hung) == "hang"
    assert judged("iterable.once", hung) == UNMET
    assert judged("iterable.no-data", traced(case(Stream(3), ONE, num_workers=2), [0])) == UNMET


@pytest.mark.parametrize(
    ("passed", "anomaly"),
    [
        ([[0]], ""),
        ([], "ended-with-it"),
        ([[0], []], "empty-batch"),
        (error("StopIteration"), "crash"),
    ],
)
def test_workers_without_data_end(passed, anomaly):
    """What the others have comes, and nothing else."""
    of = case(Stream(1), ONE, num_workers=2, batch_size=2)

    assert judged("iterable.no-data", traced(of, passed)) == anomaly


def test_an_end_that_takes_long_is_late():
    """A pass over one element takes no five seconds."""
    found = traced(case(Stream(1), ONE, num_workers=2), [0])
    rank = found.ranks[0]
    slow = replace(rank, events=(rank.events[0], replace(rank.events[1], seconds=5.5)))

    assert judged("iterable.no-data", replace(found, ranks=(slow,))) == "late-end"


def told_of(workers, early, late, *passed, asked=True):
    """An undivided stream: warnings of its pass, and of a map-style dataset after it."""
    plan = [*([Len()] if asked else []), ONE, Rebuild((("dataset", Mapped(4)),)), Iterate()]
    data = Stream(4, shard="none", sized=True)
    found = traced(
        case(data, *plan, num_workers=workers, batch_size=2),
        *([2] if asked else []), list(passed), None, [[0, 1], [2, 3]],
    )  # fmt: skip
    events = list(found.ranks[0].events)
    events[-3] = replace(events[-3], warnings=early)
    events[-1] = replace(events[-1], warnings=late)
    return replace(found, ranks=(RankTrace(0, tuple(events)),))


TWICE = [0, 1], [0, 1], [2, 3], [2, 3]


def test_repetition_is_told_of():
    """By any warning that a map-style dataset does not get as well."""
    few = "UserWarning: fewer processors"

    assert judged("iterable.unsharded", told_of(2, (few, "twice"), (few,), *TWICE)) == ""
    assert judged("iterable.unsharded", told_of(2, (few,), (few,), *TWICE)) == "not-told"
    assert judged("iterable.unsharded", told_of(2, (), (), *TWICE[::2])) == UNMET
    assert judged("iterable.unsharded", told_of(1, (), (), *TWICE)) == UNMET


def test_repetitions_are_told_apart():
    """Whether the length was asked and whether there were batches are two faults of torch."""
    asked = LAWS["iterable.unsharded"](told_of(2, (), (), *TWICE))
    silent = LAWS["iterable.unsharded"](told_of(2, (), (), *TWICE, asked=False))

    assert asked and silent
    assert (asked.about, silent.about) == ("len asked, batches", "len not asked, batches")


@pytest.mark.parametrize(
    ("length", "anomaly"),
    [
        (2, ""),
        (3, "wrong-length"),
        (error("TypeError"), ""),
        (error("NotImplementedError"), "length-error"),
    ],
)
def test_length_is_true_or_a_type_error(length, anomaly):
    """A length that is offered is the number of batches."""
    of = case(Stream(4, sized=True), Len(), ONE, num_workers=2, batch_size=2)

    assert judged("iterable.length", traced(of, length, [[0, 2], [1, 3]])) == anomaly


@pytest.mark.parametrize(
    ("lengths", "anomaly"), [((2, 3), ""), ((2, 2), "wrong-length"), ((3, 3), "wrong-length")]
)
def test_length_is_that_of_the_stream_as_it_is(lengths, anomaly):
    """What is told before the data grow speaks of the pass before, and then of the one after."""
    of = case(Stream(4, sized=True), Len(), ONE, Resize(6), Len(), ONE, batch_size=2)
    told = traced(of, lengths[0], [[0, 1], [2, 3]], None, lengths[1], [[0, 1], [2, 3], [4, 5]])

    assert judged("iterable.length", told) == anomaly


def test_length_is_judged_of_sized_streams_that_come_once():
    """Whose length says how many elements come."""
    for data in (Stream(4), Stream(4, sized=True, shard="none")):
        of = case(data, Len(), ONE, num_workers=2)
        assert judged("iterable.length", traced(of, 9, [0, 1])) == UNMET


@pytest.mark.parametrize(
    ("drop", "passed", "each", "total"),
    [
        (False, [[0, 2, 4], [1, 3, 5], [6], [7]], "", UNMET),
        (False, [[0, 2, 4], [1, 3, 5]], "dropped", UNMET),
        (True, [[0, 2, 4], [1, 3, 5]], "", ""),
        (True, [[0, 2, 4], [1, 3, 5], [6]], "incomplete-batch", ""),
        (True, [[0, 2, 4]], "dropped-too-much", "dropped-for-each-worker"),
        (True, [], "dropped-too-much", "dropped-for-each-worker"),
    ],
)
def test_incomplete_batches_are_dropped(drop, passed, each, total):
    """Two workers with four elements each, in batches of three."""
    of = case(Stream(8), ONE, num_workers=2, batch_size=3, drop_last=drop)

    assert judged("iterable.drop-last", traced(of, passed)) == each
    assert judged("iterable.drop-total", traced(of, passed)) == total


def test_dropping_for_each_worker_breaks_the_should_only():
    """Two workers with two elements each, in batches of three."""
    of = case(Stream(4), ONE, num_workers=2, batch_size=3, drop_last=True)

    assert judged("iterable.drop-last", traced(of, [])) == ""
    assert judged("iterable.drop-total", traced(of, [])) == "dropped-for-each-worker"


def test_complete_batches_are_not_dropped():
    """Two workers with three elements each leave none over."""
    of = case(Stream(6), ONE, num_workers=2, batch_size=3, drop_last=True)

    assert judged("iterable.drop-last", traced(of, [[0, 2, 4]])) == "dropped-too-much"
    other = traced(of, [[0, 2, 1]])
    assert judged("iterable.drop-last", other) == "complete-batch-dropped"


@pytest.mark.parametrize(
    ("yielded", "anomaly"),
    [
        (([0, 2], [1]), ""),
        (([0, 1, 2], []), ""),
        (([0, 2], []), "element-lost"),
        (([0, 1], [1, 2]), "element-repeated"),
        (([0, 2], error("RuntimeError")), "crash"),
    ],
)
def test_ranks_divide(yielded, anomaly):
    """All ranks together give each element once, however many each of them gives."""
    of = Case("DataLoader", {"dataset": Stream(3, shard="rank")}, [ONE], 2)

    assert judged("iterable.ranks", several(of, *yielded)) == anomaly


@pytest.mark.parametrize(
    ("data", "options", "passed", "anomaly"),
    [
        (Stream(5), {}, [0, 1, 2, 3, 4], ""),
        (Stream(5), {}, [0, 2, 4, 1, 3], "out-of-turn"),
        (Stream(5), {}, [0, 1, 2, 3], "other-batches"),
        (Stream(5), {"batch_size": 2}, [[0, 2], [1, 3], [4]], ""),
        (Stream(5), {"batch_size": 2}, [[0, 1], [2, 3], [4]], "other-batches"),
        (Stream(4, shard="skewed"), {}, [0, 3, 1, 2], ""),
        (Stream(4, shard="skewed"), {}, [0, 1, 2, 3], "out-of-turn"),
        (Stream(4, shard="blocks"), {}, [0, 2, 1, 3], ""),
        (Stream(5), {"in_order": False}, [4, 3, 2, 1, 0], UNMET),
        (Stream(5), {"drop_last": True}, [0, 1, 2, 3, 4], UNMET),
    ],
)
def test_workers_take_turns(data, options, passed, anomaly):
    """From worker 0 on, as long as they have data."""
    of = case(data, ONE, **{"num_workers": 2, "batch_size": None, **options})

    assert judged("iterable.order", traced(of, passed)) == anomaly


@pytest.mark.parametrize(
    ("rest", "anomaly"), [([3, 4, 5], ""), ([3, 5, 4], "out-of-turn"), ([4, 5], "out-of-turn")]
)
def test_an_error_of_collate_fn_costs_a_batch_and_no_turn(rest, anomaly):
    """Element 2 is lost, and what comes after it comes in turn."""
    refusing = Collate("list", (Fault("collate", 2, "ValueError"),))
    plan = [Open("a"), Take("a", 2), Take("a"), Drain("a")]
    of = case(Stream(6), *plan, num_workers=2, batch_size=None, collate_fn=refusing)

    assert judged("iterable.order", traced(of, None, [0, 1], error("ValueError"), rest)) == anomaly


def test_what_was_taken_is_a_beginning():
    """A pass that is left early and the one after it begin alike."""
    plan = [Open("a"), Take("a", 2), Drop("a"), ONE]
    of = case(Stream(4), *plan, num_workers=2, batch_size=None, persistent_workers=True)

    assert judged("iterable.order", traced(of, None, [0, 1], None, [0, 1, 2, 3])) == ""
    assert judged("iterable.order", traced(of, None, [1, 0], None, [0, 1, 2, 3])) == "out-of-turn"
    assert judged("iterable.order", traced(of, None, [0, 1], None, [1, 0, 3, 2])) == "out-of-turn"


@pytest.mark.parametrize(
    ("workers", "reports", "anomaly"),
    [
        (0, [("iter", -1), ("end", -1)], ""),
        (0, [("iter", -1), ("end", -1), ("ask", -1)], "asked-after-end"),
        (0, [("iter", -1), ("iter", -1)], "iterated-again"),
        (2, [("iter", 1), ("iter", 0)], ""),
        (2, [("iter", 0)], "not-iterated"),
        (2, [("iter", 0), ("iter", 1), ("iter", 1)], "iterated-again"),
    ],
)
def test_each_pass_iterates_once(workers, reports, anomaly):
    """In each worker, or in the main process, and asks no iterator after its end."""
    found = with_records(
        case(Stream(2), ONE, Journal(), num_workers=workers), [0, 1], journal(*reports)
    )

    assert judged("iterable.ends", found) == anomaly


def test_a_pass_left_early_may_not_have_begun():
    """Two passes, of which one came to its end: once or twice."""
    plan = [Open("a"), Take("a"), ONE, Journal()]
    of = case(Stream(2), *plan, num_workers=1)

    for times, anomaly in ((0, "not-iterated"), (1, ""), (2, ""), (3, "iterated-again")):
        reports = journal(*[("iter", 0)] * times)
        found = with_records(of, None, [0], [0, 1], reports)
        assert judged("iterable.ends", found) == anomaly


def test_a_journal_that_was_read_too_early_tells_nothing():
    """What a later pass did is not in it."""
    of = case(Stream(2), Journal(), ONE)

    assert judged("iterable.ends", with_records(of, (), [0, 1])) == UNMET


KEEP = {"batch_size": None, "collate_fn": Collate("list")}

RIGHT = [[0, 0, 2, 7, 1], [0, 1, 2, 7, 1]]


@pytest.mark.parametrize(
    ("rows", "anomaly", "seeds"),
    [
        (RIGHT, "", ""),
        (error("AttributeError"), "crash", UNMET),
        ([[0, -1, 0, 0, 0]], "not-told", UNMET),
        ([[0, 0, 2, 7, 1], [0, 2, 2, 7, 1]], "wrong-number", ""),
        ([[0, 0, 4, 7, 1], [0, 1, 4, 7, 1]], "wrong-count", ""),
        ([[0, 0, 2, 7, 1], [0, 0, 2, 7, 1]], "number-shared", UNMET),
        ([[0, 0, 2, 7, 0], [0, 1, 2, 7, 1]], "not-its-copy", ""),
        ([[0, 0, 2, 7, 1], [0, 1, 2, 8, 1]], "", "seeds-apart"),
    ],
)
def test_workers_are_told_who_they_are(rows, anomaly, seeds):
    """Rows: element, id, num_workers, seed - id, whether the dataset is its own."""
    of = case(Stream(1, shard="none", gives="info"), ONE, num_workers=2, **KEEP)

    assert judged("iterable.worker-info", traced(of, rows)) == anomaly
    assert judged("iterable.shared-seed", traced(of, rows)) == seeds


def test_what_is_no_row_tells_nothing():
    """Items that were spoilt on their way are a matter of other clauses."""
    of = case(Stream(1, shard="none", gives="info"), ONE, num_workers=2, **KEEP)

    assert judged("iterable.worker-info", traced(of, [1, 2])) == UNMET
    assert judged("iterable.shared-seed", traced(of, [[1], [2]])) == UNMET


def test_the_main_process_is_no_worker():
    """Neither when it fetches by itself nor while workers are at work."""
    alone = case(Stream(1, shard="none", gives="info"), ONE, **KEEP)
    assert judged("iterable.worker-info", traced(alone, [[0, -1, 0, 0, 0]])) == ""
    assert judged("iterable.worker-info", traced(alone, [[0, 0, 1, 7, 1]])) == "told-in-main"

    data = Stream(1, shard="none", gives="info")
    asked = case(data, Open("a"), Inform(), ONE, num_workers=2, **KEEP)
    assert judged("iterable.worker-info", traced(asked, None, None, RIGHT)) == ""
    told = traced(asked, None, "WorkerInfo(id=0)", RIGHT)
    assert judged("iterable.worker-info", told) == "told-in-main"


def test_what_worker_init_fn_sets_is_seen():
    """It has set the mark of `get_worker_info().dataset` to one more than the worker's number."""
    data = Stream(2, shard="none", gives="marked")
    of = case(data, ONE, num_workers=2, worker_init_fn=Init("mark"), **KEEP)

    assert judged("iterable.worker-info", traced(of, [1000, 2000, 1001, 2001])) == ""
    assert judged("iterable.worker-info", traced(of, [0, 0, 1, 1])) == "not-its-copy"
