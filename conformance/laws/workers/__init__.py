"""Laws of `spec/workers.md`, by subject."""

from conformance.laws.workers import deaths, failures, hangs, orders, seeds, starts, state

__all__ = ["deaths", "failures", "hangs", "orders", "seeds", "starts", "state"]
