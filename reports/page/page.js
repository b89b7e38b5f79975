// What a page can do with a script: tables that can be sorted, rows that can be compared, series that can be hidden, and
// the text of a figure's point at once. Without it all texts and tables are there, and browsers show the title of a point after a while.
"use strict";

// A number with its unit in the smallest of its kind; a text as it is; nothing for a dash.
const units = { "µs": 1, "ms": 1e3, "s": 1e6, "B": 1, "KiB": 2 ** 10, "MiB": 2 ** 20, "GiB": 2 ** 30, "TiB": 2 ** 40 };
function valueOf(cell) {
  const text = (cell.firstChild?.textContent ?? "").trim(); // without ratios
  const found = text.replaceAll(",", "").match(/^([-\u2212]?[\d.]+(?:e[-+]?\d+)?)(?:\s+(\S+))?/);
  return text === "–" || text === "" ? null : found ? found[1].replace("\u2212", "-") * (units[found[2]] ?? 1) : text;
}

function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

// An element as a button, by pointer and by keyboard.
function button(element, press) {
  element.setAttribute("tabindex", "0");
  element.classList.add("press");
  element.addEventListener("click", press);
  element.addEventListener("keydown", (e) => {
    if (e.key !== "Enter" && e.key !== " ") return;
    e.preventDefault();
    press();
  });
}

// What is compared and sorted is in the fragment of the address, so that a link shows the same: #compare=cpu+[1]&sort=0.4,2.1.down
// (column 4 of table 0, and column 1 of table 2 from the largest down).
const state = new URLSearchParams(location.hash.slice(1));
function keep(name, value) {
  if (value) state.set(name, value); else state.delete(name);
  history.replaceState(null, "", state.size ? "#" + state : location.pathname + location.search);
}

const sorted = new Map((state.get("sort") ?? "").split(",").filter((one) => one).map((one) => [one.split(".")[0], one]));
const heads = [...document.querySelectorAll("thead")].map((head) => [...head.rows[0].cells]);
for (const [table, cells] of heads.entries()) for (const head of cells) {
  button(head, () => {
    const down = head.getAttribute("aria-sort") === "ascending", column = head.cellIndex;
    sorted.set(String(table), `${table}.${column}${down ? ".down" : ""}`);
    keep("sort", [...sorted.values()].join());
    for (const other of head.parentElement.cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const body = head.closest("table").tBodies[0];
    const rows = [...body.rows].map((row) => [valueOf(row.cells[column]), row]);
    rows.sort(([a], [b]) => (down && a !== null && b !== null ? compare(b, a) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
  });
}
for (const one of [...sorted.values()]) {
  const [table, column, down] = one.split(".");
  for (let clicks = down ? 2 : 1; clicks > 0; clicks--) heads[table]?.[column]?.click();
}

const tip = document.createElement("div");
tip.id = "tip";
tip.hidden = true;
document.body.append(tip);

// The group with a text that the pointer is on, or the nearest small one around it.
function groupAt(groups, e) {
  const on = e.target.closest?.("g[data-text]");
  let best = on, least = 12;
  for (const group of on ? [] : groups) {
    const r = group.getBoundingClientRect();
    const away = Math.hypot(r.x + r.width / 2 - e.clientX, r.y + r.height / 2 - e.clientY);
    if (r.width > 0 && r.width < 20 && r.height < 20 && away < least) [best, least] = [group, away];
  }
  return best;
}

for (const svg of document.querySelectorAll("figure svg")) {
  const groups = [];
  for (const title of svg.querySelectorAll("g > title")) { // which the browser would show as well
    title.parentElement.dataset.text = title.textContent;
    groups.push(title.parentElement);
    title.remove();
  }
  svg.addEventListener("pointermove", (e) => {
    const group = groupAt(groups, e);
    tip.hidden = !group;
    if (!group) return;
    tip.textContent = group.dataset.text;
    tip.style.left = Math.max(4, Math.min(e.clientX + 12, innerWidth - tip.offsetWidth - 4)) + "px";
    tip.style.top = Math.max(4, e.clientY - tip.offsetHeight - 10) + "px";
  });
  svg.addEventListener("pointerleave", () => { tip.hidden = true; });
  const ofKey = (attribute, key) => [...svg.querySelectorAll(`g[${attribute}]`)].filter((g) => g.getAttribute(attribute) === key);
  for (const key of new Set([...svg.querySelectorAll("g[data-key]")].map((g) => g.dataset.key))) {
    const parts = ofKey("data-of", key), entries = ofKey("data-key", key);
    if (parts.length === 0) continue;
    for (const entry of entries) {
      entry.setAttribute("role", "button");
      entry.setAttribute("aria-pressed", "true");
      button(entry, () => {
        const shown = entry.getAttribute("aria-pressed") === "true";
        for (const g of entries) g.setAttribute("aria-pressed", String(!shown));
        for (const g of parts) g.style.display = shown ? "none" : "";
      });
    }
  }
}

// Rows of runs can be compared with those of one engine or of their own engine in one record, on each graph. Their
// ratios are data of the row.
const headOf = (cell) => cell.closest("table").tHead.rows[0].cells[cell.cellIndex].textContent;
const rows = [...document.querySelectorAll("tr[data-ratios]")];
const engines = new Set(rows.map((row) => row.dataset.engine));
const mark = / (\[\d+\])$/, marks = new Set([...engines].flatMap((name) => name.match(mark)?.[1] ?? []));
if (engines.size > 1) {
  const choice = document.createElement("p"), select = document.createElement("select"), legend = document.createElement("span");
  choice.className = "base";
  legend.className = "note";
  legend.hidden = true;
  legend.textContent = "The numbers below are ratios to it on a typical root, with 95 % intervals: ▲ faster, ▼ slower, = no difference found, " +
    "? cannot tell; * the machine, the build or an option differs, too (hover to see which). One run cannot tell the engine's speed from a slow " +
    "minute of the machine. A number after × is the ratio of the two rates.";
  select.append(new Option("nothing", ""), ...[...marks].map((one) => new Option("record " + one, one)),
    ...[...engines].map((name) => new Option(name, name)));
  const label = document.createElement("label");
  label.append("Compare with ", select);
  choice.append(label, " ", legend);
  rows[0].closest(".scroll").before(choice);
  const change = () => {
    keep("compare", select.value);
    showRatios(select.value, legend);
  };
  select.addEventListener("change", change);
  if ([...select.options].some((one) => one.value === state.get("compare"))) {
    select.value = state.get("compare");
    change();
  }
}

function add(cell, className, text, why) {
  const span = document.createElement("span");
  span.className = "ratio " + className;
  span.textContent = text;
  if (why) span.title = why;
  cell.append(span);
}

function showRatios(choice, legend) {
  legend.hidden = choice === "";
  for (const old of document.querySelectorAll(".ratio")) old.remove();
  for (const row of rows) {
    const base = marks.has(choice) ? row.dataset.engine.replace(mark, " " + choice) : choice;
    const ratio = JSON.parse(row.dataset.ratios)[base], cell = row.querySelector(".compared");
    if (row.dataset.engine === base) add(cell, "", "base");
    if (!ratio) continue;
    if (!ratio.text) {
      add(cell, "", "not comparable", ratio.why);
      continue;
    }
    add(cell, ratio.class ?? "", ratio.text, ratio.why);
    add(cell, "note", ratio.interval, ratio.why);
    const bases = rows.filter((other) => other.dataset.engine === base && other.dataset.graph === row.dataset.graph);
    for (const mine of row.querySelectorAll(".quotient")) {
      const theirs = bases.flatMap((other) => [...other.querySelectorAll(".quotient")]).find((other) => headOf(other) === headOf(mine));
      const [a, b] = [mine, theirs].map((one) => one?.firstChild.textContent.match(/^([\d.e+-]+)(.*)$/));
      if (a && b && a[2] === b[2] && b[1] > 0) add(mine, "note", "× " + Number((a[1] / b[1]).toPrecision(3)));
    }
  }
}
