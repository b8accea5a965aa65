// Asks the console's server for what is shown, as often as it looks itself, and hands it to the views.

import { appearance } from "./appearance.js";
import { ask } from "./asking.js";
import { clock, command, copy, make, replace, seconds } from "./dom.js";
import { showFleet } from "./fleet.js";
import { showGraph } from "./graph.js";
import { showMatrix } from "./matrix.js";
import { showReport } from "./report.js";
import { address, selected, VIEWS } from "./selection.js";

const SHOW = { matrix: showMatrix, graph: showGraph, fleet: showFleet, report: showReport };
const TITLES = { matrix: "Matrix", graph: "Graph", fleet: "Fleet", report: "Report" };
// Without an answer a page tries again, ever more seldom.
const FIRST_PAUSE_S = 2, LONGEST_PAUSE_S = 60;
const at = (id) => document.getElementById(id);
let runs = [], first = "", timer = 0, turn = 0, pause_s = FIRST_PAUSE_S, drift_s = 0, shown = null, news = "";
// How long drawing took (ms), for those who measure it.
window.frames_ms = [];

let ended = "";

const current = () => selected().run || first;

async function refresh() {
  clearTimeout(timer);
  const mine = ++turn;
  try {
    if (!first) await findRuns();
    if (!first) throw new Error("there is no run yet: matrix run FILE --local");
    const { view, file_system, cell, state } = selected();
    const document = await ask("view", { run: current(), view, file_system, cell, state });
    if (mine !== turn) return;
    drift_s = document.now - Date.now() / 1000;
    shown = document;
    trouble(document.trouble && `As of ${clock(document.as_of)}, since looking failed: ${document.trouble}`);
    await draw();
    pause_s = FIRST_PAUSE_S;
    timer = setTimeout(refresh, document.poll_again_s * 1000 + 50);
  } catch (error) {
    if (mine !== turn) return;
    const old = shown ? ` What you see is as of ${clock(shown.as_of)}.` : "";
    const reason = error instanceof TypeError ? "The console has ended: its command is no longer running." : error.message;
    trouble(`${reason}${error.advice ? ` Try: ${error.advice}.` : ""}${old}`);
    pause_s = Math.min(2 * pause_s, LONGEST_PAUSE_S);
    timer = setTimeout(refresh, pause_s * 1000);
  }
}

async function findRuns() {
  ({ runs, first } = await ask("runs"));
  first ||= runs[0] ?? "";
}

function trouble(words) {
  at("trouble").hidden = !words;
  at("trouble").textContent = words || "";
}

async function draw() {
  const began = performance.now();
  const selection = { ...selected(), ...shown.selection, run: current(), asked: selected() };
  header(selection);
  await SHOW[selection.view](at("content"), shown, selection, Date.now() / 1000 + drift_s);
  window.frames_ms.push(performance.now() - began);
  if (window.frames_ms.length > 100) window.frames_ms.shift();
}

function header({ view }) {
  const { header: now, as_of } = shown;
  document.title = `${Math.round(now.fraction * 100)} % · ${now.run} · Storage Matrix`;
  at("run").textContent = now.run;
  const box = at("runs"), choices = box.querySelector("select");
  box.hidden = runs.length < 2;
  if (choices.childElementCount !== runs.length) choices.replaceChildren(...runs.map((run) => make("option", { value: run }, run)));
  choices.value = now.run;
  const bar = document.querySelector(".progress");
  bar.setAttribute("aria-valuenow", Math.round(now.fraction * 100));
  bar.firstElementChild.style.setProperty("--share", now.fraction);
  at("place").hidden = !now.place;
  // A phone has room for the first sentence.
  const [short, ...rest] = now.place.split(/(?<=\.) /);
  replace(at("place"), make("span", {}, short), rest.length ? make("span", { class: "rest" }, ` ${rest.join(" ")}`) : null);
  end(now);
  bar.className = `progress ${now.status}`;
  replace(at("facts"), facts(now, as_of));
  at("stop").hidden = now.status !== "RUNNING" || now.stop.state !== "no";
  const tabs = VIEWS.filter((name) => name !== "report" || now.report || view === "report");
  replace(at("tabs"), tabs.map((name) => make("li", {}, make("a", {
    href: address({ view: name }), "data-key": name, "aria-current": name === view ? "page" : undefined,
  }, TITLES[name]))));
  const happened = `${now.status}: ${now.counts.measured ?? 0} of ${now.cells} cells measured, ${now.counts.failed ?? 0} failed`;
  if (happened !== news) at("news").textContent = news = happened;
}

const STANDS = { READING: "◔ reading the run …", STARTING: "◔ starting", RUNNING: "▶ running", SUCCEEDED: "✔ measured", FAILED: "✕ failed", TIMED_OUT: "✕ out of time", ABORTED: "■ stopped" };

function facts(now, as_of) {
  const counts = Object.entries(now.counts).filter(([state]) => state !== "measured" && state !== "planned");
  const cells = [`${now.counts.measured ?? 0} of ${now.cells} measured`, ...counts.map(([state, count]) => `${count} ${state}`)];
  if (now.status === "READING") return [fact("State", STANDS.READING)];
  const is_stopping = now.status === "RUNNING" && now.stop.state !== "no";
  return [
    fact("State", is_stopping ? "◑ stopping, then everything of this run is deleted" : STANDS[now.status] ?? now.status, now.problem),
    fact("Cells", cells.join(", ")),
    fact("Time", [now.elapsed, now.left].filter(Boolean).join(", ")),
    fact("Cost", cost(now), "by the plan's prices; at the end the receipt's"),
    now.links.length ? make("div", {}, make("dt", {}, "AWS console"), make("dd", {}, now.links.map(({ words, address: there }) =>
      make("a", { href: there, target: "_blank", rel: "noreferrer", "data-key": there }, words)))) : null,
    now.ended_at ? fact("Ended", clock(now.ended_at), "", "when") : fact("As of", clock(as_of), `a look every ${seconds(shown.poll_again_s)} or less`, "when"),
  ];
}

function cost({ spent, expected, budget, place }) {
  if (!spent) return "";
  const words = [spent, expected && `expected ${expected}`].filter(Boolean).join(", ") + (budget ? ` of ${budget}` : "");
  return place ? `$0 (on AWS: ${words})` : words;
}

// How a run ended, what was deleted, how to go on, its reason and its receipt.
function end(now) {
  const is_stopped = now.status === "ABORTED", measured = now.counts.measured ?? 0;
  const fresh = JSON.stringify([now.status, now.resume, now.stop.lines, now.receipt, now.problem, measured]);
  if (fresh === ended) return;
  ended = fresh;
  const has_ended = !["READING", "STARTING", "RUNNING"].includes(now.status);
  at("end").hidden = !has_ended;
  at("end").className = now.status === "SUCCEEDED" ? "end good" : "end";
  if (!has_ended) return;
  const deleted = now.stop.lines.filter((line) => /deleted|still there/i.test(line));
  replace(at("end"), make("h2", {}, `${STANDS[now.status] ?? now.status}: ${measured} of ${now.cells} cells were measured`),
    is_stopped ? deleted.map((line) => make("p", {}, line)) : null,
    now.resume ? make("p", { class: "resume" }, "Measure the rest: ", command(now.resume)) : null,
    now.problem && !is_stopped ? make("details", {}, make("summary", {}, "Reason"), make("p", {}, now.problem)) : null,
    now.receipt ? make("details", {}, make("summary", {}, "Receipt"), make("p", {}, now.receipt))
      : make("p", { class: "quiet" }, "The receipt is written as soon as everything is seen to be gone."));
}

function fact(name, words, title, kind = "") {
  return words ? make("div", { class: kind || (words.length > 100 ? "long" : undefined) }, make("dt", {}, name), make("dd", { title }, words)) : null;
}

appearance(at("appearance"));
at("link").addEventListener("click", ({ target }) => copy(target, new URL(address({ run: current(), view: selected().view }), location.href).href));
at("stop").addEventListener("click", () => at("sure").showModal());
at("sure").addEventListener("click", async ({ target }) => {
  if (target.localName !== "button") return;
  at("sure").close();
  if (target.value !== "stop") return;
  try {
    await ask("stop", {}, { run: current() });
  } catch (error) {
    trouble(error.message);
  }
  refresh();
});
at("runs").addEventListener("change", ({ target }) => {
  location.hash = `#run=${encodeURIComponent(target.value)}&view=${selected().view}`;
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  at("content").focus();
});
window.addEventListener("hashchange", () => {
  if (new URLSearchParams(location.hash.slice(1)).has("token")) {
    location.reload();
    return;
  }
  // What is known is drawn at once; the rest comes with the next answer.
  if (shown && shown.header.run === current()) draw();
  refresh();
});
document.addEventListener("visibilitychange", () => { if (!document.hidden) refresh(); });
refresh();
