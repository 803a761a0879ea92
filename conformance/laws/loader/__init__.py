"""Laws of `spec/loader.md`, by subject."""

from conformance.laws.loader import (
    arguments,
    batches,
    collation,
    data,
    failures,
    passes,
    randomness,
)

__all__ = ["arguments", "batches", "collation", "data", "failures", "passes", "randomness"]
