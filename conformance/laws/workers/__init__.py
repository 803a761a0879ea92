"""Laws of `spec/workers.md`, by subject."""

from conformance.laws.workers import deaths, failures, hangs, kept, orders, seeds, starts, state

__all__ = ["deaths", "failures", "hangs", "kept", "orders", "seeds", "starts", "state"]
