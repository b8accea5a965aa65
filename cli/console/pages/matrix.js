// The matrix: storages down, points of workloads on fleets across. A cell fills as it goes.

import { key, make, replace, SIGNS } from "./dom.js";
import { showPanel } from "./fleet.js";
import { address } from "./selection.js";

let drawn = "", over = false;

export function showMatrix(box, document, selection, now) {
  let table = box.querySelector(".matrix");
  if (!table || box.dataset.view !== "matrix") {
    drawn = "";
    box.dataset.view = "matrix";
    table = make("div", { class: "matrix table", tabindex: 0, role: "region", "aria-label": "The matrix" });
    replace(box, legend(), table, make("section", { class: "panel", "aria-label": "The chosen cell" }));
  }
  const { matrix } = document;
  over = document.header.ended_at !== null;
  const fresh = JSON.stringify([matrix, selection.cell, over]);
  if (fresh !== drawn) {
    drawn = fresh;
    replace(table, matrix.rows.length ? build(matrix, selection) : make("p", { class: "quiet" }, "The run is being planned …"));
  }
  showPanel(box.querySelector(".panel"), document, selection, now);
}

function legend() {
  const ramp = make("span", { class: "scale" }, "best ", [0, 1, 2, 3, 4, 5, 6].map((level) => make("i", { class: `level-${level}` })), " 3 times as slow and more");
  const words = key(
    "○ planned", "◔ launching, booting", "▶ running", "✔ outlined: best of its column, so far",
    "▨ hatched: chance may be the difference, cannot tell", "✕ failed", "■ stopped", "↷ skipped", "– not measured",
  );
  words.prepend(ramp);
  return words;
}

function build({ columns, rows }, selection) {
  const place = new Map(columns.map(({ key: name }, index) => [name, index]));
  const body = rows.map((row) => make("tr", {}, rowHead(row), [...cellsOf(row, columns.length, place, selection)]));
  return make("table", { class: "heat" }, head(columns), make("tbody", {}, body));
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
  const line = (groups, first) => make("tr", {}, first, groups.map(({ words, span }) => make("th", { scope: "colgroup", colspan: span }, words)));
  const metrics = [...new Set(columns.map(({ metric }) => metric).filter(Boolean))];
  const alone = columns.every(({ point }) => point === columns[0].point);
  const lines = [
    line(grouped(columns, ({ workload }) => workload), make("td", { rowspan: 2 })),
    line(grouped(columns, ({ fleet }) => fleet)),
  ];
  if (!alone) {
    const names = columns.map(({ point, label, metric }) => make("th", { scope: "col", title: `${label}${metric ? `; ${metric}` : ""}` }, point));
    lines.push(make("tr", {}, make("th", { scope: "col" }, "Storage"), names));
  }
  const words = `Storages, and each point of the workloads${metrics.length ? `: ${metrics.join("; ")}` : ""}`;
  return [make("caption", {}, words), make("thead", {}, lines)];
}

const SYSTEMS = { creating: "◔ being created", populating: "◔ being filled", baking: "◔ baking", measuring: "▶ being measured", deleting: "◑ being deleted", gone: "✔ deleted", stopped: "■ stopped" };

function rowHead({ label, state, error, file_system }) {
  const words = SYSTEMS[state] ?? `${SIGNS[state] ?? "○"} ${state}`;
  return make("th", { scope: "row" }, label, make("small", { title: error || file_system, class: error ? "bad" : "" }, words));
}

function* cellsOf(row, width, place, selection) {
  const taken = new Map();
  for (const cell of row.cells) {
    // A cell's points stand side by side; where they do not, each has a place of its own.
    const spots = cell.columns.map((name) => place.get(name)).sort((a, b) => a - b);
    const together = !cell.figures.length && spots.every((spot, index) => spot === spots[0] + index);
    if (together) taken.set(spots[0], [cell, null, spots.length]);
    else for (const name of cell.columns) taken.set(place.get(name), [cell, cell.figures.find(({ column }) => column === name), 1]);
  }
  for (let spot = 0; spot < width; spot += 1) {
    const known = taken.get(spot);
    if (!known) {
      yield make("td", { class: "absent" }, make("span", {}, "–"));
      continue;
    }
    yield known[1] ? measured(known[0], known[1], selection) : going(known[0], known[2], selection);
    spot += known[2] - 1;
  }
}

const link = (cell, name, ...children) => make("a", {
  href: address({ cell: cell.id, file_system: cell.file_system, view: "matrix" }), "data-key": name, title: cell.error || cell.id,
}, ...children);

function measured(cell, figure, selection) {
  const kind = figure.ratio === null ? "alone" : `level-${figure.level}${figure.is_best ? " best" : ""}${figure.is_open ? " open" : ""}`;
  const ratio = figure.ratio === null ? (over ? "no other" : "no other yet") : `×${figure.ratio.toFixed(2)}${figure.is_open ? ", cannot tell" : ""}`;
  const words = figure.is_best ? (over ? "✔ best" : "✔ best so far") : ratio;
  return make("td", { class: chosen(kind, cell, selection), title: `n = ${figure.n ?? "?"}` },
    link(cell, `${cell.id} ${figure.column}`, make("b", {}, figure.words), make("span", {}, words)));
}

function going(cell, span, selection) {
  const under_way = !["planned", "failed", "skipped", "measured", "stopped"].includes(cell.state);
  const reason = cell.error ? cell.error.replace(`${cell.id}: `, "") : cell.state === "planned" ? cell.cost : "";
  const bar = under_way ? make("i", { class: "bar", "--share": cell.fraction }) : null;
  return make("td", { class: chosen(under_way ? "going" : cell.state, cell, selection), colspan: span > 1 ? span : undefined },
    link(cell, cell.id, make("b", {}, `${SIGNS[cell.state] ?? "▶"} ${cell.words}`), reason ? make("span", { class: "reason" }, reason) : null, cell.live ? make("span", { class: "now" }, cell.live) : null, bar));
}

const chosen = (kind, cell, selection) => `${kind}${cell.id === selection.cell ? " chosen" : ""}`;
