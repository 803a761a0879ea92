"""The law of `spec/sequential.md` on traces written by hand."""

from by_hand import error, judged, traced

from conformance.case import Case
from conformance.operations import Iterate, Resize
from conformance.recipes import Data

ITERATE, RESIZE = Iterate(), Resize(2)


def case(n, *plan):
    return Case("SequentialSampler", {"data_source": Data(n)}, plan)


def test_order_is_0_to_n():
    """Front to back is right; backwards, doubled and cut short are not."""
    once = case(3, ITERATE)

    assert judged("sequential.order", traced(once, [0, 1, 2])) == ""
    for wrong in ([2, 1, 0], [0, 1, 1], [0, 1], [0, 1, 2, 3], []):
        assert judged("sequential.order", traced(once, wrong)) == "not-sequential"


def test_order_follows_the_length_of_the_moment():
    """After a resize the new length counts, and an exception is allowed."""
    resized = case(3, ITERATE, RESIZE, ITERATE)

    assert judged("sequential.order", traced(resized, [0, 1, 2], None, [0, 1])) == ""
    assert judged("sequential.order", traced(resized, [0, 1, 2], None, error("ValueError"))) == ""
    stale = traced(resized, [0, 1, 2], None, [0, 1, 2])
    assert judged("sequential.order", stale) == "not-sequential"


def test_order_is_no_exception():
    """A pass that raises without a resize is a crash."""
    assert judged("sequential.order", traced(case(3, ITERATE), error("OverflowError"))) == "crash"
