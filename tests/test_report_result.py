"""The result of a run as a document, and what is rendered from it for machines and for GitHub."""

from __future__ import annotations

import copy
import json
from html.parser import HTMLParser
from pathlib import Path

import jsonschema
import pytest
from markdown_it import MarkdownIt
from results import mixed

from conformance.report.__main__ import main
from conformance.report.badge import badge
from conformance.report.forms import text, write
from conformance.report.github import commands, tell
from conformance.report.markdown import markdown
from conformance.report.result import SCHEMA, ResultError, merged, read, spec_revision

HOSTILE = "<script>alert('x')</script> | `y` ```\n# z *w* [a](javascript:b)"


def schema() -> jsonschema.Draft202012Validator:
    document = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


def test_a_result_follows_its_schema(tmp_path: Path) -> None:
    """What is written can be read again, by a validator of JSON Schema too."""
    write(tmp_path / "deep" / "r.json", text(mixed(), "json"))

    document = read(tmp_path / "deep" / "r.json")

    assert document == mixed()
    assert not list(schema().iter_errors(document))


@pytest.mark.parametrize(
    "path",
    [("spec",), ("candidates", 0, "run", "seed"), ("candidates", 0, "verdicts", 1, "evidence")],
)
def test_the_schema_misses_nothing(path: tuple[str | int, ...]) -> None:
    """A document without one of its fields is not valid."""
    document = mixed()
    holder = document
    for step in path[:-1]:
        holder = holder[step]  # type: ignore[index]
    del holder[path[-1]]  # type: ignore[arg-type]

    assert list(schema().iter_errors(document))


def test_a_violation_comes_with_evidence() -> None:
    """The schema refuses a violated verdict without evidence."""
    document = mixed()
    document["candidates"][0]["verdicts"][1]["evidence"] = None

    assert list(schema().iter_errors(document))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"form": "other"}'])
def test_another_file_is_refused(tmp_path: Path, text: str) -> None:
    """A file that is no result is named in the error."""
    path = tmp_path / "r.json"
    path.write_text(text)

    with pytest.raises(ResultError, match=r"r\.json"):
        read(path)


def test_results_of_several_candidates_are_joined() -> None:
    """Candidates stand side by side; verdicts of one candidate are joined, the last one wins."""
    first, again, other = mixed(), mixed(), mixed("other")
    first["candidates"][0]["verdicts"] = first["candidates"][0]["verdicts"][:2]
    again["candidates"][0]["verdicts"] = again["candidates"][0]["verdicts"][1:]
    again["candidates"][0]["run"]["complete"] = False

    document = merged([first, again, other])

    assert [candidate["name"] for candidate in document["candidates"]] == ["shards", "other"]
    assert len(document["candidates"][0]["verdicts"]) == 5
    assert [c["run"]["complete"] for c in document["candidates"]] == [False, True]
    assert not list(schema().iter_errors(document))


def test_results_of_two_specs_are_not_joined() -> None:
    """Verdicts on different revisions of the spec are not to be compared."""
    other = mixed() | {"spec": "0" * 12}

    assert other["spec"] != spec_revision()
    with pytest.raises(ResultError, match="revisions"):
        merged([mixed(), other])
    with pytest.raises(ResultError, match="nothing"):
        merged([])


class Tags(HTMLParser):
    """The tags of a page, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags, self.text = list[str](), ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def rendered(text: str) -> Tags:
    """As GitHub's Markdown would show it: HTML allowed, tables on."""
    return Tags(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def test_markdown_renders() -> None:
    """A renderer makes two tables, and a folded part for each violation."""
    shown = rendered(markdown(mixed()))

    assert shown.tags.count("table") == 2 and shown.tags.count("details") == 2
    assert "lost-index: no rank yields [1] of n = 3" in shown.text
    assert "pytest --pyargs conformance --impl=shards" in shown.text


def test_markdown_of_a_hostile_candidate_is_text() -> None:
    """Whatever a candidate yields or is called stays text, in its cell and in its block."""
    shown = rendered(markdown(mixed(HOSTILE, HOSTILE)))

    assert not {"script", "a", "em"} & set(shown.tags)
    assert shown.tags.count("table") == 2 and shown.text.count("<script>alert") >= 3


def test_markdown_says_what_is_partial() -> None:
    """A run that was stopped is marked as such."""
    document = mixed()
    document["candidates"][0]["run"]["complete"] = False

    assert "**Partial:**" in markdown(document)
    assert "**Partial:**" not in markdown(mixed())


def test_markdown_fits_a_comment() -> None:
    """What would be longer than a comment may be is counted instead."""
    document = mixed()
    verdicts = document["candidates"][0]["verdicts"]
    verdicts[1]["evidence"]["script"] = "x" * 30_000
    verdicts += [copy.deepcopy(verdicts[1]) for _ in range(4)]

    text = markdown(document)

    assert len(text) < 65_536 and "more parts: see the JSON" in text


@pytest.mark.parametrize(
    ("change", "message", "colour"),
    [
        ("", "2 of 4 violated", "red"),
        ("good", "1 hold, 1 declared", "yellowgreen"),
        ("best", "1 hold", "brightgreen"),
        ("partial", "partial, 2 of 4 violated", "lightgrey"),
        ("none", "nothing examined", "grey"),
    ],
)
def test_a_badge_tells_the_worst(change: str, message: str, colour: str) -> None:
    """The badge counts violations first, then deviations, and is never green for nothing."""
    document = mixed()
    own = document["candidates"][0]
    keep = {"good": (0, 2), "best": (0,), "none": ()}.get(change, range(5))
    own["verdicts"] = [own["verdicts"][number] for number in keep]
    own["run"] = own["run"] | {"complete": change != "partial"}

    told = badge(document)

    assert told == {
        "schemaVersion": 1, "label": "conformance", "message": message, "color": colour,
    }  # fmt: skip


def test_annotations_are_one_line_each() -> None:
    """A workflow command per violation, with line ends and percent signs encoded."""
    told = commands(mixed(saw="100 %\nof :: it"))

    assert len(told) == 2 and not any("\n" in line for line in told)
    assert told[0].startswith("::error title=distributed.cover (MUST) violated::")
    assert "100 %25%0Aof :: it" in told[0]


def test_annotations_link_to_the_spec() -> None:
    """Where the spec is published, each annotation ends with the clause's permanent link."""
    document = mixed() | {"spec_url": "https://example.org/spec"}

    told = commands(document)

    assert told and all("%0Ahttps://example.org/spec/" in line for line in told)


def test_the_summary_of_a_step_is_appended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other steps wrote stays; annotations are printed only where Actions reads them."""
    path = tmp_path / "summary.md"
    path.write_text("before\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(path))
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    silent = tell(mixed())
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    loud = tell(mixed())

    assert not silent and len(loud) == 2
    assert path.read_text().startswith("before\n## Conformance of shards")


def test_results_are_joined_and_rendered_by_a_command(tmp_path: Path) -> None:
    """Two results become one file of each form that was asked for."""
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, name in zip(paths, ("shards", "other"), strict=True):
        write(path, text(mixed(name), "json"))
    wanted = {form: tmp_path / f"all.{form}" for form in ("json", "html", "md", "badge")}

    code = main([*map(str, paths), *(f"--{form}={path}" for form, path in wanted.items())])

    assert code == 0
    assert len(read(wanted["json"])["candidates"]) == 2
    assert json.loads(wanted["badge"].read_text())["message"] == "4 of 8 violated"
    assert all("other" in wanted[form].read_text() for form in ("html", "md"))


def test_the_command_names_what_it_cannot_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A missing file is exit code 2 and one line; no form at all is a usage error."""
    assert main([str(tmp_path / "none.json"), "--md", str(tmp_path / "x.md")]) == 2
    assert "none.json" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "none.json")])
