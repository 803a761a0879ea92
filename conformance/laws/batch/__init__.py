"""Laws of `spec/batch.md`: an inner sequence, cut into lists (`cuts.py` tells how it is cut)."""

from conformance.laws.batch import inner, lists

__all__ = ["inner", "lists"]
