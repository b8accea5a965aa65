// Writes answers.json: what the reference implementation of JSONata answers to the state machine's expressions.
//
//   npm install --prefix /tmp/jsonata jsonata@2.0.6     (the version that Step Functions has)
//   python -c 'import json, sys, yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout)' < statemachine/run.asl.yaml |
//     NODE_PATH=/tmp/jsonata/node_modules node tests/judge/jsonata/answer.js
//
// Each expression is evaluated on good variables, and with each of the values below in place of each variable, member
// of the input, of a result and of an error that it reads. Tests hold our engine against the file and need no node.
const fs = require("fs"), path = require("path"), jsonata = require("jsonata");

const expressions = new Set();
(function collect(node) {
  if (typeof node === "string" && node.startsWith("{%")) expressions.add(node.slice(2, -2).trim());
  else if (node && typeof node === "object") Object.values(node).forEach(collect);
})(JSON.parse(fs.readFileSync(0)));
// What the definition does not have, and a change of it may.
for (const more of ["$string($states.input.totals)", "$string($states.input.failure)", "$states.input.file_systems[0]",
  "$states.input.since + 1", "$exists($states.input.cell.id)", "$states.input.cells[0].id", "$type($states.input.since)",
  "$not($states.input.populate)", "$boolean($states.input.cells)", "$sum($states.input.sizes)", "$string($states.input.since)"])
  expressions.add(more);

const variables = {
  run: "r1", file_system: "A", resource_ids: ["fs-1"], cells: ["c1", "c2"], populate: true, started_at: "2026-01-01T00:00:00Z",
  states: {
    context: {Execution: {Name: "r1", Id: "arn:aws:states:::r1"}, Map: {Item: {Value: {a: 1}, Index: 0}}},
    input: {
      within_budget: true, dry_run: false, images: [{arch: "arm64"}], file_systems: ["A", "B"], max_concurrent_file_systems: 2,
      totals: {cost_usd: {expected: 12.5}, failed: 1, cells: 3, skipped: 0}, budget_usd: 10, plan: "s3://b/plan.json",
      state: "running", poll_s: 30, wait_s: 5, early_looks: 6, cell: {id: 1}, failure: {Error: "E", Cause: "c"}, since: 0, image: {a: 1}, run: "r1",
      file_system: "A", left_behind: 0, summary: "s3://b/summary.json", populate: true, is_seen: true, cells: ["c1"], sizes: [1, 2.5]},
    result: {Payload: {resource_ids: ["fs-1"], cells: ["c1"], populate: false, started_at: "t"}},
    errorOutput: {Error: "E", Cause: "{}"}}};
const values = [null, 0, 1, -1, 0.1, 0.30000000000000004, 1e21, 1e-7, 123456789.125, 1e15, true, false, "", "text",
  "running", "gone", "ü\"\n\\", [], [1], [[1]], [null], {}, {a: null}, [1, [2, 3]]];

function* places(node, at = []) {
  if (at.length) yield at;
  if (node && typeof node === "object" && !Array.isArray(node))
    for (const [name, child] of Object.entries(node)) yield* places(child, [...at, name]);
}
// Only places that an expression names in full, or whose end it names below what it reads as a whole.
const isRead = (expression, at) => {
  const words = new Set(expression.match(/[A-Za-z_]+/g));
  return at.every(name => words.has(name)) && at.length !== 1 + (at[0] === "states");
};
const reads = (expression, at) => isRead(expression, at) || (at.length === 1 && at[0] !== "states" && new RegExp("\\$" + at[0] + "\\b").test(expression));

async function answer(expression, given) {
  try {
    const value = await jsonata(expression).evaluate(undefined, given);
    return value === undefined || typeof value === "function" ? {error: true} : {value};
  } catch { return {error: true}; }
}

(async () => {
  const cases = [];
  for (const expression of [...expressions].sort()) {
    cases.push({expression, ...await answer(expression, structuredClone(variables))});
    for (const at of places(variables)) {
      if (!reads(expression, at)) continue;
      for (const put of [...values, undefined]) {
        const given = structuredClone(variables);
        const parent = at.slice(0, -1).reduce((node, name) => node[name], given);
        if (put === undefined) delete parent[at.at(-1)]; else parent[at.at(-1)] = put;
        cases.push({expression, at: at.join("."), ...(put === undefined ? {} : {put}), ...await answer(expression, given)});
      }
    }
  }
  const lines = cases.map(one => JSON.stringify(one)).join(",\n");
  fs.writeFileSync(path.join(__dirname, "answers.json"),
    `{"jsonata": ${JSON.stringify(require("jsonata/package.json").version)},\n"variables": ${JSON.stringify(variables)},\n"cases": [\n${lines}\n]}\n`);
  console.log(expressions.size, "expressions,", cases.length, "cases");
})();
