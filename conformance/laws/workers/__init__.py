"""Laws of `spec/workers.md`, by subject: orders, ..."""

from conformance.laws.workers import orders

__all__ = ["orders"]
