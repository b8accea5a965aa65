// The deployed definition, laid out machine by machine from the inside out: a Map is a box around its iterations' states.

import { Graph, layout } from "./dagre/dagre.esm.js";
import { cellOf, chooser, short } from "./chooser.js";
import { draw, key, make, replace, seconds, SIGNS } from "./dom.js";
import { ask } from "./asking.js";
import { address } from "./selection.js";
import { stateDetails } from "./state.js";

const HEAD = 28, PAD = 10, LINE = 28;
const laid = new Map();
let drawn = "", parts = null, scrolled = "";

async function definition(run) {
  if (!laid.has(run)) laid.set(run, ask("definition", { run }));
  try {
    return await laid.get(run);
  } catch (error) {
    laid.delete(run);
    throw error;
  }
}

// Positions of a machine's states and edges, relative to its own corner.
function place(machine) {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 16, edgesep: 8, ranksep: 26, marginx: PAD, marginy: PAD });
  const inner = new Map();
  for (const { name, inside } of machine.states) {
    const box = inside ? place(inside) : null;
    if (box) inner.set(name, box);
    const width = Math.max(96, name.length * 7 + 36);
    graph.setNode(name, box ? { width: Math.max(box.width + 2 * PAD, width), height: box.height + HEAD + PAD } : { width, height: LINE });
  }
  const ways = machine.states.flatMap(({ name, edges }) => edges.map(({ target, kind }) => ({ source: name, target, kind })));
  const usual = new Set([machine.start, ...ways.filter(({ kind }) => kind !== "caught").map(({ target }) => target)]);
  // Ways of errors would pull everything apart. They are laid out where nothing else leads to a state; the others are
  // drawn when they are taken.
  const drawn = [], hidden = new Map();
  for (const way of ways) {
    if (way.kind !== "caught" || !usual.has(way.target)) drawn.push(way);
    else hidden.set(`${way.source}\n${way.target}`, way);
  }
  drawn.forEach((way, index) => graph.setEdge(way.source, way.target, { kind: way.kind, weight: way.kind === "caught" ? 1 : 3 }, String(index)));
  layout(graph);
  const { width, height } = graph.graph();
  const at = (name) => graph.node(name);
  const rank = (node) => {
    const heights = graph.nodes().map(at).filter(({ y }) => Math.abs(y - node.y) < 1).map((each) => each.height);
    return Math.max(...heights) / 2;
  };
  const edges = graph.edges().map((edge) => {
    const { points, kind } = graph.edge(edge);
    return { source: edge.v, target: edge.w, kind, points: upright(points, at(edge.v), at(edge.w), rank) };
  });
  const aside = [...hidden.values()].map(({ source, target, kind }) => ({ source, target, kind, points: around(at(source), at(target), graph.nodes().map(at)) }));
  const states = machine.states.map(({ name, kind }) => ({ name, kind, ...at(name), inner: inner.get(name) }));
  return { width, height, states, edges: [...edges, ...aside] };
}

// A state beside a tall one: the way leaves it downwards until it is past its neighbour, and comes to it likewise.
function upright(points, from, to, rank) {
  const down = to.y > from.y ? 1 : -1;
  const leave = { x: points[0].x, y: from.y + down * rank(from) }, arrive = { x: points.at(-1).x, y: to.y - down * rank(to) };
  return [points[0], ...(rank(from) > from.height / 2 + 1 ? [leave] : []), ...points.slice(1, -1),
    ...(rank(to) > to.height / 2 + 1 ? [arrive] : []), points.at(-1)];
}

// From the right edge of one state to that of another, with a bow around those between them.
function around(from, to, all) {
  const [top, bottom] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
  const passed = all.filter(({ x, y }) => y >= top - 1 && y <= bottom + 1 && x < Math.max(from.x, to.x) + 150);
  const x = Math.max(...passed.map((each) => each.x + each.width / 2)) + 10;
  return [{ x: from.x + from.width / 2, y: from.y }, { x, y: from.y }, { x, y: to.y }, { x: to.x + to.width / 2, y: to.y }];
}

export async function showGraph(box, document, selection, now) {
  if (box.dataset.view !== "graph") {
    drawn = "";
    box.dataset.view = "graph";
    replace(box, make("div", { class: "choosers" }), legend(),
      make("div", { class: "graph-cols" }, make("div", { class: "graph", tabindex: 0, role: "region", "aria-label": "The graph of the run" }), make("section", { class: "panel", "aria-label": "The chosen state" })));
  }
  chooser(box.firstElementChild, document, selection, "graph");
  const [where, panel] = box.lastElementChild.children;
  let machine;
  try {
    machine = await definition(selection.run);
  } catch (error) {
    replace(where, make("p", { class: "note" }, error.message));
    return;
  }
  if (box.dataset.view !== "graph") return;
  if (drawn !== selection.run) {
    drawn = selection.run;
    scrolled = "";
    parts = { states: new Map(), edges: new Map() };
    replace(where, svg(place(machine)));
  }
  const failed = cellOf(document.matrix, selection.cell)?.state === "failed";
  if (document.graph) dress(document.graph, selection, document.header.ended_at === null ? now : null, failed);
  if (!selection.state) {
    replace(panel, make("p", { class: "quiet" }, "Choose a state to see what it took, what it gave and how long."));
  } else if (document.state) {
    stateDetails(panel, document.state, selection, document.header.ended_at === null ? now : null);
  }
  const shown = [...parts.states.values()].filter(({ isOpen }) => !isOpen).map(({ box: each }) => each);
  const of = (...statuses) => shown.filter((each) => statuses.some((status) => each.classList.contains(status)));
  const spotted = of("running", "retrying").at(-1) ?? of("caught", "stopped").at(-1) ?? of("done").at(-1);
  const spot = `${selection.run} ${selection.cell}`;
  if (spotted && scrolled !== spot) {
    scrolled = spot;
    const shape = spotted.getBoundingClientRect(), frame = where.getBoundingClientRect();
    where.scrollTop += shape.top - frame.top - frame.height / 2;
    where.scrollLeft += shape.left - frame.left - (frame.width - shape.width) / 2;
  }
}

const legend = () => key("▶ running", "↻ waits for another attempt", "✔ done", "⚠ failed, and the error was caught", "✕ failed", "■ stopped", "┄ not entered", "×N: how often");

function svg(machine) {
  const arrow = draw("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse" }, draw("path", { d: "M0,0L8,4L0,8z", class: "arrow" }));
  const width = Math.ceil(machine.width) + 16, height = Math.ceil(machine.height);
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "group", "aria-label": "States of the run" }, draw("defs", {}, arrow), machineParts(machine));
}

function machineParts(machine) {
  // Boxes first, then edges, then states, so that no box hides an edge.
  const boxes = machine.states.filter(({ inner }) => inner).map((state) => box(state));
  const edges = machine.edges.map((edge) => line(edge));
  const states = machine.states.filter(({ inner }) => !inner).map((state) => node(state));
  return [boxes, edges, states];
}

function box({ name, x, y, width, height, inner }) {
  const left = x - width / 2, top = y - height / 2;
  const frame = draw("rect", { x: left, y: top, width, height, rx: 8 });
  const title = draw("text", { x: left + 10, y: top + 19, class: "title" }, name);
  const link = draw("a", { class: "state map idle", href: address({ state: name, view: "graph" }), "data-key": `state ${name}` }, frame, title);
  parts.states.set(name, { box: link, title, name, isOpen: true, room: Math.floor((width - 20) / 7.3) });
  const shift = left + (width - inner.width) / 2;
  return draw("g", {}, link, draw("g", { transform: `translate(${shift},${top + HEAD})` }, machineParts(inner)));
}

function node({ name, kind, x, y, width, height }) {
  const left = x - width / 2, top = y - height / 2;
  const radius = { Choice: 3, Wait: 14, Succeed: 14, Fail: 14 }[kind] ?? 7;
  const sign = draw("text", { x: left + 14, y: y + 5, class: "sign" }, "");
  const text = draw("text", { x: left + 26, y: y + 4 }, name);
  const count = draw("text", { x: left + width + 6, y: y + 4, class: "count" }, "");
  const link = draw("a", { class: `state ${kind} idle`, href: address({ state: name, view: "graph" }), "data-key": `state ${name}`, "aria-label": name },
    draw("rect", { x: left, y: top, width, height, rx: radius }), text);
  parts.states.set(name, { box: link, sign, count, name, kind });
  // Sign and count stand beside the link: its name says them in words, and begins with what is written on it.
  return [link, sign, count];
}

function line({ source, target, kind, points }) {
  const d = points.map(({ x, y }, index) => `${index ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
  const path = draw("path", { d, class: `edge ${kind}`, "marker-end": "url(#arrow)" }, draw("title", {}, ""));
  // Several ways may lead from one state to another; the one that an error takes is told apart.
  const name = `${source}\n${target}\n${kind === "caught"}`;
  parts.edges.set(name, [...(parts.edges.get(name) ?? []), path]);
  return path;
}

// Only classes and counts change with a look, never the layout.
function dress({ states, edges, maps, reading }, selection, now, failed) {
  for (const part of parts.states.values()) {
    const state = states[part.name];
    const status = part.name === "Each cell" && failed ? "failed" : state?.status ?? "idle";
    part.box.setAttribute("class", `state ${part.isOpen ? "map" : part.kind} ${status}`);
    part.box.setAttribute("href", address({ state: part.name, view: "graph" }));
    if (part.name === selection.state) part.box.setAttribute("aria-current", "true");
    else part.box.removeAttribute("aria-current");
    const words = count(state, now);
    const stands = state ? `${status}${words ? `, ${words}` : ""}` : "not entered";
    part.box.setAttribute("aria-label", `${part.name}: ${stands}`);
    if (part.isOpen) {
      const of = { "Each file system": selection.file_system, "Each cell": short(selection) }[part.name];
      const sign = state ? `${SIGNS[status]} ` : "";
      const words = `${sign}${part.name}${maps[part.name] ? ` · ${maps[part.name]}` : ""}${of && state ? ` · ${of}` : ""}`;
      part.title.textContent = words.length > part.room ? `${words.slice(0, part.room - 1)}…` : words;
      // Who speaks to the page says what stands on it, so that its name begins with that.
      part.box.setAttribute("aria-label", `${words}: ${stands}`);
    } else {
      part.sign.textContent = state ? SIGNS[status] : "";
      part.count.textContent = words;
    }
  }
  for (const paths of parts.edges.values()) for (const path of paths) path.classList.remove("taken");
  for (const { source, target, caught, times } of edges) {
    for (const path of parts.edges.get(`${source}\n${target}\n${caught}`) ?? []) {
      path.classList.add("taken");
      path.firstElementChild.textContent = `${source} → ${target}: taken ${times === 1 ? "once" : `${times} times`}${caught ? ", after an error" : ""}`;
    }
  }
  const box = document.querySelector(".graph-cols");
  box.dataset.reading = reading;
}

function count(state, now) {
  if (!state) return "";
  const words = [];
  if (state.entered > 1) words.push(`×${state.entered}${now === null ? "" : `, ${seconds(Math.max(0, now - state.last_at))} ago`}`);
  if (state.retries) words.push(`${state.retries} ${state.retries === 1 ? "retry" : "retries"}`);
  return words.join(" · ");
}
