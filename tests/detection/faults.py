"""The faults that are scored: every wrong class of the zoo, and the published balanced samplers."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect

from zoo import PUBLISHED, ZOO, Fault, wrong


@functools.cache
def scored() -> tuple[Fault, ...]:
    """Every fault with a score, in the order of the zoo, as it was when first asked for."""
    return *wrong(), PUBLISHED


def key(fault: Fault) -> str:
    """The name of a fault in the data: module and class."""
    return f"{fault.module}.{fault.name}".rstrip(".")


def source_digest(fault: Fault) -> str:
    """Eight hex digits of the source of a fault and of what it derives from in the zoo."""
    if not fault.name:
        found = (ZOO / f"{fault.module}.py").read_text(encoding="utf-8")
    else:
        kind = getattr(importlib.import_module(fault.module), fault.name)
        files = [(own, inspect.getmodule(own)) for own in kind.__mro__]
        own_source = (
            inspect.getsource(own)
            for own, module in files
            if str(getattr(module, "__file__", "")).startswith(str(ZOO))
        )
        found = "".join(own_source)
    return hashlib.sha256(found.encode()).hexdigest()[:8]


@functools.cache
def suite_digest() -> str:
    """Eight hex digits of the source of the suite, as it was when this process began."""
    folder = ZOO.parents[1] / "conformance"
    files = sorted(folder.rglob("*.py"))
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:8]
