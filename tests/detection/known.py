"""What counts for nothing in a fault that is made from torch's own class: what torch itself does.

Who derives from torch's loader runs the suite with `--baseline=torch`. Without it a run would end
at what torch does, and tell nothing of the fault. Where torch does what the fault names, it counts.
"""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace

from torch.utils import data
from zoo import Fault

from conformance.baseline import Deviation, baseline_text, read_baseline
from conformance.roles import ROLES

TORCH = tuple(getattr(data, role) for role in ROLES if isinstance(getattr(data, role, 0), type))


def derived(fault: Fault) -> bool:
    """Whether its class is one of torch's, changed."""
    kind = getattr(importlib.import_module(fault.module), fault.name, None) if fault.name else None
    return isinstance(kind, type) and issubclass(kind, TORCH)


def known(fault: Fault) -> list[Deviation]:
    """The deviations of torch that count for nothing."""
    if not derived(fault):
        return []
    return [one for one in _shipped() if one.clause not in fault.caught_by]


@functools.cache
def _shipped() -> list[Deviation]:
    return read_baseline("torch")


def baseline(fault: Fault) -> str:
    """The same as the text of a baseline, "" if there are none. It is of torch, so that an entry
    which no longer occurs is no finding."""
    found = [replace(one, occurs="sometimes") for one in known(fault)]
    return baseline_text(found) if found else ""
