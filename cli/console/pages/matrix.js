// The matrix: storages down, points of workloads on fleets across, or turned. A cell fills as it goes.

import { key, make, replace, SIGNS } from "./dom.js";
import { showPanel } from "./fleet.js";
import { address } from "./selection.js";

let drawn = "", over = false, running = "";

// What was chosen here stays chosen; else a narrow screen has the storages across, if these are fewer.
const NARROW = "(max-width: 40rem)", CHOICE = "storages-across";
const isTurned = ({ rows, columns }) => {
  const choice = localStorage.getItem(CHOICE);
  return choice ? choice === "yes" : matchMedia(NARROW).matches && rows.length < columns.length;
};

export function showMatrix(box, document, selection, now) {
  let table = box.querySelector(".matrix");
  if (!table || box.dataset.view !== "matrix") {
    drawn = running = "";
    box.dataset.view = "matrix";
    table = make("div", { class: "matrix table", tabindex: 0, role: "region", "aria-label": "The matrix", onscroll: () => tellMore(box) });
    new ResizeObserver(() => tellMore(box)).observe(table);
    replace(box, tools(box, table), table, legend(), make("section", { class: "panel", "aria-label": "The chosen cell" }));
  }
  const { matrix } = document;
  over = document.header.ended_at !== null;
  const turned = isTurned(matrix);
  const fresh = JSON.stringify([matrix, selection.cell, over, turned]);
  box.querySelector(".turn").onclick = () => {
    localStorage.setItem(CHOICE, isTurned(matrix) ? "no" : "yes");
    running = "";
    showMatrix(box, document, selection, now);
  };
  if (fresh !== drawn) {
    drawn = fresh;
    replace(table, matrix.rows.length ? build(matrix, selection, turned) : make("p", { class: "quiet" }, "The run is being planned …"));
    box.querySelector(".turn").setAttribute("aria-pressed", turned);
    follow(table);
    tellMore(box);
  }
  showPanel(box.querySelector(".panel"), document, selection, now);
}

function tools(box, table) {
  const aside = (words, way) => make("button", { type: "button", class: `more ${words}`, hidden: true, onclick: () => table.scrollBy({ left: way * 0.7 * table.clientWidth }) });
  return make("p", { class: "tools" }, make("button", { type: "button", class: "turn" }, "Swap axes"), aside("left", -1), aside("right", 1));
}

// A run goes on where nobody looks: when another cell begins, the matrix scrolls to it, and never the page.
function follow(table) {
  const cell = table.querySelector("td.going"), name = cell?.querySelector("a").dataset.key ?? "";
  if (name === running) return;
  running = name;
  if (!cell) return;
  const inner = cell.getBoundingClientRect(), outer = table.getBoundingClientRect();
  const first = table.querySelector("tbody th").getBoundingClientRect().width, above = table.querySelector("thead").getBoundingClientRect().height;
  const way = (begin, end, least, most) => (begin < least || end - begin > most - least ? begin - least : Math.max(0, end - most));
  table.scrollBy(way(inner.left, inner.right, outer.left + first, outer.right), way(inner.top, inner.bottom, outer.top + above, outer.bottom));
}

// Columns beyond an edge are counted on a button that scrolls there.
function tellMore(box) {
  const table = box.querySelector(".matrix"), heat = table?.querySelector(".heat");
  if (!heat) return;
  const count = Number(heat.dataset.columns), first = heat.querySelector("tbody th").offsetWidth;
  const wide = (heat.offsetWidth - first) / count;
  const beyond = { left: table.scrollLeft, right: table.scrollWidth - table.clientWidth - table.scrollLeft };
  for (const [side, pixels] of Object.entries(beyond)) {
    const hidden = pixels > 0.2 * wide ? Math.min(count, Math.max(1, Math.round(pixels / wide))) : 0, words = `${hidden} more column${hidden === 1 ? "" : "s"}`;
    const button = box.querySelector(`.more.${side}`);
    button.hidden = !hidden;
    button.textContent = side === "left" ? `← ${words}` : `${words} →`;
    table.classList.toggle(`beyond-${side}`, hidden > 0);
  }
}

function legend() {
  const ramp = make("span", { class: "scale" }, "best ", [0, 1, 2, 3, 4, 5, 6].map((level) => make("i", { class: `level-${level}` })), " 3 times as slow and more");
  const words = key(
    "○ planned", "◔ launching, booting", "▶ running", "✔ outlined: best of its column",
    "▨ hatched, open: chance may be the whole difference to the best", "✕ failed", "■ stopped", "↷ skipped", "– not measured",
  );
  words.prepend(ramp);
  return make("details", {}, make("summary", {}, "What the signs mean"), words);
}

function build({ columns, rows }, selection, turned) {
  const place = new Map(columns.map(({ key: name }, index) => [name, index]));
  const spread = rows.map((row) => spots(row, columns.length, place));
  const body = turned
    ? columns.map((column, index) => make("tr", {}, pointHead(column, columns), spread.map((row) => entry(row[index], "rowspan", selection))))
    : rows.map((row, index) => make("tr", {}, rowHead(row, "row"), spread[index].map((spot) => entry(spot, "colspan", selection))));
  const across = turned ? rows.length : columns.length;
  return make("table", { class: `heat${turned ? " turned" : ""}`, "data-columns": across, "--columns": across },
    caption(columns), make("colgroup", {}, make("col", { class: "first" }), make("col", { span: across })),
    make("thead", {}, turned ? make("tr", {}, make("td"), rows.map((row) => rowHead(row, "col"))) : head(columns)), make("tbody", {}, body));
}

function caption(columns) {
  const metrics = [...new Set(columns.map(({ metric }) => metric).filter(Boolean))];
  return make("caption", {}, make("span", {}, `Storages, and each point of the workloads${metrics.length ? `: ${metrics.join("; ")}` : ""}`));
}

// With the storages across each point has a row, and says whose it is.
function pointHead({ workload, fleet, point, label, metric }, columns) {
  const alone = columns.every((other) => other.point === columns[0].point);
  return make("th", { scope: "row", title: `${label}${metric ? `; ${metric}` : ""}` }, alone ? workload : `${workload}, ${point}`, make("small", {}, fleet));
}

// One head for each run of columns with the same words.
function grouped(columns, words) {
  const groups = [];
  for (const column of columns) {
    const last = groups.at(-1);
    if (last && last.words === words(column) && last.outer === column.workload) last.span += 1;
    else groups.push({ words: words(column), outer: column.workload, span: 1 });
  }
  return groups;
}

function head(columns) {
  const line = (groups, first) => make("tr", {}, first, groups.map(({ words, span }) => make("th", { scope: "colgroup", colspan: span }, make("span", {}, words))));
  const alone = columns.every(({ point }) => point === columns[0].point);
  const lines = [
    line(grouped(columns, ({ workload }) => workload), make("td", { rowspan: 2 })),
    line(grouped(columns, ({ fleet }) => fleet)),
  ];
  if (!alone) {
    const names = columns.map(({ point, label, metric }) => make("th", { scope: "col", title: `${label}${metric ? `; ${metric}` : ""}` }, point));
    lines.push(make("tr", {}, make("th", { scope: "col" }, "Storage"), names));
  }
  return lines;
}

const SYSTEMS = { creating: "◔ being created", populating: "◔ being filled", baking: "◔ baking", measuring: "▶ being measured", deleting: "◑ being deleted", gone: "✔ deleted", stopped: "■ stopped" };

function rowHead({ label, state, error, file_system }, scope) {
  const words = SYSTEMS[state] ?? `${SIGNS[state] ?? "○"} ${state}`;
  return make("th", { scope }, label, make("small", { title: error || file_system, class: error ? "bad" : "" }, words));
}

// What stands at each place of a storage: a figure, a cell that takes some places together, or nothing.
function spots(row, width, place) {
  const taken = Array(width).fill({});
  for (const cell of row.cells) {
    // A cell's points stand side by side; where they do not, each has a place of its own.
    const own = cell.columns.map((name) => place.get(name)).sort((a, b) => a - b);
    const together = !cell.figures.length && !cell.at && own.every((spot, index) => spot === own[0] + index);
    for (const name of cell.columns) taken[place.get(name)] = together ? null : { cell, figure: cell.figures.find(({ column }) => column === name), column: cell.at ? name : "", span: 1 };
    if (together) taken[own[0]] = { cell, span: own.length };
  }
  return taken;
}

function entry(spot, spanning, selection) {
  if (!spot) return null;
  if (!spot.cell) return make("td", { class: "absent" }, make("span", {}, "–"));
  if (spot.column && spot.column !== spot.cell.at) return soFar(spot.cell, spot.column, selection);
  return spot.figure ? measured(spot.cell, spot.figure, selection) : going(spot.cell, { [spanning]: spot.span > 1 ? spot.span : undefined }, selection);
}

const link = (cell, name, ...children) => make("a", {
  href: address({ cell: cell.id, file_system: cell.file_system, view: "matrix" }), "data-key": name, title: cell.error || cell.id,
}, ...children);

function measured(cell, figure, selection) {
  const kind = !figure.times ? "alone" : `level-${figure.level}${figure.is_best ? " best" : ""}${figure.is_open ? " open" : ""}`;
  const ratio = !figure.times ? (over ? "no other" : "no other yet") : `${figure.times}${figure.is_open ? " open" : ""}`;
  const words = figure.is_best ? (over ? "✔ best" : "✔ best so far") : ratio;
  return make("td", { class: chosen(kind, cell, selection), title: `n = ${figure.n ?? "?"}` },
    link(cell, `${cell.id} ${figure.column}`, make("b", {}, figure.words), make("span", {}, words)));
}

// A point of a cell that is being measured: what has been uploaded of it.
function soFar(cell, column, selection) {
  const words = cell.so_far[column];
  return make("td", { class: chosen("so-far", cell, selection) }, link(cell, `${cell.id} ${column}`,
    words ? [make("b", {}, words), make("span", {}, "so far")] : make("span", {}, "○ to come")));
}

function going(cell, span, selection) {
  const under_way = !["planned", "failed", "skipped", "measured", "stopped", "not measured"].includes(cell.state);
  const reason = cell.error || (cell.state === "planned" ? cell.cost : "");
  const bar = under_way ? make("i", { class: "bar", "--share": cell.fraction }) : null;
  return make("td", { class: chosen(under_way ? "going" : cell.state.replace(" ", "-"), cell, selection), ...span },
    link(cell, cell.id, make("span", { class: "what" }, make("b", {}, `${SIGNS[cell.state] ?? "▶"} ${cell.words}`),
      reason ? make("span", { class: "reason" }, reason) : null, cell.live ? make("span", { class: "now" }, cell.live) : null,
      cell.so_far[cell.at] ? make("span", { class: "now" }, `${cell.so_far[cell.at]} so far`) : null, bar)));
}

const chosen = (kind, cell, selection) => `${kind}${cell.id === selection.cell ? " chosen" : ""}`;
