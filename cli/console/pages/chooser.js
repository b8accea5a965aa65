// Which file system and which cell are shown, by name.

import { make, SIGNS } from "./dom.js";
import { select } from "./selection.js";

export const cellOf = (matrix, id) => matrix.rows.flatMap(({ cells }) => cells).find((cell) => cell.id === id);

export function chooser(box, { matrix }, { file_system, cell }, view) {
  const row = matrix.rows.find((each) => each.file_system === file_system);
  const systems = matrix.rows.map((each) => [each.file_system, `${each.label} (${each.state})`]);
  const cells = (row?.cells ?? []).map((each) => [each.id, `${SIGNS[each.state] ?? "▶"} ${short(each)} (${each.state})`]);
  const fresh = JSON.stringify([systems, cells, file_system, cell]);
  if (box.dataset.drawn === fresh) return;
  // A list that is open would close under the hand of who chooses.
  if (box.contains(document.activeElement) && box.dataset.view === view && box.dataset.chosen === `${file_system} ${cell}`) return;
  Object.assign(box.dataset, { drawn: fresh, view, chosen: `${file_system} ${cell}` });
  const list = (name, options, value, act) => {
    const made = make("select", { onchange: ({ target }) => act(target.value) }, options.map(([id, words]) => make("option", { value: id }, words)));
    made.value = value;
    return make("label", {}, `${name} `, made);
  };
  box.replaceChildren(
    list("File system", systems, file_system, (id) => select({ file_system: id, cell: "", instance: "" })),
    list("Cell", cells, cell, (id) => select({ file_system, cell: id, instance: "" })));
}

// A cell's name without that of its file system, which stands beside it.
export function short({ id, cell, file_system }) {
  const name = id ?? cell;
  return name.startsWith(`${file_system}.`) ? name.slice(file_system.length + 1) : name;
}
