"""Cases as text: what is written is read back, and what is no case is refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.candidate import Source
from conformance.case import VOCABULARY, Case, parse
from conformance.operations import Globals, Len, Rebuild, Reseed, SetEpoch
from conformance.recipes import Data, Generator, Probe, Raw, Role, Sparse, Values
from conformance.scenarios import EFFORTS, Setting
from conformance.scenarios import distributed as distributed_cases


def settings_of(role: str) -> Setting:
    """A setting for scenarios, of a candidate that takes every argument."""
    from conformance.candidate import Description

    roles = {role: ("**",)}
    candidate = Description(Source("reference"), roles, epochs=(role,))
    return Setting(candidate, role, (1, 2, 3), EFFORTS["quick"], 0)


def drawn_cases() -> st.SearchStrategy[Case]:
    """Cases as the scenarios of the distributed chapter draw them."""
    setting = settings_of("DistributedSampler")
    made = [
        scenario.drawn(setting)
        for scenario in vars(distributed_cases).values()
        if getattr(scenario, "drawn", None)
    ]
    return st.one_of([strategy for strategy in made if strategy is not None])


@settings(deadline=None, max_examples=150, suppress_health_check=list(HealthCheck))
@given(drawn_cases())
def test_drawn_case_survives_its_text(made: Case) -> None:
    """A drawn case is read back from its repr as an equal value with the same repr."""
    again = parse(repr(made))

    assert again == made
    assert repr(again) == repr(made)


@pytest.mark.parametrize(
    "made",
    [
        Case("RandomSampler", {"data_source": Data(3), "generator": Generator(5, True)}, [Len()]),
        Case("BatchSampler", {"sampler": Probe("Raising", 5, at=2), "batch_size": Raw(2)}, []),
        Case("WeightedRandomSampler", {"weights": Sparse(9, (1,)), "num_samples": -1}, [Globals()]),
        Case(
            "BatchSampler",
            {"sampler": Role("DistributedSampler", dataset=Data(4)), "batch_size": 2},
            [Rebuild((("batch_size", 3),)), Reseed(3, "numpy"), SetEpoch("1")],
            2, world="group", passed=False, ambient=7, alike=True,
        ),
        Case("WeightedRandomSampler", {"weights": Values((1.0, float("inf"), -0.5))}, []),
        Case("BalanceClassSampler", {"labels": Values(("it's", 'so "odd"', "\n", "é"))}, []),
        Case("BalanceClassSampler", {"labels": Values((None, True, (1, (2,)), b"x"))}, []),
    ],
)  # fmt: skip
def test_case_survives_its_text(made: Case) -> None:
    """A case with every kind of recipe and operation is read back from its repr."""
    assert parse(repr(made)) == made


def test_case_with_nan_survives_its_text() -> None:
    """NaN is equal to nothing, so of a case with NaN it is the text that stays."""
    made = Case("WeightedRandomSampler", {"weights": Values((float("nan"), 1.0))}, [])

    assert repr(parse(repr(made))) == repr(made)


@pytest.mark.parametrize(
    "text",
    [
        "", "Case(", "3", "Data(3)", "[]", "__import__('os').system('true')", "Case.__init__",
        "open('/etc/passwd')", "(lambda: Case('X', {}, []))()", "Case('X', {}, [], nothing=1)",
        "Case(*['X', {}, []])", "Case('X', {}, [exec('1')])",
        "Case('X', {}, [Data.__class__(3)])", "Case('X', {}, [i for i in range(3)])",
        "Case('X', {'a': f'{1}'}, [])", "Case('X', {}, 3)", "-'a'",
        "Case('X', {}, []); Case('Y', {}, [])", "eval('1')", "float.fromhex('1')",
        "Case('X', {}, [Iterate(1, 2, 3)])", "\0", "Case(" * 300,
        "Case('X', 3, [])",
        "Case('X', {**{'a': 1}}, [])",
    ],
)  # fmt: skip
def test_what_is_no_case_is_refused(text: str) -> None:
    """Anything but a case is a ValueError, and nothing of it is carried out."""
    with pytest.raises(ValueError):
        parse(text)


def nonsense() -> st.SearchStrategy[str]:
    """Calls of names that cases know, with anything between the brackets."""
    names = st.sampled_from([*VOCABULARY, "Case", "float", "eval"])
    between = st.text("()[]{}'\"123, abc=*-.", max_size=30)
    return st.builds(lambda name, text: f"{name}({text})", names, between)


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=60) | nonsense())
def test_parse_never_fails_otherwise(text: str) -> None:
    """Whatever the text, parse gives a case or raises ValueError."""
    try:
        found = parse(text)
    except ValueError:
        return
    assert isinstance(found, Case)
