"""Where a script gets the candidate's roles from: as a person would import them."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

from conformance.candidate import Description
from conformance.copying import FILE
from conformance.report.reproduction.draft import Draft

SHIPPED = "conformance.adapters."

STAND_INS = "torch.utils.data"
"""What a case nests where the candidate has no such role."""


def role_name(draft: Draft, role: str) -> str:
    """The expression for a role's class, imported."""
    candidate = draft.candidate
    if role not in candidate.roles:
        return stand_in(draft, role)
    module = module_name(candidate)
    if role == "get_worker_info" and candidate.beside:
        its_own = candidate.beside.startswith(FILE)
        draft.names[module if its_own else candidate.beside].add(role)
        return role
    holder = candidate.source.text.partition(":")[2]
    attribute = dict(candidate.source.names).get(role, role)
    if not holder:
        draft.names[module].add(attribute)
        return attribute
    draft.names[module].add(holder.partition(".")[0])
    itself = _is_class(holder) or holder in dict(candidate.source.names).values()
    return holder if itself else f"{holder}.{attribute}"


def stand_in(draft: Draft, name: str) -> str:
    """The expression for a class of torch, imported: in full where the candidate is called so."""
    source = draft.candidate.source
    if name in (source.text.rpartition(":")[2], *dict(source.names).values()):
        draft.need(STAND_INS)
        return f"{STAND_INS}.{name}"
    draft.names[STAND_INS].add(name)
    return name


def _is_class(holder: str) -> bool:
    """Whether `module:Holder` names the class itself: a class is written in capitals."""
    return holder.rpartition(".")[2].lstrip("_")[:1].isupper()


def module_name(candidate: Description) -> str:
    """The dotted name under which a script imports the candidate."""
    text = candidate.source.text.partition(":")[0]
    if text.endswith(".py"):
        return Path(text).stem
    return ".".join([text, *_beneath(candidate, text)])


def _beneath(candidate: Description, text: str) -> list[str]:
    """The modules below `text` where the profile has chosen a variant of the candidate."""
    if candidate.source.profile != "torch" or not candidate.file:
        return []
    place = Path(candidate.file).with_suffix("").parts
    words = tuple(text.split("."))
    for start in range(len(place) - len(words), -1, -1):
        if place[start : start + len(words)] == words:
            return [part for part in place[start + len(words) :] if part != "__init__"]
    return []


def path_lines(candidate: Description) -> list[str]:
    """What makes the candidate importable from anywhere; nothing where it is installed."""
    if candidate.source.text.startswith(SHIPPED):
        return []  # an adapter of this suite is copied
    folder = _folder(candidate)
    installed = {sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")}
    if folder is None or str(folder) in installed:
        return []
    return [f"sys.path.insert(0, {str(folder)!r})"]


def _folder(candidate: Description) -> Path | None:
    """The folder that must be on the path."""
    if not candidate.file:
        return None
    file = Path(candidate.file)
    if candidate.source.text.partition(":")[0].endswith(".py"):
        return file.parent
    inner = len(module_name(candidate).split("."))
    return file.parents[inner] if file.stem == "__init__" else file.parents[inner - 1]


def by_path(candidate: Description) -> list[str]:
    """How a file is imported whose name is no module's, or another module's."""
    text = candidate.source.text.partition(":")[0]
    stem = Path(text).stem
    if not text.endswith(".py") or (stem.isidentifier() and stem not in sys.stdlib_module_names):
        return []
    return [
        f"spec = importlib.util.spec_from_file_location('candidate', {candidate.file!r})",
        "sys.modules['candidate'] = candidate = importlib.util.module_from_spec(spec)",
        "spec.loader.exec_module(candidate)",
    ]
