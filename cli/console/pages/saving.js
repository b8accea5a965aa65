// A chart as a file: SVG with the look that it has now, PNG of twice its size, and its numbers as CSV.

import { draw, make } from "./dom.js";

const LOOKS = ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor"];
const MARGIN = 12, HEAD = 30, FOOT = 24;

// `of` says of which run it is and where it was; `rows` are its numbers, the heads first.
export function saving(svg, name, { title, of, rows }) {
  const file = `${name} ${title}`.replace(/[^\p{L}\p{N}]+/gu, "-");
  const button = (kind, act) => make("button", { type: "button", "data-key": `${kind} ${title}`, "aria-label": `${kind}: save ${title}`, onclick: act }, kind);
  return make("p", { class: "saving" },
    button("CSV", () => keep(`${file}.csv`, new Blob([csv(rows())], { type: "text/csv" }))),
    button("SVG", () => keep(`${file}.svg`, new Blob([alone(svg, title, of).text], { type: "image/svg+xml" }))),
    button("PNG", async () => keep(`${file}.png`, await picture(alone(svg, title, of)))));
}

// A cell that begins like a formula is text to a spreadsheet, too.
const quoted = (value) => {
  const text = String(value ?? "");
  return `"${(/^[=+@\t\r-]/.test(text) && isNaN(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
};
const csv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

function keep(name, blob) {
  const address = URL.createObjectURL(blob);
  make("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

// The drawing without the page: what the page's style gives it is written into it.
function alone(svg, title, of) {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  const [there, here] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  there.forEach((element, index) => {
    const look = getComputedStyle(element);
    for (const each of LOOKS) here[index].setAttribute(each, look.getPropertyValue(each));
  });
  for (const [key, value] of Object.entries({ x: MARGIN, y: HEAD, width: box.width, height: box.height })) copy.setAttribute(key, value);
  const body = getComputedStyle(document.body), font = { "font-family": body.fontFamily, fill: body.color };
  const width = box.width + 2 * MARGIN, height = box.height + HEAD + FOOT;
  const whole = draw("svg", { xmlns: "http://www.w3.org/2000/svg", width, height, viewBox: `0 0 ${width} ${height}` },
    draw("rect", { width, height, fill: body.backgroundColor }),
    draw("text", { x: MARGIN, y: 20, "font-size": "14px", "font-weight": 600, ...font }, title), copy,
    draw("text", { x: width - MARGIN, y: height - 8, "font-size": "11px", "text-anchor": "end", ...font }, of));
  return { text: new XMLSerializer().serializeToString(whole), width, height };
}

async function picture({ text, width, height }) {
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  const image = new Image();
  image.src = address;
  await image.decode();
  const canvas = make("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(address);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}
