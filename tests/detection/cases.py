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
        asked = [
            (prop.role, s)
            for prop in everything()
            if prop.role in LOADERS
            for s in prop.scenarios
            if s.small
        ]
        return {
            (scenario.name, digest(case))
            for role, scenario in asked
            for case in examiner.fitting(candidate, role, scenario)
        }
