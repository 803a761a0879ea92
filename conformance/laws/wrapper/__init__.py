"""Laws of `spec/wrapper.md`: a distributed wrapper around any sampler, and the dataset view of one.

What the inner sampler yields is known from the case (`laws/inner.py`): it is one of the suite's
probes, or a role whose pass is a permutation. Or a twin of it has told (`twins.py`).
"""

from conformance.laws.wrapper import inner, orders, shares, view

__all__ = ["inner", "orders", "shares", "view"]
