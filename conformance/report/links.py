"""Where the spec can be read: the address of a clause on a site that `report/site.py` made."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

FIT = re.compile(r"(?:(?:https?|file)://|(?![A-Za-z][A-Za-z0-9+.-]*:))[^\x00-\x20\x7f]+")
"""A result may come from anybody: `javascript:` and what a browser would trim to it are no base."""


class AddressError(ValueError):
    """A base address that no report may link to."""


def checked(base: str) -> str:
    """The base as it is. Raises AddressError unless it is http, https, file, or a relative path."""
    if not FIT.fullmatch(base):
        raise AddressError(
            f"spec-url {base!r}: write an http, https or file address, or a relative path"
        )
    return base


def clause_url(base: Any, clause: str) -> str:
    """The permanent link of a clause. base: what a result or a file says; "" for one that is unfit,
    and where there is none."""
    if not isinstance(base, str) or not FIT.fullmatch(base):
        return ""
    told = quote(base.rstrip("/"), safe=":/?#@!$&'*+,;=%~")
    return f"{told}/{clause.partition('.')[0]}.html#{clause}"
