// What a fleet moves by the second while it runs, as its heartbeats say: throughput, and operations below it.

import { clock, draw, figure, make, telling } from "./dom.js";
import { saving } from "./saving.js";

const WIDE = 640, HIGH = 150, LEFT = 64, RIGHT = 8, TOP = 18, BOTTOM = 22;
const WINDOW_S = 300, MIN_S = 30, LETTER_PX = 9;
const MEGA = 1e6;

export function liveChart({ rates, instances, is_final, steps, cell }, origin) {
  if (!rates) return null;
  const end = rates.first + rates.read.length, begin = Math.max(rates.first, end - WINDOW_S);
  const cut = (values, by = 1) => values.slice(begin - rates.first).map((value) => value / by);
  const frame = { begin, end: Math.max(end, begin + MIN_S), steps: named(rates.steps, steps.map(({ label }) => label)) };
  const read = cut(rates.read, MEGA), written = cut(rates.written, MEGA), operations = cut(rates.operations);
  const of = rates.instances < instances.length ? `, ${rates.instances} of ${instances.length} instances` : "";
  const now = (values) => values.at(-1) ?? 0;
  const words = `${figure(now(written), "MB/s")} written, ${figure(now(read), "MB/s")} read`;
  const when = is_final ? `until ${clock(end)}` : `at ${clock(end)}`;
  return make("section", { class: "panel live", "aria-label": "By the second" },
    make("h3", {}, is_final ? "By the second" : "By the second, now"),
    make("p", { class: "quiet" }, `Counted at the ${rates.of}${of}. ${when[0].toUpperCase()}${when.slice(1)}: `, make("b", {}, words), `, ${figure(now(operations), "operations/s")}.`),
    make("p", { class: "key" }, make("span", { class: "written" }, "━ written"), make("span", { class: "read" }, "┅ read"), make("span", {}, "┊ a step begins")),
    saved("MB/s", [["written", written], ["read", read]], frame, cell, origin),
    saved("operations/s", [["operations", operations]], frame, cell, origin));
}

function saved(unit, lines, frame, cell, of) {
  const drawn = plot(unit, lines, frame);
  const rows = () => [["time", ...lines.map(([name]) => `${name} (${unit})`)],
    ...lines[0][1].map((_, second) => [new Date(1000 * (frame.begin + second)).toISOString(), ...lines.map(([, values]) => values[second])])];
  return [drawn, saving(drawn, cell, { title: `${unit} by the second`, of, rows })];
}

// Each step that began, by what sets it apart from all steps of its cell.
function named(begun, labels) {
  const words = new Map(telling(labels).map((short, index) => [labels[index], short]));
  return begun.map((step) => ({ ...step, words: words.get(step.label) ?? step.label }));
}

// The next of 1, 2, 5, 10, 20, … above a value.
export function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value || 1));
  return [1, 2, 5, 10].map((digit) => digit * power).find((limit) => limit >= value) ?? 10 * power;
}

export const ticks = (most, unit, x, right, y) => [0, most / 2, most].map((value) => [
  draw("line", { x1: x, x2: right, y1: y(value), y2: y(value), class: value ? "grid" : "axis" }),
  draw("text", { x: x - 4, y: y(value) + 4, class: "tick" }, value === most ? `${short(value)} ${unit}` : short(value))]);

const short = (value) => value.toLocaleString("en", { notation: "compact", maximumSignificantDigits: 3 });

function plot(unit, lines, { begin, end, steps }) {
  const most = roundUp(Math.max(...lines.flatMap(([, values]) => values), 0));
  const x = (at) => LEFT + (at - begin) / (end - begin) * (WIDE - LEFT - RIGHT);
  const y = (value) => HIGH - BOTTOM - value / most * (HIGH - TOP - BOTTOM);
  let free = -Infinity;
  const marks = steps.filter(({ at }) => at >= begin).map(({ at, label, words }) => {
    const short = words.length > 15 ? `${words.slice(0, 14)}…` : words, wide = 6 + LETTER_PX * short.length;
    const fits = x(at) >= free && x(at) < WIDE - wide;
    if (fits) free = x(at) + wide;
    return [draw("line", { x1: x(at), x2: x(at), y1: TOP - 4, y2: HIGH - BOTTOM, class: "step" }, draw("title", {}, label)),
      fits ? draw("text", { x: x(at) + 2, y: TOP - 8 }, short) : null];
  });
  const path = (values) => values.map((value, second) => `${second ? "L" : "M"}${x(begin + second + 0.5).toFixed(1)},${y(value).toFixed(1)}`).join("");
  const times = [begin, (begin + end) / 2, end].map((at, place) => draw("text", { x: x(at), y: HIGH - 6, class: `time at-${place}` }, clock(at)));
  return draw("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "strip rates", role: "img", "aria-label": `${unit} by the second, from 0 to ${short(most)}` },
    ticks(most, unit === "MB/s" ? unit : "/s", LEFT, WIDE - RIGHT, y), marks, times,
    lines.map(([name, values]) => draw("path", { d: path(values), class: `line ${name}` })));
}
