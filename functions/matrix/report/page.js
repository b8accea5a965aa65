"use strict";
// Draws the charts of the page; without it all figures are in the tables.
(() => {
  // Okabe & Ito's palette, which colour-blind readers tell apart; on dark ground its darkest two are lightened.
  const LIGHT = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#B07500", "#2F9BD8", "#000000", "#7A7A00"];
  const DARK = ["#4BA3DB", "#FF8A3D", "#2FC79B", "#E39BC3", "#E69F00", "#8FD0F5", "#F0F0F0", "#F0E442"];
  const SYMBOLS = {
    circle: "M-5,0a5,5 0 1,0 10,0a5,5 0 1,0 -10,0Z", diamond: "M0,-6L6,0L0,6L-6,0Z", square: "M-5,-5H5V5H-5Z",
    "triangle-up": "M-6,5H6L0,-6Z", cross: "M-6,-2H-2V-6H2V-2H6V2H2V6H-2V2H-6Z", "triangle-down": "M-6,-5H6L0,6Z",
    pentagon: "M0,-6L6,-1.5L3.7,5H-3.7L-6,-1.5Z", star: "M0,-6L1.8,-2H6L2.6,.8L4,5.5L0,2.8L-4,5.5L-2.6,.8L-6,-2H-1.8Z",
  };
  const ORDER = Object.keys(SYMBOLS);
  // Pixels between the margins of A4: what is printed was laid out for a screen.
  const WHOLE = 680;
  const PAIRED = 326;
  const charts = JSON.parse(document.getElementById("charts").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let printing = false;
  const drawn = new Set();
  document.documentElement.classList.add("js");

  const isDark = () => dark.matches && !printing;
  const colour = (style) => (isDark() ? DARK : LIGHT)[style % LIGHT.length];

  function coloured(trace) {
    const shade = colour(trace.meta.style);
    const copy = { ...trace, line: { ...trace.line, color: shade }, marker: { ...trace.marker, color: shade } };
    if (trace.marker.symbol === "line-ns-open") copy.marker.line = { color: shade, width: 1.5 };
    for (const name of ["error_x", "error_y"]) if (trace[name]) copy[name] = { ...trace[name], color: shade };
    if (trace.meta.kind === "segments") copy.opacity = trace.line.width > 2 ? 0.45 : 0.9;
    return copy;
  }

  function themed(layout, width) {
    const [text, line] = isDark() ? ["#e8eaed", "#3a4048"] : ["#16191d", "#d5d9df"];
    const axis = (one) => ({ ...one, gridcolor: line, zerolinecolor: line, linecolor: line, fixedrange: true });
    const themedLayout = {
      ...layout, xaxis: axis(layout.xaxis), yaxis: axis(layout.yaxis), paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)", font: { color: text, size: width < 500 ? 11 : 13, family: "system-ui, sans-serif" },
      hoverlabel: { align: "left", font: { size: 12 } }, showlegend: false,
    };
    for (const shape of layout.shapes || []) shape.line = { color: text, width: 1.5, dash: "dash" };
    // Long names would leave no room for the rows, on a phone least of all: they are broken.
    if (layout.yaxis.type === "category") {
      const rows = layout.yaxis.categoryarray;
      const isNarrow = width < 600;
      const names = rows.map((row) => isNarrow
        ? row.split(" · ").map((part) => wrapped(shortened(part, 44), 24)).join("<br>")
        : wrapped(row, printing ? 80 : 56));
      const lines = Math.max(...names.map((name) => name.split("<br>").length));
      themedLayout.yaxis.tickvals = rows;
      themedLayout.yaxis.ticktext = names;
      if (printing) {
        themedLayout.yaxis.tickfont = { size: 9 };
        themedLayout.height = 90 + rows.length * 17;
      } else if (isNarrow) themedLayout.yaxis.tickfont = { size: 10 };
      if (lines > 1 && !printing) themedLayout.height = 90 + rows.length * Math.max(26, lines * (isNarrow ? 13 : 15) + 6);
    }
    return themedLayout;
  }

  // Names are whole in the legend, in hovers and in the tables.
  const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1).trimEnd() + "…" : text);

  function wrapped(text, most) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines[lines.length - 1];
      if (last && (last + " " + word).length > most) lines.push(word);
      else lines[lines.length - 1] = last ? last + " " + word : word;
    }
    return lines.join("<br>");
  }

  function draw(box) {
    const { data, layout } = charts[box.id];
    const off = data.filter((trace) => trace.meta.off).map((trace) => trace.meta.legend);
    const hidden = box.hiddenNames || (box.hiddenNames = new Set(off));
    const traces = data.map(coloured).map((trace) => ({ ...trace, visible: !hidden.has(trace.meta.legend) }));
    const width = printing ? (box.closest(".pairs") ? PAIRED : WHOLE) : box.clientWidth;
    const shown = { ...themed(layout, width), ...(printing ? { width } : { autosize: true }) };
    Plotly.react(box, traces, shown, { displayModeBar: false, responsive: true });
    drawn.add(box);
    legend(box, data);
  }

  function legend(box, data) {
    const place = box.parentElement.querySelector(".legend");
    place.textContent = "";
    for (const trace of data.filter((one) => one.meta.first)) {
      const button = document.createElement("button");
      button.type = "button";
      button.setAttribute("aria-pressed", String(!box.hiddenNames.has(trace.meta.legend)));
      button.append(swatch(trace), document.createTextNode(trace.meta.legend));
      button.addEventListener("click", () => {
        const { hiddenNames } = box;
        if (!hiddenNames.delete(trace.meta.legend)) hiddenNames.add(trace.meta.legend);
        const index = [...place.children].indexOf(button);
        draw(box);
        place.children[index].focus();
      });
      place.append(button);
    }
  }

  function swatch(trace) {
    const make = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const shade = colour(trace.meta.style);
    const svg = make("svg", { width: 34, height: 14, viewBox: "-17 -7 34 14", "aria-hidden": "true" });
    const dashes = { dash: "6 4", dot: "2 3", dashdot: "7 3 2 3" }[trace.line.dash];
    if (trace.mode.includes("lines")) {
      const line = make("path", { d: "M-17,0H17", stroke: shade, "stroke-width": 2 });
      if (dashes) line.setAttribute("stroke-dasharray", dashes);
      svg.append(line);
    }
    if (trace.mode.includes("markers")) {
      const symbol = trace.marker.symbol.replace("-open", "");
      const path = SYMBOLS[symbol] || "M0,-6V6";
      const isOpen = trace.marker.symbol.endsWith("-open");
      svg.append(make("path", { d: path, fill: isOpen ? "none" : shade, stroke: shade, "stroke-width": 1.5 }));
    }
    return svg;
  }

  // Arrow keys walk over the points: left and right along a line, up and down from line to line.
  function walk(event) {
    const box = event.currentTarget;
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
    if (!steps || !drawn.has(box)) return;
    event.preventDefault();
    const lines = box.data.map((trace, index) => ({ trace, index })).filter(({ trace }) => trace.hovertext && trace.visible !== false);
    if (!lines.length) return;
    const at = box.at || (box.at = { line: 0, point: -1 });
    at.line = (at.line + steps[0] + lines.length) % lines.length;
    const { trace, index } = lines[at.line];
    at.point = Math.min(trace.x.length - 1, Math.max(0, at.point + steps[1]));
    Plotly.Fx.hover(box, [{ curveNumber: index, pointNumber: at.point }]);
  }

  // The sweep after a run completes the receipt: it replaces this island, and nothing else in the page.
  function drawReceipt() {
    const { sentences, heads, rows } = JSON.parse(document.getElementById("receipt").textContent);
    const make = (name, attributes, ...children) => {
      const made = document.createElement(name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      made.append(...children);
      return made;
    };
    const cell = (value, index) => {
      if (value.text !== undefined) return make("td", { class: "figure", "data-value": value.value }, value.text);
      if (value === "–") return make("td", { class: "figure" }, value);
      return index ? make("td", {}, value) : make("th", { scope: "row" }, value);
    };
    const drawn = sentences.map((sentence) => make("p", {}, sentence));
    if (rows.length) {
      const head = make("thead", {}, make("tr", {}, ...heads.map((text) => make("th", { scope: "col" }, text))));
      const body = make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map(cell))));
      const table = make("table", {}, make("caption", {}, "Resources"), head, body);
      const frame = make("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Resources" }, table);
      drawn.push(make("details", {}, make("summary", {}, "Each resource"), frame));
    }
    document.getElementById("receipt-drawn").replaceChildren(...drawn);
  }

  function copyButtons() {
    for (const place of document.querySelectorAll(".table")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.setAttribute("aria-label", "Copy the table " + place.getAttribute("aria-label"));
      button.addEventListener("click", async () => {
        const rows = [...place.querySelectorAll("tr")];
        const text = rows.map((row) => [...row.children].map((cell) => cell.dataset.value || cell.textContent).join("\t"));
        try {
          await navigator.clipboard.writeText(text.join("\n"));
          button.textContent = "Copied";
        } catch {
          getSelection().selectAllChildren(place.querySelector("table"));
          button.textContent = "Selected: press Ctrl-C";
        }
        setTimeout(() => { button.textContent = "Copy"; }, 2000);
      });
      place.before(button);
    }
  }

  const boxes = [...document.querySelectorAll(".chart")];
  const seen = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) if (isIntersecting && !drawn.has(target)) draw(target);
  }, { rootMargin: "600px" });
  for (const box of boxes) {
    seen.observe(box);
    box.addEventListener("keydown", walk);
  }
  drawReceipt();
  copyButtons();
  const redraw = () => [...drawn].forEach(draw);
  dark.addEventListener("change", redraw);
  let width = innerWidth;
  addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; redraw(); } });
  // Print shows all of it: what is folded is unfolded, what was not yet seen is drawn, in colours for paper.
  let folded = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")].filter((one) => one.querySelector(".chart") || one.matches(".question"));
    printing = true;
    for (const one of folded) one.open = true;
    boxes.forEach(draw);
  });
  addEventListener("afterprint", () => {
    for (const one of folded) one.open = false;
    printing = false;
    redraw();
  });
  for (const one of document.querySelectorAll("details")) one.addEventListener("toggle", () => { if (one.open) one.querySelectorAll(".chart").forEach((box) => { if (!drawn.has(box)) draw(box); }); });
})();
