"use strict";
const find = document.getElementById("find"), found = document.getElementById("found");
const nav = document.querySelector("nav"), menu = document.querySelector(".menu");
const entries = [...nav.querySelectorAll(".entry")], chapters = [...nav.querySelectorAll(".chapter")];
const text = new Map(entries.map(e => [e.dataset.clause, e.textContent.toLowerCase()]));
const unfolded = new Map(chapters.map(c => [c, Boolean(c.querySelector("details[open]"))]));
const rows = [...document.querySelectorAll("tr[data-clause]")];

function filter() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = clause => words.every(word => text.get(clause).includes(word));
  for (const each of [...entries, ...rows]) each.hidden = !fits(each.dataset.clause);
  for (const chapter of chapters) {
    const details = chapter.querySelector("details");
    chapter.hidden = words.length > 0 && !chapter.querySelector(".entry:not([hidden])");
    if (details) details.open = words.length > 0 ? !chapter.hidden : unfolded.get(chapter);
  }
  for (const body of document.querySelectorAll(".all tbody"))
    body.hidden = !body.querySelector("tr[data-clause]:not([hidden])");
  nav.classList.toggle("finding", words.length > 0);
  found.textContent = words.length ? `${links().length} of ${entries.length} clauses` : "";
}

const best = () => links().find(link => link.textContent === find.value.trim()) ?? links()[0];
const links = () => entries.filter(e => !e.hidden).map(e => e.querySelector("a"));

// Down and up walk from the box through what was found; Enter takes
// the one that is called so, else the first; Escape clears.
function walk(event) {
  const steps = [find, ...links()], at = steps.indexOf(document.activeElement);
  if (at < 0) return;
  if (event.key === "ArrowDown") (steps[at + 1] ?? steps[at]).focus();
  else if (event.key === "ArrowUp") (steps[at - 1] ?? steps[at]).focus();
  else if (event.key === "Enter" && at === 0 && find.value && steps[1]) best().click();
  else if (event.key === "Escape") { find.value = ""; filter(); find.focus(); }
  else return;
  event.preventDefault();
}

function typed(event) {
  const writing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName);
  if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  menu.open = true;
  find.focus();
}

function near() {
  for (const entry of entries) {
    const here = location.hash.slice(1) === entry.dataset.clause;
    const link = entry.querySelector("a");
    link.classList.toggle("near", here);
    if (here) link.setAttribute("aria-current", "location"); else link.removeAttribute("aria-current");
  }
}

const narrow = matchMedia("(max-width: 60rem)");
narrow.addEventListener("change", () => { menu.open = !narrow.matches; });
nav.addEventListener("click", event => { if (narrow.matches && event.target.closest("a")) menu.open = false; });
nav.addEventListener("keydown", walk);
addEventListener("keydown", typed);
addEventListener("hashchange", near);
find.addEventListener("input", filter);
find.form.hidden = false;
near();
