"""Laws of `spec/lifecycle.md`, by subject: what is left, signals and children, limits, threads."""

from conformance.laws.lifecycle import blows, leaving, limits, threads

__all__ = ["blows", "leaving", "limits", "threads"]
