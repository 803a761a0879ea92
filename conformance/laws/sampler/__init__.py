"""Laws of `spec/sampler.md`, the protocol that every sampler obeys: one file for each subject."""

from conformance.laws.sampler import arguments, passes, randomness, resize
from conformance.laws.sampler.arguments import reject
from conformance.laws.sampler.passes import interleave

__all__ = ["arguments", "interleave", "passes", "randomness", "reject", "resize"]
