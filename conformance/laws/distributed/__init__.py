"""Laws of `spec/distributed.md`: one file for each subject."""

from conformance.laws.distributed import orders, policies, shares
from conformance.laws.distributed.orders import orders_differ, same_as_oracle
from conformance.laws.distributed.shares import drops, equal_counts

__all__ = [
    "drops", "equal_counts", "orders", "orders_differ", "policies", "same_as_oracle", "shares",
]  # fmt: skip
