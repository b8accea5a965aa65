"""How good predictions are: docs/predictions.md, made from the published builds.

Each law is fitted on at most 100 instances and compared with the published cells of 200. `make predictions` prints the
page by `python -m matrix.published.predictions`; a test fails when it is out of date.
"""

import json
import math
import statistics
from dataclasses import dataclass
from typing import Any

from matrix.answer.scaling.fitting import Scaling, analyse, compare_with_truth
from matrix.answer.scaling.laws import MODELS
from matrix.answer.scaling.series import Series
from matrix.input.storage_names import storage_label
from matrix.published.figures import YOCTO, ZERO_BYTE, load

LARGEST_FITTED = 100
PREDICTED = 200
LEVELS = ("p50", "p90")
LEAST_SIZES = 3

HEAD = f"""# How good predictions are

`matrix fit` predicts sizes that were not measured. Here it is judged: fitted on the published Yocto builds with
{LARGEST_FITTED} instances and fewer, it predicts the cells of {PREDICTED}, whose figures it has not seen.
Seconds; errors relative to the published figure. Source: {{source}}.

Made by `make predictions` from `functions/matrix/published/`; a test fails when this page is out of date.

The prediction is the geometric mean of the models that held-out points cannot tell apart, the range spans them all. It
is no confidence interval. The models are described in `functions/matrix/answer/scaling/laws.py`.
"""

NOTES = """## What to make of it

- **{within} of {judged} ranges hold the published figure; the median error is {median_error:.0f} %,
  the worst {worst:.0f} %.** The ranges are wide: good enough to decide which sizes to measure next, not to do without
  measuring them.
- **The model of the least held-out error alone would do worse: {chosen_error:.0f} % in the median,
  {chosen_worst:.0f} % at worst.** It is the USL in each series, whose square term turns a curve that has just bent into
  one that bends ever further, while the storages settle to a straight line.
- **These tables are no fair test of taking the mean.** That it does better, and how much worse a model may be to be in
  it (10 points), was settled with these very tables in view. On the sweep of threads below, which had no part in that,
  the prediction fails.
- **Where it is bad**: the FSx for OpenZFS file system's P50 goes 6,295 → 8,349 → 12,091 s from 50 to 100 to 200
  instances. Its knee lies between two measured sizes and one point lies beyond it; models that agree on what was
  measured differ by half at 200, and that the mean of them comes close is luck as much as judgement. EFS elastic errs
  the other way: it still bends between 100 and 200, and the mean is {elastic:.0f} % off.
- **Refused**: where three sizes were measured, any model fits. What would have been said is shown to show why.
- **Left out**: the published row of EFS provisioned with 200 instances is its 100-instance row, digit for digit. It is
  neither fitted nor judged against; predicted is what it might have been.
"""


@dataclass(frozen=True)
class Judged:
    """A series of sizes, the prediction for a larger size, and the published value there."""

    name: str
    level: str
    scaling: Scaling
    truth: float | None
    row: dict[str, Any]

    def error_of(self, model: str) -> float | None:
        """Return the relative error of a single model's prediction; None without the model or a published value."""
        curves = [candidate.curve for candidate in self.scaling.candidates if candidate.curve.model == model]
        if not curves or self.truth is None:
            return None
        return self.scaling.value(curves[0], self.row["n"]) / self.truth - 1


def judged_builds() -> list[Judged]:
    """Fit each published storage that has enough sizes, and compare its prediction with the published figure."""
    cells: dict[str, list[dict[str, Any]]] = {}
    for cell in load(YOCTO)["cells"]:
        if cell["percentiles_s"]:
            cells.setdefault(json.dumps(cell["storage"]), []).append(cell)
    return [
        _judged(storage_label(json.loads(storage)), level, of_storage)
        for storage, of_storage in cells.items()
        if len([cell for cell in of_storage if cell["instances"] <= LARGEST_FITTED]) >= LEAST_SIZES
        for level in LEVELS
    ]


def _judged(name: str, level: str, cells: list[dict[str, Any]]) -> Judged:
    # A row with a note is wrong in its source.
    known = {cell["instances"]: float(cell["percentiles_s"][level]) for cell in cells if not cell.get("note")}
    fitted = {n: value for n, value in known.items() if n <= LARGEST_FITTED}
    scaling = analyse(Series(tuple(fitted), tuple(fitted.values()), higher_is_better=False))
    truth = known.get(PREDICTED)
    row = compare_with_truth(scaling, [(PREDICTED, truth if truth is not None else math.nan)])[0]
    return Judged(name, level, scaling, truth, row)


def judged_threads() -> Judged:
    """Fit the published sweep of threads up to 16, and predict 32."""
    sweep = load(ZERO_BYTE)["sweep"]
    fitted, last = sweep[:-1], sweep[-1]
    n, value = (tuple(row[name] for row in fitted) for name in ("threads", "iops"))
    scaling = analyse(Series(n, value, higher_is_better=True))
    row = compare_with_truth(scaling, [(last["threads"], last["iops"])])[0]
    return Judged("EFS, zero-byte files, own directories", "files/s", scaling, last["iops"], row)


def page() -> str:
    """Return docs/predictions.md."""
    builds = judged_builds()
    blocks = [
        HEAD.format(source=load(YOCTO)["source"]),
        "## 200 instances, predicted from 100 and fewer\n",
        _table(builds),
        "",
        "## Each model alone\n",
        "Error at 200 instances; **bold** is the model with the least held-out error.\n",
        _models(builds),
        "",
        _notes(builds),
        "## Another kind of series\n",
        "Zero-byte files per second of one instance with 1, 2, 4, 8 and 16 threads, predicted: 32 threads "
        f"({load(ZERO_BYTE)['source'].split(':', maxsplit=1)[0]}).\n",
        _table([judged_threads()]),
        "",
        "The published sweep is uneven: 634 at 8 threads, 820 at 16, 1,772 at 32. What looked like a ceiling was none, "
        "and nothing in the first five points says so. Measure the size that matters.",
    ]
    return "\n".join(blocks) + "\n"


def _table(judged: list[Judged]) -> str:
    heads = ("Storage", "", "fitted on", "predicted", "range", "published", "error", "in range")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---:|---:|---:|---:|---|"]
    for prediction in judged:
        row = prediction.row
        sizes = ", ".join(str(n) for n in sorted(prediction.scaling.series.n))
        value, between = f"{row['value']:,.0f}", f"{row['low']:,.0f} – {row['high']:,.0f}"
        if row["refused"]:
            value = f"refused ({value})"
        truth = "–" if prediction.truth is None else f"{prediction.truth:,.0f}"
        error = "–" if prediction.truth is None else f"{100 * row['error']:+.1f} %"
        inside = "–" if prediction.truth is None else "yes" if row["is_within"] else "no"
        level = prediction.level.upper() if prediction.level in LEVELS else prediction.level
        lines.append(f"| {prediction.name} | {level} | {sizes} | {value} | {between} | {truth} | {error} | {inside} |")
    return "\n".join(lines)


def _models(judged: list[Judged]) -> str:
    lines = [f"| Storage | | {' | '.join(MODELS)} |", f"|---|---|{'---:|' * len(MODELS)}"]
    for prediction in judged:
        if prediction.truth is None:
            continue
        errors = []
        for model in MODELS:
            error = prediction.error_of(model)
            text = "–" if error is None else f"{100 * error:+.0f} %"
            is_chosen = model == prediction.row["model"] and not prediction.row["refused"]
            errors.append(f"**{text}**" if is_chosen else text)
        lines.append(f"| {prediction.name} | {prediction.level.upper()} | {' | '.join(errors)} |")
    return "\n".join(lines)


def _notes(judged: list[Judged]) -> str:
    counted = [prediction for prediction in judged if prediction.truth is not None and not prediction.row["refused"]]
    errors = [100 * abs(prediction.row["error"]) for prediction in counted]
    chosen = [
        100 * abs(error)
        for prediction in counted
        if (error := prediction.error_of(prediction.row["model"])) is not None
    ]
    elastic = next(prediction for prediction in counted if "elastic" in prediction.name and prediction.level == "p50")
    return NOTES.format(
        within=sum(prediction.row["is_within"] for prediction in counted), judged=len(counted),
        median_error=statistics.median(errors), worst=max(errors),
        chosen_error=statistics.median(chosen), chosen_worst=max(chosen), elastic=100 * abs(elastic.row["error"]),
    )  # fmt: skip


if __name__ == "__main__":
    print(page(), end="")
