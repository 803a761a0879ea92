"""The suite from Python: `check` returns verdicts, `parametrize` makes tests of them.

It is imported with the package, and so imports nothing heavy before it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

    from conformance.verdict import Verdict


def check(
    candidate: Any, role: str | None = None, *, clauses: Sequence[str] = ("*",),
    effort: str = "ci", seed: int = 0, profile: str = "core",
    world_sizes: Sequence[int] = (1, 2, 3, 4), backend: str = "auto",
    policies: dict[str, Any] | None = None, baselines: Sequence[str] = (),
    case_timeout_s: float = 20.0,
) -> list[Verdict]:  # fmt: skip
    """Examine a candidate without pytest; returns its verdicts in the order of the spec.

    candidate: a class, a module, or what `--impl` takes. It is imported again by the processes of
    the suite, so it stands in a module or a file, and a script that calls this does so under
    `if __name__ == "__main__"`. role: the role that a class plays, where neither its name nor that
    of a base class tells; of a module, the only one to be examined. The others are as the options
    of the same names: clauses are patterns such as "distributed.*", policies `pads`, `divides` and
    `sentinel`, baselines files or "torch".

    Raises CandidateError, a ValueError, that names the argument and the rule.
    """
    from conformance.asking import asked

    wish = asked(
        candidate, role, clauses, effort=effort, seed=seed, profile=profile,
        world_sizes=world_sizes, backend=backend, policies=policies, baselines=baselines,
        case_timeout_s=case_timeout_s,
    )  # fmt: skip
    with wish.open() as run:
        text = wish.source.text
        provided = run.candidates[text].roles
        wanted = [prop for prop in wish.properties() if prop.role in provided]
        run.begin(text, wanted)
        return [run.examine(text, prop) for prop in wanted]


def parametrize(
    candidate: Any, role: str | None = None, *, clauses: Sequence[str] = ("*",), **options: Any
) -> pytest.MarkDecorator:
    """Make a test of every clause that a candidate is bound by.

        @conformance.parametrize(MySampler, role="DistributedSampler")
        def test_conformance(check): check()

    Arguments are those of `check`. A violated clause fails its test with the whole document; a
    SHOULD only warns, unless pytest is told to be `--strict`.
    """
    from conformance.marks import marked

    return marked(candidate, role, tuple(clauses), options)
