"""The conformance suite for PyTorch samplers: a case is drawn, ranks carry out its plan, what they
did becomes a trace, laws judge the trace, the report tells a person."""

from conformance.api import check, parametrize

__all__ = ["check", "parametrize"]
__version__ = "0.1.0"
