"use strict";
const search = document.getElementById("search"), level = document.getElementById("level");
const boxes = [...document.querySelectorAll(".outcome")], shown = document.getElementById("shown");
const rows = [...document.querySelectorAll("tr.clause")];
const about = new Map([...document.querySelectorAll("details.about")].map(d => [d.id, d]));
const text = new Map([...about].map(([id, d]) => [id, d.textContent.toLowerCase()]));

function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const wanted = new Set(boxes.filter(b => b.checked).map(b => b.value));
  let count = 0;
  for (const row of rows) {
    const id = row.dataset.for;
    const seen = row.dataset.outcomes.split(" ").some(o => wanted.has(o))
      && (!level.value || row.dataset.level === level.value)
      && words.every(w => text.get(id).includes(w));
    row.hidden = !seen;
    about.get(id).hidden = !seen;
    count += seen;
  }
  for (const body of document.querySelectorAll(".matrix tbody"))
    body.hidden = !body.querySelector("tr.clause:not([hidden])");
  shown.textContent = `${count} of ${rows.length} clauses`;
}

function open_target() {
  const target = about.get(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  target.hidden = false;
  target.open = true;
  target.scrollIntoView();
  target.querySelector("summary").focus({ preventScroll: true });
}

// A page from a file may be denied the clipboard: then the text is left selected, ready for Ctrl+C.
function copied(pre) {
  getSelection().selectAllChildren(pre);
  try { return document.execCommand("copy"); } catch { return false; }
}

async function copy(button) {
  const pre = button.parentElement.querySelector("pre");
  let done = false;
  try { await navigator.clipboard.writeText(pre.textContent); done = true; } catch { done = copied(pre); }
  button.textContent = done ? "Copied" : "Selected";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

for (const control of [search, level, ...boxes])
  for (const event of ["input", "change"]) control.addEventListener(event, filter);
for (const button of document.querySelectorAll(".copy button")) button.addEventListener("click", () => copy(button));
for (const link of document.querySelectorAll(".matrix a")) link.addEventListener("click", () => setTimeout(open_target));
addEventListener("hashchange", open_target);
filter();
open_target();
