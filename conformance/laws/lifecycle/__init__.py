"""Laws of `spec/lifecycle.md`, by subject: what is left, signals and children, limits."""

from conformance.laws.lifecycle import blows, leaving, limits

__all__ = ["blows", "leaving", "limits"]
