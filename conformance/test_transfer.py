"""`spec/transfer.md`: batches in pinned memory, on their way to a device."""

from __future__ import annotations

from conformance.conclusion import Check
from conformance.properties import prove
from conformance.scenarios import transfer as cases


@prove(
    {
        "transfer.no-accelerator": (cases.WITHOUT,),
        "transfer.containers": (cases.PINNED,),
        "transfer.values": (cases.PINNED, cases.PERSISTENT),
        "transfer.pinned": (cases.PINNED,),
        "transfer.objects": (cases.OBJECTS,),
        "transfer.device": (cases.DEVICE,),
        "transfer.error": (cases.ERRORS,),
        "transfer.persistent": (cases.PERSISTENT,),
        "transfer.staging": (cases.STAGING,),
        "transfer.overlap": (cases.OVERLAP,),
    }
)
def test_transfer(check: Check) -> None:
    """Pinning changes where a batch lies and nothing else, and lets copies overlap."""
    check()
