// The report in place, in a frame that has no way to this page; it is there once the run has ended.

import { make, replace } from "./dom.js";

export function showReport(box, { header }) {
  if (box.dataset.view === "report" && box.dataset.report === header.report) return;
  box.dataset.view = "report";
  box.dataset.report = header.report;
  replace(box, header.report
    ? [make("p", { class: "quiet" }, make("a", { href: header.report, target: "_blank", rel: "noopener" }, "Open it in a tab of its own")),
      make("iframe", { class: "report", title: "Report of the run", src: header.report, sandbox: "allow-scripts allow-downloads allow-popups" })]
    : make("p", { class: "quiet" }, "The report is written when the run has ended."));
}
