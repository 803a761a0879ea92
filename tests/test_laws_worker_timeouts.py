"""Laws of `spec/workers.md` on literal traces: the loader's `timeout`."""

from __future__ import annotations

from dataclasses import replace

import pytest
from by_hand import UNMET, error, items, judged, seen
from test_laws_worker_state import case

from conformance.loading import Free, Shut, Trickle
from conformance.operations import Drain, Open, Take
from conformance.trace import Error, Event


def after(kind: str, seconds: float, text: str = "no batch within the timeout") -> Event:
    """An error after so many seconds."""
    return Event(None, None, replace(error(kind), message=text), seconds)


@pytest.mark.parametrize(
    ("first", "rest", "anomaly"),
    [
        (after("RuntimeError", 1.1), [0, 1], ""),
        (after("RuntimeError", 1.1), error("RuntimeError"), ""),
        (after("RuntimeError", 1.1), [1], "lost-batch"),
        (after("RuntimeError", 1.1), [], "lost-batch"),
        (after("RuntimeError", 3.5), [0, 1], "late-timeout"),
        (after("RuntimeError", 0.5), [0, 1], "early-timeout"),
        (after("RuntimeError", 1.1, "after 1 s"), [0, 1], ""),
        (after("Empty", 1.1, ""), [0, 1], ""),
        (after("RuntimeError", 1.1, "NoneType"), [0, 1], "unclear-error"),
        (after("RuntimeError", 1.1, "NoneType"), [1], "lost-batch"),
        (Event(None, items([])), [], "lost-batch"),
        (Event(None, items([0])), [1], UNMET),
    ],
)
def test_a_timeout_comes_and_loses_nothing(first, rest, anomaly):
    """After the error the pass goes on where it was, or raises for good."""
    plan = Shut(), Open("a"), Take("a"), Free(), Drain("a")

    found = seen(case(2, *plan, timeout=1), None, None, first, None, rest)

    assert judged("workers.timeout", found) == anomaly


@pytest.mark.parametrize(
    ("second", "rest", "anomaly"),
    [
        (1.1, [0, 1], ""),
        (0.1, [0, 1], "early-timeout"),
        (0.1, error("RuntimeError"), ""),
    ],
)
def test_each_call_waits_where_it_goes_on(second, rest, anomaly):
    """A pass that goes on after a timeout waits for each call anew; one that is over need not."""
    plan = Shut(), Open("a"), Take("a"), Take("a"), Free(), Drain("a")
    late = after("RuntimeError", 1.1), after("RuntimeError", second)

    found = seen(case(2, *plan, timeout=1), None, None, *late, None, rest)

    assert judged("workers.timeout", found) == anomaly


@pytest.mark.parametrize(
    ("rest", "anomaly"), [([0, 1], ""), (error("RuntimeError"), "early-timeout")]
)
def test_no_timeout_comes_while_batches_do(rest, anomaly):
    """A worker that delivers each batch in time may take longer for all of them."""
    given = case(2, Trickle(0, 0.2), Open("a"), Drain("a"), timeout=1, num_workers=1)

    assert judged("workers.timeout", seen(given, None, None, rest)) == anomaly


@pytest.mark.parametrize(("seconds", "anomaly"), [(1.0, ""), (0.4, "early-timeout")])
def test_who_asks_late_may_wait_in_vain(seconds, anomaly):
    """A loader that does not read ahead may raise for a slow item, once its time is over."""
    given = case(2, Open("a"), Trickle(0, 1.6), Take("a"), timeout=1, num_workers=1)

    found = seen(given, None, None, after("RuntimeError", seconds))

    assert judged("workers.timeout", found) == anomaly


def test_a_timeout_that_never_comes_is_a_hang():
    """The trace ends with the call that did not return."""
    given = case(2, Shut(), Open("a"), Take("a"), timeout=1)
    hang = Event(None, None, Error(("Hang",), "did not return"), 11.0)

    assert judged("workers.timeout", seen(given, None, None, hang)) == "no-timeout"


def test_a_pass_that_goes_on_and_then_gives_up_has_lost_batches():
    """Some batches after the timeout, and then errors only, is neither of the two."""
    plan = Shut(), Open("a"), Take("a"), Free(), Drain("a"), Drain("a")
    some = Event(None, items([0]), error("RuntimeError"))
    results = None, None, after("RuntimeError", 1.0), None, some, error("RuntimeError")

    assert judged("workers.timeout", seen(case(2, *plan, timeout=1), *results)) == "lost-batch"
