"""What counts for nothing in a fault that is made from torch's own class: what torch itself does.

Who derives from torch's loader runs the suite with `--baseline=torch`. Without it a run would end
at what torch does, and tell nothing of the fault. Where torch does what the fault names, it counts.
"""

from __future__ import annotations

import functools
import importlib
from pathlib import Path

from torch.utils import data
from zoo import Fault

import conformance
from conformance.baseline import Deviation, read_baseline
from conformance.roles import ROLES

TORCH = tuple(getattr(data, role) for role in ROLES if isinstance(getattr(data, role, 0), type))
SHIPPED = Path(conformance.__file__).parent / "baselines" / "torch.toml"
ENTRY = "[[deviation]]\n"


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
    if not derived(fault):
        return ""
    head, *entries = SHIPPED.read_text(encoding="utf-8").split(ENTRY)
    named = tuple(f"clause = '{clause}'" for clause in fault.caught_by)
    left = (one.rstrip() for one in entries if not one.startswith(named))
    return head + "".join(
        f"{ENTRY}{one}\n\n" if "\noccurs = " in one else f"{ENTRY}{one}\noccurs = 'sometimes'\n\n"
        for one in left
    )
