"""The spec as a site: every link leads somewhere, every clause has its permanent link, and beside
each clause stands what proves it and who breaks it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from results import mixed, verdict
from spec_site import asked, proofs
from test_report_result import HOSTILE, schema

from conformance.baseline import read_baseline
from conformance.clauses import SpecError, clauses
from conformance.report.__main__ import main as report
from conformance.report.forms import text, write
from conformance.report.known import breaks
from conformance.report.links import AddressError, clause_url
from conformance.report.markdown import markdown
from conformance.report.page import page
from conformance.report.prose import address
from conformance.report.result import merged, read, result
from conformance.report.site import Proof, main, site
from conformance.verdict import DECLARED, VIOLATED

PROOF = Proof("distributed.cover", "shares.Hostile", HOSTILE, True)
BASE = "https://example.org/spec"


class Page(HTMLParser):
    """The IDs of a page, its links, what it loads, and the text inside each element with an ID."""

    def __init__(self, told: str) -> None:
        super().__init__()
        self.ids, self.links, self.loads = list[str](), list[str](), list[str]()
        self.tags, self.inside, self.sections = list[str](), list[str](), dict[str, str]()
        self.feed(told)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = {name: value or "" for name, value in attrs}
        self.tags.append(tag)
        if "id" in held:
            self.ids.append(held["id"])
        if tag == "section":
            self.inside = [held.get("id", "")]
        if tag == "a":
            self.links.append(held["href"])
        elif tag == "link" or "src" in held:
            self.loads.append(held.get("href") or held["src"])

    def handle_endtag(self, tag: str) -> None:
        if tag == "section":
            self.inside = []

    def handle_data(self, data: str) -> None:
        for name in self.inside:
            self.sections[name] = self.sections.get(name, "") + data


def pages(files: dict[str, str]) -> dict[str, Page]:
    return {name: Page(told) for name, told in files.items() if name.endswith(".html")}


@pytest.fixture(scope="module")
def whole() -> dict[str, str]:
    """The site with the whole zoo and with a result."""
    return site(proofs(), mixed())


def test_every_link_leads_somewhere(whole: dict[str, str]) -> None:
    """Each link within the site names a page that there is, and an ID on it."""
    found = pages(whole)

    ids = {name: set(held.ids) for name, held in found.items()}
    inner = [
        (name, href) for name, held in found.items() for href in held.links if "://" not in href
    ]
    broken = [
        (name, href)
        for name, href in inner
        for file, _, anchor in [href.partition("#")]
        if (file or name) not in ids or (anchor and anchor not in ids[file or name])
    ]
    assert len(inner) > 1000 and not broken


def test_every_clause_has_one_permanent_link(whole: dict[str, str]) -> None:
    """The ID of a clause stands once on the site, on its chapter's page, and a link leads to it."""
    found = pages(whole)

    homes = {name: [file for file in found if name in found[file].ids] for name in clauses()}
    assert homes == {name: [f"{clause.chapter}.html"] for name, clause in clauses().items()}
    for name, clause in clauses().items():
        held = found[f"{clause.chapter}.html"]
        assert held.ids.count(name) == 1 and f"#{name}" in held.links


def test_links_that_name_a_clause_lead_to_it() -> None:
    """A link to an anchor of GitHub's, and one that only names a clause, become permanent links."""
    to_empty = "sampler.html#sampler.empty"

    assert address("#samplerempty", "this", "sampler") == to_empty
    assert address("sampler.md#samplerempty", "this", "loader") == to_empty
    assert address("sampler.md", "sampler.empty", "loader") == to_empty
    assert address("sampler.md", "the chapter", "loader") == "sampler.html"
    assert address("README.md#levels", "levels", "loader") == "index.html#levels"
    assert address(BASE, "elsewhere", "loader") == BASE


@pytest.mark.parametrize("href", ["smapler.md", "#samplerempti", "README.md#level"])
def test_a_link_that_leads_nowhere_is_an_error(href: str) -> None:
    """The chapter and the link are named."""
    with pytest.raises(SpecError, match=f"spec/sampler.md: .*{href}"):
        address(href, "this", "sampler")


def test_nothing_from_elsewhere_is_loaded(whole: dict[str, str]) -> None:
    """A page loads its style and its script, which load nothing."""
    for held in pages(whole).values():
        assert set(held.loads) == {"data:,", "site.css", "site.js"}
    assert not re.search(r"url\(|@import|https?:|fetch\(|import\(", whole["site.css"])
    assert not re.search(r"https?:|fetch\(|import\(|XMLHttp", whole["site.js"])


def test_a_clause_tells_what_proves_it(whole: dict[str, str]) -> None:
    """Each fault stands at each clause that it names, and is marked where it was caught."""
    found = pages(whole)
    known = list(proofs())

    for proof in known:
        held = found[f"{clauses()[proof.clause].chapter}.html"]
        assert proof.fault in held.sections[proof.clause]
    for name, clause in clauses().items():
        own = [proof for proof in known if proof.clause == name]
        section = found[f"{clause.chapter}.html"].sections[name]
        assert section.count("✓") == sum(proof.caught for proof in own)


def test_the_shipped_baseline_is_told() -> None:
    """Each deviation of torch stands at its clause with its anomaly and its reason."""
    found = pages(site())

    for known in read_baseline("torch"):
        section = found[f"{clauses()[known.clause].chapter}.html"].sections[known.clause]
        assert known.anomaly in section and known.reason.replace("`", "") in section
        assert "torch.utils.data" in section and known.role in section


def test_a_result_tells_who_breaks_a_clause() -> None:
    """A violation and a declared deviation stand at their clauses; what holds does not."""
    found = pages(site((), mixed("mine")))["distributed.html"].sections

    assert "lost-index" in found["distributed.cover"] and "mine" in found["distributed.cover"]
    assert "known" in found["distributed.any-world-size"]
    assert "mine" not in found["distributed.equal-counts"]


def test_what_a_baseline_and_a_result_declare_comes_once() -> None:
    """A run under the torch baseline adds nothing to what the baseline says."""
    known = read_baseline("torch")[0]
    document = mixed("torch.utils.data")
    told = verdict(known.clause, DECLARED, known.role, declared=[known.reason])
    document["candidates"][0]["verdicts"] = [vars(told) | {"exercise": {}}]

    assert breaks(document) == breaks(None)


def test_violations_come_before_declared_deviations() -> None:
    """Who breaks a clause without having said so is told first."""
    outcomes = [found.outcome for found in breaks(mixed())]

    assert set(outcomes) == {VIOLATED, DECLARED} and outcomes == sorted(outcomes, reverse=True)


def test_what_a_candidate_says_stays_text() -> None:
    """Names, messages, reasons and sentences are escaped wherever they stand."""
    document = mixed(HOSTILE, HOSTILE)
    document["candidates"][0]["verdicts"][2]["declared"] = [HOSTILE]

    hostile = pages(site([PROOF], document))
    tame = pages(site([Proof(PROOF.clause, "a", "b", True)], mixed()))

    for name, held in hostile.items():
        assert held.tags.count("script") == tame[name].tags.count("script") == 2
        assert not [href for href in held.links if href.startswith("javascript")]
    section = hostile["distributed.html"].sections["distributed.cover"]
    assert section.count("<script>alert('x')</script>") >= 3


def test_the_command_writes_a_site(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Results are joined, the folder is made, and a file that is no result is named."""
    write(tmp_path / "r.json", text(mixed(), "json"))

    assert main([str(tmp_path / "a" / "b"), str(tmp_path / "r.json")]) == 0
    assert (tmp_path / "a" / "b" / "distributed.html").exists()
    assert "lost-index" in (tmp_path / "a" / "b" / "clauses.html").read_text()
    assert main([str(tmp_path / "c"), str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err


def test_results_of_another_spec_are_told_as_such() -> None:
    """A site says so when its results were judged by another text than its own."""
    other = site((), mixed() | {"spec": "0" * 12})

    assert "judged by revision 000000000000" in other["index.html"]
    assert "judged by revision" not in site((), mixed())["index.html"]


def test_reports_link_to_the_spec() -> None:
    """Where the document names a site, each clause of the page and of the table links there."""
    document = mixed() | {"spec_url": BASE + "/"}
    cover = f"{BASE}/distributed.html#distributed.cover"

    assert not list(schema().iter_errors(document))
    links = Page(page(document)).links
    assert [clause_url(document["spec_url"], name) in links for name in document["clauses"]] == [
        True
    ] * 5
    assert cover in links and f"[distributed.cover](<{cover}>)" in markdown(document)
    assert "https:" not in "".join(Page(page(mixed())).links) + markdown(mixed())


@pytest.mark.parametrize(
    "base",
    ["javascript:alert(1)", "java\nscript:alert(1)", "data:text/html,x", " javascript:x", ""],
)
def test_no_report_links_to_a_script(base: str) -> None:
    """A base that a browser would run is refused when given, and left out when read."""
    document = mixed() | {"spec_url": base}

    assert list(schema().iter_errors(document))
    assert clause_url(document["spec_url"], "distributed.cover") == ""
    with pytest.raises(AddressError, match="spec-url"):
        result({}, [], [], spec_url=base)


def test_the_command_takes_a_base(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--spec-url` stands above what the results say; one that is no address is exit code 2."""
    source, out = tmp_path / "r.json", tmp_path / "all.json"
    write(source, text(mixed() | {"spec_url": "https://example.com"}, "json"))

    assert report([str(source), "--json", str(out)]) == 0
    assert read(out)["spec_url"] == "https://example.com"
    assert report([str(source), "--json", str(out), "--spec-url", "../spec"]) == 0
    assert read(out)["spec_url"] == "../spec"
    assert report([str(source), "--json", str(out), "--spec-url", "data:x"]) == 2
    assert "spec-url" in capsys.readouterr().err


def test_a_joined_result_keeps_a_base() -> None:
    """Of several results the first that names a site is heard; old ones have no such field."""
    old = mixed()
    del old["spec_url"]

    assert merged([old, mixed("other") | {"spec_url": BASE}])["spec_url"] == BASE
    assert merged([old])["spec_url"] is None
    assert not list(schema().iter_errors(old))


def test_the_site_shows_published_packages() -> None:
    """Without results of one's own, those that are kept of published packages are taken."""
    kept = asked(["site"])

    assert len(kept) > 45 and all(Path(path).exists() for path in kept[1:])
    assert asked(["site", "mine.json"]) == ["site", "mine.json"]
