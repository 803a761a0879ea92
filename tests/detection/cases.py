"""All small cases of the loaders' scenarios, as the reference can be given them."""

from __future__ import annotations

import contextlib

from conformance.candidate import Source
from conformance.examine import Examiner, Options
from conformance.properties import everything
from conformance.roles import LOADERS
from conformance.scenarios import EFFORTS
from conformance.telling import digest
from conformance.worlds.worlds import Worlds


def digests() -> set[tuple[str, str]]:
    """The scenario and the digest of each, at default effort."""
    with contextlib.closing(Worlds("gloo")) as worlds:
        examiner = Examiner(worlds, Options(EFFORTS["ci"], (1, 2, 3)), [])
        candidate = worlds.describe(Source("reference"))
        return {
            (scenario.name, digest(case))
            for prop in everything() if prop.role in LOADERS
            for scenario in prop.scenarios if scenario.small
            for case in examiner.cases(candidate, prop.role, scenario)
        }  # fmt: skip
