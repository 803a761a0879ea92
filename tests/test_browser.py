"""The report and the site of the spec as a person meets them: in a browser, from a file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import Browser, skip_or_fail
from results import mixed
from test_report_site import PROOF

from conformance.clauses import clauses
from conformance.report.forms import text, write
from conformance.report.result import Result, merged
from conformance.report.site import site

TAB, ENTER, CONTROL, DOWN, ESCAPE = "\ue004", "\ue007", "\ue009", "\ue015", "\ue00c"
SCRIPT = "<script>document.title = 'harmed'</script>"
COVER, ORDER = "distributed.cover", "workers.same-order"
LOOKS = [(width, dark) for width in (360, 1280) for dark in (False, True)]
TABS_MAX = 60


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests here."""
    skip_or_fail()
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def document() -> Result:
    """Two candidates; one is called, and says, what a browser must not run."""
    return merged([mixed(), mixed(f"mine {SCRIPT}", f"no rank yields {SCRIPT}")])


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory, document: Result) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    write(path, text(document | {"spec_url": "site"}, "html"))
    return path


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, document: Result) -> Path:
    """The folder of a site with that result and one fault."""
    folder = tmp_path_factory.mktemp("site")
    for name, told in site([PROOF], document).items():
        write(folder / name, told)
    return folder


def listed(browser: Browser) -> list[str]:
    """The clauses that the matrix shows; those are also the ones that can be opened."""
    rows = [row.get_attribute("data-for") for row in browser.seen("tr.clause")]
    assert rows == [about.get_attribute("id") for about in browser.seen("details.about")]
    return rows


def focus(browser: Browser, selector: str) -> Any:
    """Reach an element by Tab alone."""
    wanted = browser.one(selector)
    for _ in range(TABS_MAX):
        browser.press(TAB)
        if browser.page.switch_to.active_element == wanted:
            return wanted
    pytest.fail(f"{TABS_MAX} times Tab does not lead to {selector}")


def answer(browser: Browser) -> str:
    """What the first button for copying says once it has been pressed; it says so for 1.5 s."""
    button = browser.one(f"[id='{COVER}'] .copy button")
    browser.until("return arguments[0].textContent !== 'Copy'", button)
    return str(browser.run("return arguments[0].textContent", button))


def found_by_typing(browser: Browser, words: str) -> list[str]:
    """The clauses that the site's filter leaves, the box being reached by its key."""
    browser.press("/")
    browser.until("return document.activeElement.id === 'find'")
    browser.press(words)
    return [entry.get_attribute("data-clause") for entry in browser.seen(".entry")]


def test_the_report_is_filtered_by_level(browser: Browser, report: Path, document: Result) -> None:
    """Only clauses of the chosen level stay, and their number is told."""
    browser.open(report)
    all_of_them = listed(browser)

    browser.one("#level option:nth-child(3)").click()

    should = [name for name, clause in document["clauses"].items() if clause["level"] == "SHOULD"]
    assert all_of_them == list(document["clauses"]) and listed(browser) == should
    assert browser.one("#shown").text == f"{len(should)} of {len(all_of_them)} clauses"


def test_the_report_is_filtered_by_verdict(browser: Browser, report: Path) -> None:
    """A verdict that is unchecked is gone, with the head of its chapter, and comes back."""
    browser.open(report)
    before = listed(browser)

    browser.one(".outcome[value=violated]").click()
    without = listed(browser)
    chapters = [head.text for head in browser.seen("tr.chapter th")]
    browser.one(".outcome[value=violated]").click()

    assert set(before) - set(without) == {COVER, ORDER}
    assert chapters == list(dict.fromkeys(name.partition(".")[0] for name in without))
    assert listed(browser) == before


def test_the_report_is_searched(browser: Browser, report: Path) -> None:
    """Words are looked for in all that is told of a clause, in any order and case."""
    browser.open(report)

    browser.one("#search").send_keys("SHARDS lost-index")

    assert listed(browser) == [COVER]


def test_a_clause_of_the_report_is_opened_by_its_link(browser: Browser, report: Path) -> None:
    """The link of the matrix opens the clause, brings it into sight, and gives it the focus."""
    browser.open(report)
    assert not browser.seen(".anomaly")

    browser.one(f"tr[data-for='{ORDER}'] a").click()
    browser.until("return document.activeElement.matches('summary')")

    about = browser.one(f"[id='{ORDER}']")
    assert about.get_attribute("open") and browser.page.current_url.endswith(f"#{ORDER}")
    assert browser.run("return arguments[0].contains(document.activeElement)", about)
    assert 0 <= browser.run("return arguments[0].getBoundingClientRect().top", about) < 900


def test_the_grid_marks_the_offending_cells(browser: Browser, report: Path) -> None:
    """Every rank's indices are drawn, and what is wrong has a sign besides its colour."""
    browser.open(report, COVER)

    cells = browser.seen(f"[id='{COVER}'] .verdict:first-of-type .cell text")
    labels = [
        label.text for label in browser.seen(f"[id='{COVER}'] .verdict:first-of-type .names text")
    ]

    assert [cell.text for cell in cells] == ["0", "7#", "0*", "2"]
    assert labels == ["rank 0, event 1", "rank 1, event 1"]


def test_the_timeline_shows_each_worker(browser: Browser, report: Path) -> None:
    """A dot for each report in its worker's lane, in order, and a legend of the letters."""
    browser.open(report, ORDER)

    inside = f"[id='{ORDER}'] .verdict:first-of-type"
    dots = browser.seen(f"{inside} .dot")
    places = [(dot.rect["x"], dot.rect["y"]) for dot in dots]

    assert [dot.text for dot in dots] == ["f0", "f1", "l1", "<1", "D1"]
    assert places == sorted(places) and len({y for _, y in places}) == 3
    assert [told.text for told in browser.seen(f"{inside} .names text")] == [
        "main", "worker 0", "worker 1",
    ]  # fmt: skip
    assert "f fetch" in browser.one(f"{inside} .key").text


@pytest.mark.parametrize("clipboard", [True, False], ids=["clipboard", "no clipboard"])
def test_the_command_is_copied(browser: Browser, report: Path, clipboard: bool) -> None:
    """The button copies, with the clipboard or without; what is pasted is what was shown."""
    browser.open(report, COVER)
    if not clipboard:
        browser.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    told = browser.one(f"[id='{COVER}'] .copy pre").text

    browser.one(f"[id='{COVER}'] .copy button").click()
    word = answer(browser)
    browser.one("#search").click()
    browser.press(CONTROL, "v")

    assert word == "Copied" and told.startswith("pytest --pyargs")
    assert browser.one("#search").get_attribute("value") == told


def test_what_cannot_be_copied_is_selected(browser: Browser, report: Path) -> None:
    """Where no way of copying works the text is left selected, and the button says so."""
    browser.open(report, COVER)
    browser.run("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
    browser.run("document.execCommand = () => false")

    browser.one(f"[id='{COVER}'] .copy button").click()

    assert answer(browser) == "Selected"
    told = browser.one(f"[id='{COVER}'] .copy pre").text
    assert browser.run("return String(getSelection())").strip() == told


def test_the_report_is_used_by_keyboard(browser: Browser, report: Path) -> None:
    """Tab reaches every control and every clause; Enter does what a click does."""
    browser.open(report)
    summary, button = f"[id='{COVER}'] > summary", f"[id='{COVER}'] .copy button"

    for selector in ("#search", "#level", ".outcome[value=violated]", f"tr[data-for='{COVER}'] a"):
        reached = focus(browser, selector)
        assert browser.run("return getComputedStyle(arguments[0]).outlineStyle", reached) == "solid"
    focus(browser, summary)
    browser.press(ENTER)
    focus(browser, button)
    browser.press(ENTER)

    assert answer(browser) == "Copied"
    assert browser.one(f"[id='{COVER}']").get_attribute("open")


def test_the_report_runs_nothing_of_a_candidate(browser: Browser, report: Path) -> None:
    """A name and a message with a script are shown as they are, and nothing of them runs."""
    browser.open(report, COVER)

    assert browser.run("return document.scripts.length") == 1
    assert browser.page.title.startswith("Conformance: shards") and SCRIPT in browser.page.title
    assert f"no rank yields {SCRIPT}" in browser.one(f"[id='{COVER}']").text


@pytest.mark.parametrize(("width", "dark"), LOOKS)
def test_the_report_is_readable(browser: Browser, report: Path, width: int, dark: bool) -> None:
    """Narrow or wide, light or dark: nothing sticks out, contrasts suffice, no error is told."""
    browser.open(report, width=width, dark=dark)
    browser.unfold()

    assert not browser.scrolls_sideways() and not browser.poor_contrasts()
    assert browser.errors() == [] and browser.requests() == {report.as_uri()}


def test_the_matrix_scrolls_by_itself(browser: Browser, report: Path) -> None:
    """On a narrow screen the matrix alone scrolls, and the clauses' names stay in sight."""
    browser.open(report, width=360)
    name = browser.one(f"tr[data-for='{COVER}'] th")
    before = name.rect["x"]

    wide = browser.run(
        "const m = document.querySelector('.matrix'); m.scrollLeft = 500; return m.scrollLeft"
    )

    assert wide > 0 and name.rect["x"] == before


def test_the_report_leads_to_the_spec(browser: Browser, report: Path) -> None:
    """Beside a clause stands the link to its text."""
    browser.open(report, COVER)

    link = browser.one(f"[id='{COVER}'] a.spec").get_attribute("href")

    assert link == (report.parent / "site/distributed.html").as_uri() + f"#{COVER}"


def test_the_site_finds_a_clause(browser: Browser, pages: Path) -> None:
    """Words of a clause's sentence find it; Enter goes to it, on the page of another chapter."""
    browser.open(pages / "index.html")

    found = found_by_typing(browser, "one epoch's indices whole of")
    told = browser.one("#found").text
    browser.press(ENTER)
    browser.until("return location.hash && document.readyState === 'complete'")

    assert found == [COVER] and told == f"1 of {len(clauses())} clauses"
    assert browser.page.current_url == (pages / "distributed.html").as_uri() + f"#{COVER}"


def test_a_name_goes_to_its_clause(browser: Browser, pages: Path) -> None:
    """The clause that is called so is taken before another whose sentence speaks of it."""
    browser.open(pages / "index.html")

    found = found_by_typing(browser, "distributed.drop")
    browser.press(ENTER)
    browser.until("return location.hash && document.readyState === 'complete'")

    assert len(found) > 1 and browser.page.current_url.endswith("#distributed.drop")


def test_what_was_found_is_walked_through(browser: Browser, pages: Path) -> None:
    """Down goes from the box to what was found, one by one; Escape shows all again."""
    browser.open(pages / "workers.html")

    found = found_by_typing(browser, "workers.seeds")

    walked = []
    for _ in found:
        browser.press(DOWN)
        walked.append(browser.page.switch_to.active_element.text)
    browser.press(ESCAPE)

    own = [name for name, clause in clauses().items() if clause.chapter == "workers"]
    assert walked == found == ["workers.seeds", "workers.seeds-repeat"]
    assert [entry.get_attribute("data-clause") for entry in browser.seen(".entry")] == own


def test_the_table_of_all_clauses_is_filtered_too(browser: Browser, pages: Path) -> None:
    """What is looked for stays in the table, with the heads of its chapters."""
    browser.open(pages / "clauses.html")

    browser.one("#find").send_keys("together the WHOLE epoch's")

    assert [row.get_attribute("data-clause") for row in browser.seen(".all tr[data-clause]")] == [
        COVER
    ]
    assert [head.text for head in browser.seen(".all .of")] == ["Distributed"]


@pytest.mark.parametrize("width", [360, 1280])
def test_a_permanent_link_jumps_to_its_clause(browser: Browser, pages: Path, width: int) -> None:
    """The clause is at the top, set off, and its own ¶ leads to where one is."""
    browser.open(pages / "distributed.html", COVER, width)

    section = browser.one(f"[id='{COVER}']")
    here = browser.one(f"[id='{COVER}'] .here").get_attribute("href")

    assert abs(browser.run("return arguments[0].getBoundingClientRect().top", section)) < 60
    assert browser.run("return document.querySelector(':target').id") == COVER
    assert here == browser.page.current_url


def test_the_site_is_used_without_scripts(browser: Browser, pages: Path) -> None:
    """Without JavaScript all is there but the filter."""
    browser.page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.open(pages / "distributed.html", COVER, 360)
        shown = [len(browser.seen(selector)) for selector in (".clause", ".opening", "#find")]
    finally:
        browser.page.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})

    assert shown == [sum(clause.chapter == "distributed" for clause in clauses().values()), 1, 0]


@pytest.mark.parametrize(("width", "dark"), LOOKS)
@pytest.mark.parametrize("name", ["index", "clauses", "distributed"])
def test_the_site_is_readable(
    browser: Browser, pages: Path, name: str, width: int, dark: bool
) -> None:
    """Narrow or wide, light or dark: nothing sticks out, contrasts suffice, no error is told."""
    path = pages / f"{name}.html"
    browser.open(path, width=width, dark=dark)
    browser.unfold()

    own = {(pages / file).as_uri() for file in (path.name, "site.css", "site.js")}
    assert not browser.scrolls_sideways() and not browser.poor_contrasts()
    assert browser.errors() == [] and browser.requests() == own
