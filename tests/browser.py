"""A browser without a window, and what it can be asked about a page: the tests of pages use it.

It is Debian's Chromium (packages `chromium` and `chromium-driver`) through selenium. Where one of
them is missing the tests skip and say so; with `CONFORMANCE_BROWSER=required` they fail.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

PROGRAMS = ("chromium", "chromedriver")
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
BOUND_S = 20

CONTRAST_MIN = 4.5
"""The least ratio between a text and its ground, of WCAG 2.2, level AA."""

CONTRASTS = """
const numbers = told => told.match(/[\\d.]+/g).map(Number);
const opaque = told => numbers(told)[3] !== 0;
const light = told => numbers(told).slice(0, 3)
  .map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const ground = element => {
  const shape = element.closest("svg") && element.parentElement.querySelector("rect, circle");
  if (shape) return getComputedStyle(shape).fill;
  for (let e = element; e; e = e.parentElement)
    if (opaque(getComputedStyle(e).backgroundColor)) return getComputedStyle(e).backgroundColor;
  return "rgb(255, 255, 255)";
};
const found = new Map(), walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true}))
    continue;
  const style = getComputedStyle(element);
  const told = element.closest("svg") ? style.fill : style.color, under = ground(element);
  const [low, high] = [light(told), light(under)].sort((a, b) => a - b);
  found.set(`${told} on ${under}`, [(high + 0.05) / (low + 0.05), walker.currentNode.data.trim()]);
}
return [...found].map(([pair, [ratio, text]]) => [pair, ratio, text]);
"""
"""Each pair of colours of a visible text and its ground: ratio, and one text that has it."""


def missing() -> str:
    """What keeps the tests from having a browser, "" if nothing does."""
    lacking = [name for name in PROGRAMS if not shutil.which(name)]
    try:
        import selenium  # noqa: F401
    except ImportError:
        lacking.append("selenium")
    return f"no browser to look with: {', '.join(lacking)} missing" if lacking else ""


def skip_or_fail() -> None:
    """Skip where there is no browser, or fail where one is required."""
    reason = missing()
    if reason and os.environ.get("CONFORMANCE_BROWSER") == "required":
        pytest.fail(reason)
    elif reason:
        pytest.skip(reason)


class Browser:
    """A browser of its own profile. `page`: the driver, for what has no word here."""

    def __init__(self, profile: Path) -> None:
        from selenium import webdriver

        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium") or ""
        for flag in (*FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        options.set_capability("goog:loggingPrefs", {"performance": "ALL", "browser": "ALL"})
        service = webdriver.ChromeService(shutil.which("chromedriver"))
        self.page = webdriver.Chrome(options=options, service=service)
        self.page.set_page_load_timeout(BOUND_S)
        self.page.set_script_timeout(BOUND_S)
        self.page.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})

    def open(self, path: Path, anchor: str = "", width: int = 1280, dark: bool = False) -> None:
        """Load a page from its file, anew, in a window of `width` x 900 pixels."""
        metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        self.page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        self.page.get("about:blank")
        self.requests(), self.errors()
        self.page.get(path.as_uri() + (f"#{anchor}" if anchor else ""))
        self.until("return document.readyState === 'complete' && document.hasFocus()")

    def run(self, script: str, *arguments: Any) -> Any:
        return self.page.execute_script(script, *arguments)

    def until(self, script: str, *arguments: Any) -> None:
        """Wait until a script returns something true; raises TimeoutException after BOUND_S."""
        from selenium.webdriver.support.wait import WebDriverWait

        waiting = WebDriverWait(self.page, BOUND_S, poll_frequency=0.02)
        waiting.until(lambda page: page.execute_script(script, *arguments))

    def one(self, selector: str) -> Any:
        return self.page.find_element("css selector", selector)

    def seen(self, selector: str) -> list[Any]:
        """The elements that are displayed."""
        visible = "e => e.checkVisibility({visibilityProperty: true})"
        asked = f"return [...document.querySelectorAll(arguments[0])].filter({visible})"
        found: list[Any] = self.run(asked, selector)
        return found

    def press(self, *keys: str) -> None:
        """Press keys on whatever has the focus, with all but the last held down."""
        from selenium.webdriver import ActionChains

        *held, last = keys
        actions = ActionChains(self.page)
        for key in held:
            actions.key_down(key)
        actions.send_keys(last)
        for key in held:
            actions.key_up(key)
        actions.perform()

    def unfold(self) -> None:
        """Open everything that can be opened."""
        self.run("for (const each of document.querySelectorAll('details')) each.open = true")

    def poor_contrasts(self) -> list[Any]:
        """The pairs of colours, of those seen, that are too much alike; never of an empty page."""
        pairs = self.run(CONTRASTS)
        assert pairs
        return [pair for pair in pairs if pair[1] < CONTRAST_MIN]

    def scrolls_sideways(self) -> bool:
        return bool(self.run("return document.documentElement.scrollWidth > innerWidth"))

    def requests(self) -> set[str]:
        """Every address asked for since the last question, what stands in the page itself aside."""
        told = [
            json.loads(entry["message"])["message"] for entry in self.page.get_log("performance")
        ]
        asked = [m["params"] for m in told if m["method"] == "Network.requestWillBeSent"]
        urls = {params["request"]["url"].partition("#")[0] for params in asked}
        return {url for url in urls if not url.startswith(("data:", "about:"))}

    def errors(self) -> list[str]:
        """What the console has told since the last question."""
        return [entry["message"] for entry in self.page.get_log("browser")]

    def close(self) -> None:
        self.page.quit()
