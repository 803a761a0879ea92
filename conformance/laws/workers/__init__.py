"""Laws of `spec/workers.md`, by subject: orders, ..."""

from conformance.laws.workers import deaths, failures, orders, seeds, state

__all__ = ["deaths", "failures", "orders", "seeds", "state"]
