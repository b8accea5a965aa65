// Elements made without markup: every text is a text, whatever stands in it.

const SVG = "http://www.w3.org/2000/svg";

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("--")) made.style.setProperty(name, value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}

export const make = (name, attributes = {}, ...children) => fill(document.createElement(name), attributes, children);
export const draw = (name, attributes = {}, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

// Replaces what stands in a box, and gives the focus back to what had it, known by its data-key.
export function replace(box, ...children) {
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  box.replaceChildren(...children.flat(Infinity).filter(Boolean));
  if (focused !== undefined) box.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

// Text and sign of each status: never a colour alone.
export const SIGNS = {
  planned: "○", launching: "◔", waiting: "◔", running: "▶", retrying: "↻", stopping: "◑", analysing: "◑", measured: "✔",
  failed: "✕", skipped: "↷", done: "✔", caught: "⚠", stopped: "■", booting: "○", preparing: "◔", "at the gate": "‖",
  silent: "?", gone: "·", "not measured": "–",
};

// As the terminal and the report write durations: `7s`, `2m 05s`, `44h 50m`; below 10 s to the tenth.
export function seconds(count) {
  if (count < 9.95) return `${Math.round(count * 10) / 10}s`;
  const whole = Math.round(count), two = (number) => String(number).padStart(2, "0");
  if (whole < 60) return `${whole}s`;
  if (whole < 3600) return `${Math.floor(whole / 60)}m ${two(whole % 60)}s`;
  const minutes = Math.round(count / 60);
  return `${Math.floor(minutes / 60)}h ${two(minutes % 60)}m`;
}

export function figure(value, unit) {
  if (value === null || value === undefined) return "–";
  if (unit === "s") return seconds(value);
  return `${value.toLocaleString("en", { maximumSignificantDigits: 3 })} ${unit}`;
}

// What tells labels apart: parts between commas that all of them have are left out.
export function telling(labels) {
  const parts = labels.map((label) => label.split(", "));
  const common = (parts[0] ?? []).filter((part) => parts.every((other) => other.includes(part)));
  return parts.map((own, index) => own.filter((part) => !common.includes(part)).join(", ") || labels[index]);
}

// A command with a button that copies it.
export function command(words) {
  return make("span", { class: "command" }, make("code", { tabindex: 0 }, words), " ", make("button", { type: "button", "data-key": "copy", onclick: ({ target }) => copy(target, words) }, "Copy command"));
}

// Puts words on the clipboard, and says so on the button for two seconds.
export async function copy(button, words) {
  await navigator.clipboard.writeText(words);
  const before = button.textContent;
  button.textContent = "Copied";
  button.disabled = true;
  setTimeout(() => Object.assign(button, { textContent: before, disabled: false }), 2000);
}

export const clock = (epoch_s) => new Date(epoch_s * 1000).toLocaleTimeString([], { hour12: false });

export function key(...words) {
  return make("p", { class: "key" }, ...words.map((word) => make("span", {}, word)));
}
