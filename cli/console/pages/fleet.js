// The fleet of a cell: a square for each instance, what the chosen one does, and what the finished steps measured.

import { ask } from "./asking.js";
import { draw, figure, key, make, replace, seconds, SIGNS, telling } from "./dom.js";
import { chooser, cellOf } from "./chooser.js";
import { liveChart, roundUp, ticks } from "./live.js";
import { saving } from "./saving.js";
import { address } from "./selection.js";

const STATES = ["booting", "preparing", "at the gate", "running", "done", "failed", "silent", "gone"];
// More dots than this are a blot: the bars say it, and the chosen instance's dots.
const MAX_DOTS = 2000;
let drawn = "", log = { of: "", lines: [], note: "" };

export function showFleet(box, document, selection) {
  if (box.dataset.view !== "fleet") {
    drawn = "";
    box.dataset.view = "fleet";
    replace(box, make("div", { class: "choosers" }), make("div", { class: "fleet-view" }));
  }
  chooser(box.firstElementChild, document, selection, "fleet");
  const { fleet } = document, { instance } = selection.asked;
  const fresh = JSON.stringify([fleet ? still(fleet) : null, selection.cell, instance, log]);
  if (fresh === drawn) return;
  drawn = fresh;
  if (!fleet) {
    replace(box.lastElementChild, make("p", { class: "quiet" }, "Nothing of it has been launched yet."));
    return;
  }
  const square = fleet.instances.find(({ id }) => id === instance) ?? fleet.instances[0];
  replace(box.lastElementChild,
    make("h2", {}, `${selection.cell}: ${fleet.expected} instance${fleet.expected === 1 ? "" : "s"}`),
    fleet.step === null || fleet.is_final ? null : make("p", {}, `step ${fleet.step + 1} of ${fleet.steps.length}: ${fleet.steps[fleet.step]?.label ?? ""}`),
    counts(fleet), squares(fleet, square), fleet.note ? make("p", { class: "quiet" }, fleet.note) : null, liveChart(fleet, origin(document)),
    make("div", { class: "cols" }, square ? details(fleet, square, selection) : null, strip(fleet, square, origin(document))));
}

// Ages change with each look; whole tens of seconds are enough to see that somebody has fallen silent.
const still = (fleet) => ({ ...fleet, instances: fleet.instances.map((each) => ({ ...each, since_s: Math.floor((each.since_s ?? 0) / 10) })) });

const counts = (fleet) => key(...STATES.filter((state) => fleet.counts[state]).map((state) => `${SIGNS[state]} ${fleet.counts[state]} ${state}`));

function squares(fleet, chosen) {
  const boxes = fleet.instances.map(({ id, state, since_s }) => make("li", {}, make("a", {
    href: address({ view: "fleet", cell: fleet.cell, instance: id }), "data-key": id, class: `square ${state.replaceAll(" ", "-")}`,
    "aria-current": id === chosen?.id ? "true" : undefined, "aria-label": `${id}: ${state}`,
    title: `${id}: ${state}${since_s === null ? "" : `, last sign ${seconds(since_s)} ago`}`,
  }, SIGNS[state])));
  return make("ul", { class: "squares", "aria-label": "Instances" }, boxes);
}

function details(fleet, square, { run, cell }) {
  const rows = [
    ["state", `${SIGNS[square.state]} ${square.state}`],
    ...(fleet.is_final ? [] : [["last sign", square.since_s === null ? "none so far" : `${seconds(square.since_s)} ago`]]),
    ["steps done", `${square.values.length} of ${fleet.steps.length}`],
    ["start skew", square.skew_s === null ? "–" : `${(1000 * square.skew_s).toFixed(1)} ms`],
    ["last value", figure(square.values.at(-1), fleet.unit)],
  ];
  const of = `${run} ${cell} ${square.id}`;
  const read = async () => {
    try {
      log = { of, ...await ask("instance-log", { run, cell, instance: square.id }) };
    } catch (error) {
      log = { of, lines: [], note: error.message };
    }
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return make("section", { class: "panel" }, make("h3", {}, square.id),
    make("dl", { class: "pairs" }, rows.map(([name, words]) => [make("dt", {}, name), make("dd", {}, words)])),
    make("p", {}, make("button", { type: "button", "data-key": "log", onclick: read }, "Read its log")),
    log.of === of ? [log.note ? make("p", { class: "quiet" }, log.note) : null,
      log.lines.length ? make("pre", { tabindex: 0, role: "region", "aria-label": "Log" }, log.lines.join("\n")) : null] : null);
}

// Away from the page a chart says of which run it is, and where it was not AWS.
const origin = ({ header }) => [header.run, header.place.split(". ")[0]].filter(Boolean).join(", ");

function strip(fleet, chosen, of) {
  const done = fleet.steps.map((step, index) => ({ ...step, index })).filter(({ median }) => median !== null);
  if (!done.length) return make("section", { class: "panel" }, make("h3", {}, "Finished steps"), make("p", { class: "quiet" }, "None yet."));
  const wide = 640, high = 240, left = 74, right = 8, foot = 74, most = roundUp(Math.max(...done.map((step) => step.most)));
  const x = (index) => left + (index + 0.5) * (wide - left - right) / fleet.steps.length;
  const y = (value) => high - foot - value / most * (high - foot - 14);
  const every = Math.ceil(fleet.steps.length / 24);
  const dots = fleet.instances.length * done.length <= MAX_DOTS ? fleet.instances : [chosen];
  const width = Math.max(2, Math.min(22, (wide - left - right) / fleet.steps.length - 2));
  const plot = draw("svg", { viewBox: `0 0 ${wide} ${high}`, class: "strip", role: "img", "aria-label": `${done.length} finished steps; the last: ${done.at(-1).words}` },
    ticks(most, fleet.unit, left, wide - right, y),
    telling(fleet.steps.map(({ label }) => label)).map((words, index) => index % every ? null : draw("text", { x: x(index) + 4, y: high - foot + 12, class: "name", transform: `rotate(-35 ${x(index) + 4} ${high - foot + 12})` },
      words.length > 15 ? `${words.slice(0, 14)}…` : words, draw("title", {}, fleet.steps[index].label))),
    done.map((step) => draw("rect", { x: x(step.index) - width / 2, width, y: y(step.most), height: Math.max(1, y(step.least) - y(step.most)), class: "span" },
      draw("title", {}, `${step.label}: ${step.words}, ${step.done} of ${fleet.expected}`))),
    dots.map((each) => done.map(({ index }) => each.values[index] === undefined || each.values[index] === null ? null
      : draw("circle", { cx: x(index), cy: y(each.values[index]), r: each.id === chosen.id ? 3.5 : 1.8, class: each.id === chosen.id ? "mine" : "dot" }))),
    done.map((step) => draw("line", { x1: x(step.index) - width / 2, x2: x(step.index) + width / 2, y1: y(step.median), y2: y(step.median), class: "median" })));
  const last = done.at(-1);
  return make("section", { class: "panel" }, make("h3", {}, `Finished steps: ${done.length} of ${fleet.steps.length}`),
    make("p", { class: "quiet" }, `${fleet.metric}. Bars from the least to the most of the fleet, a line at the median; dots are instances, the large ones ${chosen.id}.`),
    plot, saving(plot, fleet.cell, { title: "Finished steps", of, rows: () => [["step", `least (${fleet.unit})`, `median (${fleet.unit})`, `most (${fleet.unit})`],
      ...done.map(({ label, least, median, most: top }) => [label, least, median, top])] }),
    make("p", {}, `Last: ${last.label}: `, make("b", {}, last.words)));
}

// Below the matrix: what the chosen cell does.
let panel = "";
export function showPanel(box, document, selection) {
  const cell = cellOf(document.matrix, selection.cell), { fleet } = document;
  const fresh = JSON.stringify([cell, fleet ? still(fleet) : null]);
  if (fresh === panel && box.childElementCount) return;
  panel = fresh;
  if (!cell) {
    replace(box);
    return;
  }
  const to = (view, words) => make("a", { href: address({ view, cell: cell.id, file_system: cell.file_system }), "data-key": `to ${view}` }, words);
  replace(box, make("h2", {}, cell.name, " ", make("small", {}, cell.id)), make("p", {}, `${SIGNS[cell.state] ?? "▶"} ${cell.words}`, cell.error ? make("span", { class: "bad" }, `: ${cell.error}`) : null),
    cell.live ? make("p", {}, cell.live) : null,
    fleet?.instances.length ? [counts(fleet), squares(fleet, null), liveChart(fleet, origin(document))] : null,
    make("p", { class: "links" }, to("fleet", "Instances"), to("graph", "Show in graph")));
}
