"""Which classes that give a rank its share run with no code for them: `bare.json`, and a table."""

from __future__ import annotations

import json
import re

from field.packages import HERE, ranked

FILE = HERE / "bare.json"

HEAD = """\
## Without code

Every class or function of these packages that gives a rank its share, handed to `--impl` by its
own name: {bare} of {all} run with no code for the class. (The modules of timm, torchvision and
others cannot be imported beside this torch on a CPU: what they miss was declared first.) The
other {rest} take arguments of their own, for which there is an adapter, or none yet."""


def read() -> dict[str, str]:
    """By class, why it does not run as it is; "" where it does."""
    found: dict[str, str] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def note(tried: dict[str, str]) -> None:
    """Keep what was found, in the order of the list."""
    known = read() | tried
    ordered = {found.text: known[found.text] for found in ranked() if found.text in known}
    FILE.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")


def table() -> str:
    """The section of the page."""
    known = read()
    rows = [f"| `{text}` | {_shown(why)} |" for text, why in known.items()]
    bare = sum(not why for why in known.values())
    head = HEAD.format(bare=bare, all=len(known), rest=len(known) - bare)
    return "\n".join([head, "", "| class | as it is |", "|---|---|", *rows])


def _shown(why: str) -> str:
    """A reason for a cell: without paths, in one line."""
    text = re.sub(r"\(/\S+\)", "", why).removeprefix("ERROR: ").removeprefix("came").strip()
    text = re.sub(r"--impl \S+?: ", "", text)
    return text.replace("|", "\\|")[:160] if why else "runs"
