"use strict";
// What a reader can do with the page. Without it charts and tables are whole, but for what is zipped (html.py), and the
// receipt is as of the run's end.
(async () => {
  // What is very long is zipped; a browser that cannot unzip it (Safari before 16.4) shows what its noscript says.
  const ZIPPED = 'script[type="application/gzip"]', unzipped = new Map();
  async function unzip(script) {
    const bytes = Uint8Array.from(atob(script.textContent), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    unzipped.set(script, await new Response(stream).text());
  }
  if (self.DecompressionStream) await Promise.all([...document.querySelectorAll(ZIPPED)].map(unzip));
  const textOf = (element) => unzipped.get(element) ?? (element.matches(ZIPPED) ? "" : element.textContent);
  const SVG = "http://www.w3.org/2000/svg";
  // Pixels around a point in which the pointer reaches it.
  const REACH = 40;
  // As many columns of the matrix fit on paper (heat_map.py).
  const PAPER_COLUMNS = 7;
  const charts = JSON.parse(textOf(document.getElementById("charts")) || "{}");

  function fill(made, attributes, children) {
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }
  const make = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
  const draw = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

  function button(text, label, act) {
    const made = make("button", { type: "button", "aria-label": label }, text);
    made.addEventListener("click", () => act(made));
    return made;
  }

  const save = (name, type, text) => keep(name, new Blob([text], { type }));
  function keep(name, blob) {
    const address = URL.createObjectURL(blob);
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  // Draws an SVG file as a picture of twice its size.
  async function picture(text) {
    const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = make("canvas", { width: 2 * image.width, height: 2 * image.height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    URL.revokeObjectURL(address);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  // A cell that begins like a formula is text to a spreadsheet, too.
  const quoted = (value) => {
    const text = String(value ?? "");
    return `"${(/^[=+@\t\r-]/.test(text) && isNaN(text) ? "'" + text : text).replaceAll('"', '""')}"`;
  };
  const csv = (rows) => rows.map((row) => row.map(quoted).join(",") + "\r\n").join("");

  // How far along an axis a value stands; not a number where it has no place.
  function share([low, high, isLog], value) {
    const [from, to, at] = isLog ? [low, high, value].map(Math.log) : [low, high, value];
    return value === null ? NaN : (at - from) / (to - from);
  }

  class Chart {
    constructor(figure) {
      this.figure = figure;
      this.box = figure.querySelector(".chart");
      this.plot = figure.querySelector(".plot");
      this.title = figure.querySelector("h3").textContent;
      ({ heads: this.heads, axes: this.axes, series: this.series } = charts[figure.id]);
      this.series.forEach((series, index) => { series.x ||= this.series[index - 1].x; });
      this.at = { line: 0, point: -1 };
      this.words = make("span", {});
      this.point = make("div", { class: "point", role: "status" }, make("i", {}), this.words);
      this.point.hidden = true;
      figure.append(this.point);
      this.fold();
      this.keys = [...figure.querySelectorAll(".legend > span")].map((key, group) => this.key(key, group));
      this.box.addEventListener("pointermove", (event) => this.hover(event));
      this.box.addEventListener("pointerdown", (event) => this.hover(event));
      for (const name of ["pointerleave", "blur"]) this.box.addEventListener(name, () => { this.point.hidden = true; });
      this.box.addEventListener("keydown", (event) => this.walk(event));
      this.box.nextElementSibling.prepend(make("div", { class: "tools" },
        button("CSV", `Save the points of ${this.title} as CSV`, () => save(`${figure.id}.csv`, "text/csv", csv(this.rows()))),
        button("SVG", `Save ${this.title} as SVG`, () => save(`${figure.id}.svg`, "image/svg+xml", this.file())),
        button("PNG", `Save ${this.title} as PNG`, async () => keep(`${figure.id}.png`, await picture(this.file())))));
    }

    groups(group) {
      return this.plot.querySelectorAll(`[data-group="${group}"]`);
    }

    isOn(group) {
      return !this.groups(group)[0].classList.contains("off");
    }

    // A chart without a curve that was chosen is not there.
    fold() {
      const drawn = [...this.plot.querySelectorAll("[data-group]")];
      this.figure.classList.toggle("empty", drawn.every((group) => group.closest(".plot .out")));
      this.point.hidden = true;
    }

    // A legend's entry becomes a button that hides and shows its series.
    key(key, group) {
      const made = make("button", { type: "button", "aria-pressed": this.isOn(group) }, ...key.childNodes);
      Object.assign(made.dataset, key.dataset);
      made.addEventListener("click", () => {
        const isOn = this.isOn(group);
        for (const drawn of this.groups(group)) drawn.classList.toggle("off", isOn);
        made.setAttribute("aria-pressed", !isOn);
      });
      key.replaceWith(made);
      return made;
    }

    lines() {
      return this.series.filter((series) => series.words && this.isOn(series.group)
        && [...this.groups(series.group)].some((group) => !group.closest(".out")));
    }

    // Where a point stands, as shares of the plot.
    place(series, index) {
      return [share(this.axes[0], series.x[index]), 1 - share(this.axes[1], series.y[index])];
    }

    show(series, index) {
      const [frame, whole] = [this.plot.getBoundingClientRect(), this.figure.getBoundingClientRect()];
      const [right, down] = this.place(series, index);
      const x = frame.left - whole.left + right * frame.width;
      const y = frame.top - whole.top + down * frame.height;
      this.point.hidden = Number.isNaN(x + y);
      this.point.style.left = `${x}px`;
      this.point.style.top = `${y}px`;
      this.point.classList.toggle("right", x > whole.width / 2);
      this.point.classList.toggle("low", frame.top + down * frame.height < 200);
      const words = series.words?.[index] ?? `${this.heads[2]}: ${series.y[index]}<br>${this.heads[1]}: ${series.x[index]}`;
      this.words.textContent = `${series.name}\n${words.replaceAll("<br>", "\n")}`;
    }

    hover(event) {
      const frame = this.plot.getBoundingClientRect();
      let [best, found] = [REACH, null];
      for (const series of this.lines()) {
        for (let index = 0; index < series.x.length; index += 1) {
          const [right, down] = this.place(series, index);
          const far = Math.hypot(frame.left + right * frame.width - event.clientX, frame.top + down * frame.height - event.clientY);
          if (far < best) [best, found] = [far, [series, index]];
        }
      }
      if (found) this.show(...found);
      else this.point.hidden = true;
    }

    // Arrow keys walk over the points: left and right along a line, up and down from line to line.
    walk(event) {
      const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
      const lines = this.lines();
      if (event.key === "Escape") this.point.hidden = true;
      if (!steps || !lines.length) return;
      event.preventDefault();
      this.at.line = (this.at.line + steps[0] + lines.length) % lines.length;
      const series = lines[this.at.line];
      this.at.point = Math.min(series.x.length - 1, Math.max(0, this.at.point + steps[1]));
      this.show(series, this.at.point);
    }

    rows() {
      return [this.heads, ...this.series.flatMap((series) => series.x
        .map((x, index) => [series.name, x, series.y[index], series.low?.[index], series.high?.[index]])
        .filter(([, x, y]) => x !== null && y !== null))];
    }

    // The drawing with its title and legend, in the light look, at one width.
    file() {
      const style = getComputedStyle(this.plot.parentElement);
      const [gutter, height] = [parseFloat(style.getPropertyValue("--gutter")), Number(this.plot.getAttribute("height"))];
      const keys = this.keys.filter((key) => key.getAttribute("aria-pressed") === "true" && !key.classList.contains("out"));
      const whole = height + 134 + 20 * keys.length;
      const plot = this.plot.cloneNode(true);
      for (const [key, value] of Object.entries({ x: gutter, y: 58, width: 876 - gutter })) plot.setAttribute(key, value);
      const legend = keys.map((key, index) => draw("g", { transform: `translate(30 ${height + 118 + 20 * index})` },
        key.querySelector("svg > g").cloneNode(true), draw("text", { x: 24, dy: 4 }, key.textContent)));
      return new XMLSerializer().serializeToString(draw("svg",
        { width: 900, height: whole, viewBox: `0 0 900 ${whole}` },
        draw("style", {}, document.getElementById("look").textContent),
        document.querySelector(".shapes").cloneNode(true), draw("rect", { width: "100%", height: "100%", class: "ground" }),
        draw("text", { x: 8, y: 22, class: "title" }, this.title), plot, ...legend,
        // Away from its page a chart says of which run it is, and that this was not AWS.
        draw("text", { x: 892, y: whole - 8, "text-anchor": "end", class: "axis" }, document.querySelector("header").dataset.of ?? document.title)));
    }
  }

  // The sweep after a run completes the receipt: it replaces this island, and nothing else in the page.
  function drawReceipt() {
    if (!document.getElementById("receipt")) return;
    const { sentences, heads, rows } = JSON.parse(document.getElementById("receipt").textContent);
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

  // Tables are copied and saved with exact values, and sorted by the head that is pressed.
  const exact = (cell) => cell.dataset.value || cell.textContent;

  // What tells of each table how many columns are beyond its edge; a filter hides columns and leaves its width.
  const tellers = [];
  function tools(place) {
    const name = place.getAttribute("aria-label");
    const isIn = (element) => !element.classList.contains("out");
    const data = place.dataset.rows && JSON.parse(place.dataset.rows);
    const rows = () => data || [...place.querySelectorAll("tr")].filter(isIn).map((row) => [...row.children].filter(isIn).map(exact));
    const copy = button("Copy", `Copy the table ${name}`, async () => {
      try {
        await navigator.clipboard.writeText(rows().map((row) => row.join("\t")).join("\n"));
        copy.textContent = "Copied";
      } catch {
        getSelection().selectAllChildren(place.querySelector("table"));
        copy.textContent = "Selected: press Ctrl-C";
      }
      setTimeout(() => { copy.textContent = "Copy"; }, 2000);
    });
    const file = data ? `${place.dataset.run || "run"}-matrix.csv` : `${name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 80)}.csv`;
    const more = button("", "", () => place.scrollBy({ left: 0.7 * place.clientWidth }));
    more.hidden = true;
    place.before(make("div", { class: "tools" }, more, copy,
      button("CSV", `Save the table ${name} as CSV`, () => save(file, "text/csv", csv(rows())))));
    const tell = () => tellMore(place, more, name);
    tellers.push(tell);
    place.addEventListener("scroll", tell, { passive: true });
    new ResizeObserver(tell).observe(place);
  }

  // Columns of which most is beyond the edge are counted on a button that scrolls there; the edge fades.
  function tellMore(place, more, name) {
    const row = [...place.querySelectorAll("tbody tr")].find((each) => !each.classList.contains("out"));
    const edge = place.getBoundingClientRect().right;
    const middle = (cell) => { const { left, right } = cell.getBoundingClientRect(); return (left + right) / 2; };
    const isScrolled = place.scrollWidth - place.clientWidth - place.scrollLeft > 4;
    const beyond = isScrolled ? [...(row?.cells ?? [])].filter((cell) => !cell.classList.contains("out") && middle(cell) > edge) : [];
    const hidden = isScrolled ? Math.max(1, beyond.reduce((sum, cell) => sum + cell.colSpan, 0)) : 0;
    more.hidden = !hidden;
    more.textContent = `${hidden} more column${hidden === 1 ? "" : "s"} →`;
    more.setAttribute("aria-label", `${more.textContent} of the table ${name}`);
    place.classList.toggle("beyond", hidden > 0);
  }

  // The matrix with its storages across and its comparisons down, for many comparisons on a narrow screen.
  function turned(table) {
    const [columns, ...above] = [...table.tHead.rows].reverse();
    const groups = above.flatMap((row) => [...row.cells].slice(1))
      .flatMap((head) => Array(Number(head.dataset.span || head.colSpan)).fill(head.textContent));
    const rows = [...table.tBodies[0].rows];
    const marked = (made, source) => { Object.assign(made.dataset, source.dataset); return made; };
    const storages = rows.map((row) => marked(make("th", { scope: "col" }, row.cells[0].textContent), row));
    const comparisons = [...columns.cells].slice(1).map((column, at) => marked(make("tr", {},
      make("th", { scope: "row" }, [groups[at], column.textContent].filter(Boolean).join(", ")),
      ...rows.map((row) => marked(row.cells[at + 1].cloneNode(true), row))), column));
    return make("table", { class: "heat" }, table.caption.cloneNode(true),
      make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Comparison"), ...storages)),
      make("tbody", {}, ...comparisons));
  }

  // Where a narrow screen has fewer storages than comparisons to show, the matrix begins turned.
  function turnable(place) {
    const first = place.querySelector(".heat");
    const other = turned(first);
    const isNarrow = innerWidth <= 640 && other.tBodies[0].rows.length > first.tBodies[0].rows.length;
    const turn = (isAcross) => {
      const [from, to] = isAcross ? [first, other] : [other, first];
      from.replaceWith(to);
      made.setAttribute("aria-pressed", isAcross);
      choose();
    };
    const made = make("button", { type: "button", "aria-pressed": false }, "Swap axes");
    made.addEventListener("click", () => {
      across = first.isConnected ? "yes" : "no";
      history.replaceState(null, "", address());
      turn(across === "yes");
    });
    place.previousElementSibling.prepend(made);
    if (across ? across === "yes" : isNarrow) turn(true);
    // Paper has room for any number of rows, but for few columns.
    const columns = (table) => table.tHead.rows[table.tHead.rows.length - 1].cells.length;
    if (place.parentElement.matches(".wide") && columns(other) < columns(first)) {
      let isTurnedBack = false;
      addEventListener("beforeprint", () => { isTurnedBack = first.isConnected; if (isTurnedBack) turn(true); });
      addEventListener("afterprint", () => { if (isTurnedBack) turn(false); });
      if (columns(other) <= PAPER_COLUMNS + 1) place.parentElement.classList.add("fits");
    }
  }

  function sortable(table) {
    const [head] = table.tHead.rows;
    [...head.cells].forEach((cell, column) => {
      const made = make("button", { type: "button" }, ...cell.childNodes);
      made.addEventListener("click", () => {
        const sign = cell.getAttribute("aria-sort") === "ascending" ? -1 : 1;
        for (const other of head.cells) other.removeAttribute("aria-sort");
        cell.setAttribute("aria-sort", sign > 0 ? "ascending" : "descending");
        const [body] = table.tBodies;
        const key = (row) => { const at = row.cells[column]; return at.dataset.value ? Number(at.dataset.value) : at.textContent; };
        // What is not known stands last, whichever way.
        const order = (a, b) => (a === "–") - (b === "–") || sign * (typeof a === "number" && typeof b === "number"
          ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
        body.append(...[...body.rows].sort((a, b) => order(key(a), key(b))));
      });
      cell.append(made);
    });
  }

  function link(heading, id) {
    heading.append(make("a", { class: "link", href: `#${id}`, "aria-label": `Link to ${heading.textContent}` }, "#"));
  }

  // What a reader has chosen stands in the address behind the place: `#matrix?storage=EBS+gp3&fleet=10+×+m6i.large`.
  const KINDS = { s: "storage", w: "workload", f: "fleet" };
  const facets = JSON.parse(document.getElementById("facets").textContent);
  const chosen = { s: new Set(), w: new Set(), f: new Set() };
  const chips = new Map();
  const shown = make("p", { class: "shown", role: "status" });
  // Whether the matrix has its storages across: "yes", "no", or "" where nobody has chosen.
  let place = "", across = "";
  const drawn = [];

  function address() {
    const params = new URLSearchParams();
    for (const [mark, names] of Object.entries(chosen)) for (const index of names) params.append(KINDS[mark], facets[mark][index]);
    if (across) params.set("across", across);
    return `#${place}${params.size ? `?${params}` : ""}`;
  }

  function readAddress() {
    const [before, ...rest] = location.hash.slice(1).split("?");
    place = before;
    const params = new URLSearchParams(rest.join("?"));
    across = params.get("across") ?? "";
    for (const [mark, names] of Object.entries(chosen)) {
      names.clear();
      for (const name of params.getAll(KINDS[mark])) {
        const index = (facets[mark] || []).indexOf(name);
        if (index >= 0) names.add(index);
      }
    }
  }

  const MARKED = "[data-s], [data-w], [data-f]";
  const isFiltered = () => Object.values(chosen).some((names) => names.size);
  const isOut = (element) => Object.entries(chosen)
    .some(([mark, names]) => names.size && element.dataset[mark] !== undefined && !names.has(Number(element.dataset[mark])));

  function choose() {
    for (const element of document.querySelectorAll(MARKED)) element.classList.toggle("out", isOut(element));
    for (const [key, button] of chips) button.setAttribute("aria-pressed", chosen[key[0]].has(Number(key.slice(1))));
    for (const chart of drawn) chart.fold();
    for (const section of document.querySelectorAll("section")) {
      const figures = [...section.querySelectorAll(".drawn")];
      // What is not unpacked yet may have a chart of what was chosen.
      const hasMore = section.querySelector(`noscript, ${ZIPPED}`);
      section.classList.toggle("out", figures.length > 0 && !hasMore && figures.every((figure) => figure.matches(".out, .empty")));
    }
    for (const table of document.querySelectorAll(".heat")) spans(table);
    for (const tell of tellers) tell();
    const panels = [...document.querySelectorAll(".ranking")];
    const possible = panels.filter((panel) => !panel.classList.contains("out"));
    const panel = possible.find((each) => each.id === place) || possible.find((each) => each.matches(".first")) || possible.at(-1);
    if (panel) unpack(panel);
    for (const each of panels) each.classList.toggle("seen", each === panel);
    pick(panel);
    const words = Object.entries(chosen).flatMap(([mark, names]) => [...names].map((index) => facets[mark][index]));
    if (panel) {
      document.querySelector("h1").textContent = panel.querySelector(".headline").textContent + (chosen.s.size ? " (of all storages)" : "");
      priced(panel);
    }
    shown.textContent = words.length ? `Only ${words.join("; ")} is shown.` : "";
  }

  // What picks a comparison: its workload, parameters and fleet, as far as comparisons differ in them.
  const AXES = { workload: "Workload", parameters: "Parameters", fleet: "Fleet" };
  // Values of more letters than this are a list, not buttons.
  const MAX_LETTERS = 100;
  const pickers = [];
  function makePicker() {
    const panels = [...document.querySelectorAll(".ranking")];
    for (const [axis, words] of Object.entries(AXES)) {
      if (new Set(panels.map((panel) => panel.dataset[axis])).size < 2) continue;
      pickers.push({ axis, panels, box: make("div", { role: "group", "aria-label": words }) });
    }
    if (pickers.length) document.querySelector(".first").before(make("div", { class: "picker" }, ...pickers.map(({ box }) => box)));
  }

  // Of the comparisons with a value goes to the one that is most like the one that was seen.
  function go(axis, value) {
    const seen = document.querySelector(".ranking.seen"), at = pickers.findIndex((each) => each.axis === axis);
    const alike = (panel) => pickers.reduce((sum, each, place) => sum
      + (panel.dataset[each.axis] === seen.dataset[each.axis] ? (place < at ? 100 : 1) : 0), 0);
    const [best] = pickers[at].panels.filter((panel) => !panel.matches(".out") && (panel.dataset[axis] ?? "") === value)
      .sort((one, other) => alike(other) - alike(one));
    place = best.id;
    history.replaceState(null, "", address());
    choose();
  }

  // Each has what goes with the choice in those before it.
  function pick(seen) {
    pickers.forEach(({ axis, box, panels }, at) => {
      const before = pickers.slice(0, at).map((each) => each.axis);
      const fits = panels.filter((panel) => !panel.matches(".out") && before.every((name) => panel.dataset[name] === seen?.dataset[name]));
      const values = [...new Set(fits.map((panel) => panel.dataset[axis] ?? ""))];
      if (box.dataset.values !== String(values)) box.replaceChildren(...choices(axis, values));
      box.dataset.values = values;
      const value = seen?.dataset[axis] ?? "";
      for (const each of box.querySelectorAll("button")) each.setAttribute("aria-pressed", each.value === value);
      for (const list of box.querySelectorAll("select")) list.value = value;
    });
  }

  // Fleets of one instance type are told apart by their numbers of instances.
  function choices(axis, values) {
    const kinds = new Set(values.map((value) => value.split(" × ")[1]));
    const short = (value) => (axis === "fleet" && kinds.size === 1 ? value.split(" × ")[0] : value || "none");
    const words = axis === "fleet" && kinds.size === 1 ? "Instances" : AXES[axis];
    if (values.map(short).join("").length <= MAX_LETTERS) {
      return [words, ...values.map((value) => {
        const made = button(short(value), value, () => go(axis, value));
        made.value = value;
        return made;
      })];
    }
    const list = make("select", { "aria-label": AXES[axis] }, ...values.map((value) => make("option", { value }, value || "none")));
    list.addEventListener("change", () => go(axis, list.value));
    return [words, list];
  }

  // Dollars per month of 30 days, for the load that a reader names: until then, one result of each instance a day.
  const load = make("input", { type: "number", min: 1, id: "load" });
  let isNamed = false;
  const month = make("b", {}), per = make("span", {});
  function priced(panel) {
    if (!isNamed) load.value = panel?.dataset.instances ?? "";
    const usd = 30 * Number(panel?.dataset.usd) * Number(load.value);
    load.parentElement.hidden = !panel?.dataset.usd;
    per.textContent = `${panel?.dataset.per} a day, ${panel?.dataset.instances} at once: `;
    month.textContent = `$${usd.toLocaleString("en", { maximumFractionDigits: usd < 100 ? 2 : 0 })} a month`;
  }
  function makeLoad() {
    const place = document.querySelector(".why") ?? document.querySelector("#answer > h1");
    if (!place) return;
    place.after(make("label", { class: "load" }, load, " ", per, month));
    load.addEventListener("input", () => (isNamed = true) && priced(document.querySelector(".ranking.seen")));
  }

  // A head above several columns is as wide as those of them that are seen.
  function spans(table) {
    const [upper, lower] = table.tHead.rows;
    let at = 1;
    for (const head of lower ? [...upper.cells].slice(1) : []) {
      const whole = Number(head.dataset.span ||= head.colSpan);
      const seen = [...lower.cells].slice(at, at + whole).filter((cell) => !cell.classList.contains("out")).length;
      head.hidden = !seen;
      head.colSpan = Math.max(1, seen);
      at += whole;
    }
  }

  // What is long and folded away is one text, as nothing inside of noscript is parsed, until somebody wants to see it.
  // Behind what is zipped stands what a browser without scripts shows in its place.
  const isPacked = (element) => (element.matches(ZIPPED) ? unzipped.has(element) : !unzipped.has(element.previousElementSibling));
  const PACKED = `noscript, ${ZIPPED}`;
  const packed = (within) => [...within.children].filter((element) => element.matches(PACKED) && isPacked(element));

  function unpack(within) {
    for (const text of packed(within)) {
      // It is of the page, whose words are escaped in it as everywhere.
      const made = [...new DOMParser().parseFromString(textOf(text), "text/html").body.children];
      if (text.matches(ZIPPED)) text.nextElementSibling.remove();
      text.replaceWith(...made);
      for (const each of made) enliven(each);
    }
  }

  function enliven(place) {
    const all = (selector) => [...(place.matches?.(selector) ? [place] : []), ...place.querySelectorAll(selector)];
    if (isFiltered()) for (const element of all(MARKED)) element.classList.toggle("out", isOut(element));
    for (const figure of all(".drawn").filter(({ id }) => charts[id])) {
      drawn.push(new Chart(figure));
      link(figure.querySelector("h3"), figure.id);
    }
    for (const frame of all(".table")) tools(frame);
    for (const table of all(".table table:not(.heat)")) sortable(table);
  }

  // The element of an id, unpacked if need be.
  function placed(id) {
    const holder = [...document.querySelectorAll(PACKED)].find((text) => isPacked(text) && textOf(text).includes(` id="${id}"`));
    if (id && holder && !document.getElementById(id)) unpack(holder.parentElement);
    return document.getElementById(id);
  }

  function reveal(id) {
    const target = placed(id);
    if (!target) return;
    for (let above = target; above; above = above.parentElement) if (above.matches("details")) above.open = true;
    document.querySelector("main").classList.add("long");
    target.scrollIntoView();
  }

  function makeChips() {
    const groups = Object.entries(facets).map(([mark, names]) => make("div", { role: "group", "aria-label": `Show only these: ${KINDS[mark]}` },
      make("span", {}, KINDS[mark]), ...names.map((name, index) => {
        const chip = make("button", { type: "button", "aria-pressed": "false" }, name);
        chip.addEventListener("click", () => {
          if (!chosen[mark].delete(index)) chosen[mark].add(index);
          history.replaceState(null, "", address());
          choose();
        });
        chips.set(`${mark}${index}`, chip);
        return chip;
      })));
    const folded = make("details", { class: "chips" }, make("summary", {}, "Filter by storage, workload or fleet"), ...groups);
    folded.open = isFiltered();
    const picker = document.querySelector(".picker"), place = document.querySelector(".first") ?? document.querySelector("main").firstChild;
    if (groups.length) place[place.matches("nav") ? "after" : "before"](folded, shown);
    if (groups.length && picker) picker.append(folded);
  }

  // Dark or light: as the system has it, until the button is pressed; where pages may keep something, the choice stays.
  function makeAppearance() {
    const system = matchMedia("(prefers-color-scheme: dark)"), KEPT = "report-appearance";
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules])
      .filter((rule) => rule.media?.mediaText.includes("prefers-color-scheme")).map((rule) => [rule, rule.media.mediaText]);
    let choice = "";
    try { choice = localStorage.getItem(KEPT) ?? ""; } catch { /* in the console's frame */ }
    const isDark = () => (choice || (system.matches ? "dark" : "light")) === "dark";
    const made = button("", "", () => {
      choice = isDark() ? "light" : "dark";
      try { localStorage.setItem(KEPT, choice); } catch { /* it holds until the page is closed */ }
      show();
    });
    const show = () => {
      for (const [rule, media] of rules) rule.media.mediaText = choice ? (choice === "dark" ? "screen" : "not all") : media;
      document.documentElement.style.colorScheme = choice;
      made.textContent = isDark() ? "Light" : "Dark";
      made.setAttribute("aria-label", `${made.textContent} appearance`);
    };
    system.addEventListener("change", show);
    (document.querySelector("header nav") ?? document.querySelector("header")).append(make("div", { class: "tools appearance" }, made));
    show();
  }

  drawReceipt();
  makeAppearance();
  document.documentElement.classList.add("scripted");
  enliven(document);
  readAddress();
  makePicker();
  makeChips();
  makeLoad();
  for (const frame of document.querySelectorAll("#matrix > .table")) turnable(frame);
  // A browser goes by itself to what is there, and unfolds it.
  function arrive() {
    readAddress();
    choose();
    if (isFiltered() || !document.getElementById(place)?.matches(":not(.ranking)")) reveal(place);
  }
  arrive();
  addEventListener("hashchange", arrive);
  document.addEventListener("toggle", (event) => { if (event.target.open) unpack(event.target); }, true);
  // Links keep what was chosen, which the browser would drop.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || !isFiltered()) return;
    event.preventDefault();
    place = link.getAttribute("href").slice(1);
    history.pushState(null, "", address());
    choose();
    reveal(place);
  });
  addEventListener("popstate", () => { readAddress(); choose(); });
  for (const heading of document.querySelectorAll("section[id] > h2")) link(heading, heading.parentElement.id);
  // Print shows the caveats and costs of the answer, and all charts: what is folded is unfolded.
  let folded = [];
  addEventListener("beforeprint", () => {
    const folds = () => [...document.querySelectorAll("details:not([open])")];
    for (const block of folds()) if (packed(block).some((text) => /class="chart"/.test(textOf(text)))) unpack(block);
    folded = folds().filter((block) => block.matches(".doubts > *, .seen > *") || block.querySelector(".chart"));
    for (const block of folded) block.open = true;
  });
  addEventListener("afterprint", () => { for (const block of folded) block.open = false; });
})();
