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
  if (target) { target.open = true; target.scrollIntoView(); target.querySelector("summary").focus({ preventScroll: true }); }
}

async function copy(button) {
  const pre = button.parentElement.querySelector("pre");
  try { await navigator.clipboard.writeText(pre.textContent); }
  catch { getSelection().selectAllChildren(pre); document.execCommand("copy"); }
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}

for (const control of [search, level, ...boxes]) control.addEventListener("input", filter);
for (const button of document.querySelectorAll(".copy button")) button.addEventListener("click", () => copy(button));
addEventListener("hashchange", open_target);
filter();
open_target();
