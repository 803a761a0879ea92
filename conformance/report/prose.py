"""A chapter of the spec as HTML: its clauses apart from each other, its links made for the site.

In the text a link leads to a file and an anchor as GitHub makes it (`sampler.md#samplerempty`), or
names a clause and leads to its chapter. Both become permanent links, `sampler.html#sampler.empty`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from conformance.clauses import CHAPTERS, HEADING, SpecError, clauses, spec_folder

FILES = {"README": "index", **dict.fromkeys(CHAPTERS, ""), "excluded": ""}
"""The texts of the spec in reading order, and the name of a page that is not that of its text."""

HEADINGS = re.compile(r"^#+ (.+)$", re.MULTILINE)
OUTSIDE = re.compile(r"[a-z]+:")


@dataclass(frozen=True)
class Chapter:
    """A text of the spec. opening: HTML of what stands before the first clause, or of all of it.

    clauses: by ID, the HTML of what stands below the line of level, profile, roles and laws.
    """

    name: str
    title: str
    opening: str
    clauses: dict[str, str]

    @property
    def file(self) -> str:
        return page_of(self.name)


def page_of(name: str) -> str:
    """The page of a text."""
    return f"{FILES[name] or name}.html"


def chapter(name: str) -> Chapter:
    """A text of `spec/`, by the name of its file. Raises SpecError on a link that leads nowhere."""
    text = _text(name)
    title, _, rest = text.removeprefix("# ").partition("\n")
    opening, *parts = HEADING.split(rest)
    bodies = {
        clause: _html(body.strip().partition("\n")[2], name)
        for clause, body in zip(parts[::2], parts[1::2], strict=True)
    }
    return Chapter(name, title, _html(opening, name), bodies)


def _text(name: str) -> str:
    return (spec_folder() / f"{name}.md").read_text(encoding="utf-8")


def address(href: str, text: str, here: str) -> str:
    """Where a link of the text `here` leads on the site. text: what the link stands on."""
    if OUTSIDE.match(href):
        return href
    file, _, anchor = href.partition("#")
    name = file.removesuffix(".md") if file else here
    if name not in FILES:
        raise SpecError(f"spec/{here}.md: the link to {href!r} leads to no text of the spec")
    if not anchor:
        known = clauses().get(text)
        return f"{page_of(name)}#{text}" if known and known.chapter == name else page_of(name)
    if anchor not in _anchors(name):
        raise SpecError(f"spec/{here}.md: there is no heading for the link to {href!r}")
    return f"{page_of(name)}#{_anchors(name)[anchor]}"


@functools.cache
def _anchors(name: str) -> dict[str, str]:
    """GitHub's anchors of a text, and what each is called on the site: a clause by its ID."""
    headings = HEADINGS.findall(_text(name))
    return {_slug(told): told if told in clauses() else _slug(told) for told in headings}


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _html(text: str, here: str) -> str:
    parser = _parser()
    tokens = parser.parse(text)
    for token in tokens:
        children = token.children or []
        for place, child in enumerate(children):
            if child.type == "link_open":
                stands_on = children[place + 1].content
                child.attrSet("href", address(str(child.attrGet("href")), stands_on, here))
    return str(parser.renderer.render(tokens, parser.options, {}))


@functools.cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    for name, rule in (
        ("fence", _example), ("code_inline", _code), ("heading_open", _heading),
        ("heading_close", _heading_end),
        ("table_open", _table), ("table_close", lambda *_: "</table></div>\n"),
    ):  # fmt: skip
        parser.add_render_rule(name, rule)
    return parser


def _example(_: Any, tokens: Sequence[Any], place: int, *more: Any) -> str:
    """A session: prompts cannot be selected, so that what is copied can be run."""
    lines = [_line(line) for line in tokens[place].content.rstrip().splitlines()]
    return f'<pre class="example" tabindex="0">{"".join(lines)}</pre>\n'


def _line(line: str) -> str:
    prompt, told = line[:4], line[4:]
    if prompt.strip() in (">>>", "..."):
        return f'<span class="prompt" aria-hidden="true">{escape(prompt)}</span>{escape(told)}\n'
    return f'<span class="answer">{escape(line)}</span>\n'


def _code(_: Any, tokens: Sequence[Any], place: int, *more: Any) -> str:
    """Code; the name of a clause leads there."""
    told = tokens[place].content
    clause = clauses().get(told)
    if clause is None:
        return f"<code>{escape(told)}</code>"
    return f'<a href="{page_of(clause.chapter)}#{told}"><code>{told}</code></a>'


def _heading(_: Any, tokens: Sequence[Any], place: int, *more: Any) -> str:
    return f'<{tokens[place].tag} id="{_slug(tokens[place + 1].content)}">'


def _heading_end(_: Any, tokens: Sequence[Any], place: int, *more: Any) -> str:
    told = tokens[place - 1].content
    return f"{here_link(_slug(told), told)}</{tokens[place].tag}>\n"


def here_link(anchor: str, told: str) -> str:
    """The visible permanent link of a heading."""
    name = escape(f"permanent link to {told}")
    return f'<a class="here" href="#{anchor}" aria-label="{name}">¶</a>'


def _table(*_: Any) -> str:
    return '<div class="wide" tabindex="0" role="group" aria-label="table"><table>\n'
