// One state: what it took and gave, its errors, its attempts, what its function wrote down, and where AWS shows it.

import { clock, make, replace, seconds, SIGNS } from "./dom.js";
import { ask } from "./asking.js";
import { address } from "./selection.js";

let drawn = "", log = { of: "", group: "", lines: [], note: "" };

export function stateDetails(box, state, selection, now) {
  const fresh = JSON.stringify([state, selection.run, log]);
  // The time since the last turn goes on, though nothing else has changed.
  const age = box.querySelector(".age");
  if (fresh === drawn && age) {
    age.textContent = ago(state, now);
    return;
  }
  drawn = fresh;
  const open = new Set([...box.querySelectorAll("details[open]")].map((each) => each.dataset.key));
  const { summary } = state;
  const rows = [
    ["status", summary ? `${SIGNS[summary.status]} ${summary.status}` : "not entered", summary?.status],
    ["ran for", state.where],
    ["entered", summary && `${summary.entered} time${summary.entered === 1 ? "" : "s"}`],
    ["retries", summary?.retries ? String(summary.retries) : ""],
    ["errors caught", summary?.caught ? String(summary.caught) : ""],
    ["time in all", summary && seconds(summary.total_s)],
  ].filter(([, words]) => words);
  replace(box, make("h2", {}, state.name, make("small", {}, ` ${state.kind}`)), state.comment ? make("p", { class: "quiet" }, state.comment) : null,
    make("dl", { class: "pairs" }, rows.map(([name, words, kind]) => [make("dt", {}, name), make("dd", { class: kind === "failed" || kind === "caught" ? "bad" : "" }, words)]),
      summary ? [make("dt", {}, "last"), make("dd", { class: "age" }, ago(state, now))] : null),
    state.visits.map((visit, index) => turn(visit, index, state, open)),
    state.function ? functionLog(state, selection) : null,
    make("p", { class: "links" }, state.address ? make("a", { href: state.address, target: "_blank", rel: "noreferrer", "data-key": "aws" }, "Its execution in the AWS console") : null),
    state.arn ? make("p", { class: "arn" }, state.arn) : null);
}

const ago = ({ summary }, now) => (now === null ? `at ${clock(summary.last_at)}` : `${seconds(Math.max(0, now - summary.last_at))} ago`);

function turn(visit, index, state, open) {
  const took = visit.exited_at === null ? "goes on" : `took ${seconds(visit.exited_at - visit.entered_at)}`;
  const attempts = visit.attempts > 1 ? `, ${visit.attempts} attempts` : "";
  const name = `turn ${visit.entered_at}`;
  const problems = [...visit.retried.map((each) => ["tried again after", each]), ...(visit.failed ? [["failed", visit.failed]] : [])];
  const failed = problems.map(([words, { error, cause }]) => make("div", { class: "failure" }, make("b", {}, `✕ ${words}: ${error}`), pre("cause", readable(cause))));
  const variables = Object.entries(visit.assigned).map(([name_, value]) => `${name_} = ${value}`).join("\n");
  return make("details", { open: index === 0 || open.has(name), "data-key": name },
    make("summary", {}, `${clock(visit.entered_at)}, ${took}${attempts}${problems.length ? " ✕" : ""}`),
    failed, pre("input", readable(visit.input)), pre("output", readable(visit.output)), variables ? pre("variables", variables) : null);
}

const pre = (name, text) => (text ? [make("p", { class: "label" }, name), make("pre", { tabindex: 0, role: "region", "aria-label": name }, text)] : null);

function readable(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 1);
  } catch {
    return text;
  }
}

function functionLog(state, { run }) {
  const [visit] = state.visits, of = `${run} ${state.name} ${state.arn} ${visit?.entered_at}`;
  const read = async () => {
    const until = visit.exited_at ?? Date.now() / 1000;
    try {
      log = { of, note: "", ...await ask("function-log", { run, function: state.function, since: visit.entered_at, until }) };
      if (!log.lines.length) log.note = "It wrote nothing in its last turn.";
    } catch (error) {
      log = { of, group: "", lines: [], note: error.message };
    }
    window.dispatchEvent(new HashChangeEvent("hashchange"));
  };
  return make("section", {}, make("h3", {}, "What its function wrote down"), make("p", {}, make("button", { type: "button", "data-key": "log", onclick: read }, "Read the log of the last turn")),
    log.of === of ? [log.note ? make("p", { class: "quiet" }, log.note) : null, log.group ? make("p", { class: "arn" }, log.group) : null, log.lines.length ? pre("lines", log.lines.join("\n")) : null] : null);
}
