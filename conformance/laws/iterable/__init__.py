"""Laws of `spec/iterable.md`."""

from conformance.laws.iterable import elements, lengths, told

__all__ = ["elements", "lengths", "told"]
