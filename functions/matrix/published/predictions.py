"""The quality of predictions: docs/records/predictions.md, made from the published builds.

Each law is fitted on at most 100 instances and compared with the published cells of 200. `make predictions` prints the
page by `python -m matrix.published.predictions`; a test fails when it is out of date.
"""

import json
import math
import statistics
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from matrix.answer.scaling.fitting import LEAST_SIZES as FITTABLE_SIZES
from matrix.answer.scaling.fitting import HeldAgainst, Scaling, analyse, compare_with_truth
from matrix.answer.scaling.laws import MODELS
from matrix.answer.scaling.noise import ASSUMED_NOISE, NORMAL_95, noise_of
from matrix.answer.scaling.series import Series
from matrix.input.storage_names import storage_label
from matrix.published.figures import YOCTO, ZERO_BYTE, SourceRow, load
from matrix.terms.figures import ABSENT

LARGEST_FITTED = 100
PREDICTED = 200
LEVELS = ("p50", "p90")
LEAST_SIZES = 3

HEAD = f"""# How good predictions are

`matrix fit` predicts sizes that were not measured. Here it is judged: fitted on the published Yocto builds with
{LARGEST_FITTED} instances and fewer, it predicts the cells of {PREDICTED}, whose figures it has not seen.
Seconds; errors relative to the published figure. Source: {{source}}.

Made by `make predictions` from `functions/matrix/published/`; a test fails when this page is out of date.

The prediction is the geometric mean of the models that held-out points cannot tell apart. The range spans every law
that passes through the values within their noise; a range wider than a factor of two is refused. The models are
described in `functions/matrix/answer/scaling/laws.py`, the range in `reach.py` beside it.

Nobody knows the noise of these figures: each cell was built once. `matrix fit` then assumes a standard error of
{{assumed}}, and predicts none of them. So the table below supposes that each figure is known with a standard error of
{{error}} (95 %: give or take {{off}}); the one after it shows what other noise would do.

Bounds hold whatever the law is, if no instance becomes faster and the whole fleet does no less with
{PREDICTED} instances than with the largest measured size.
"""

NOTES = """## What to make of it

- **A prediction needs values that are known well.** With a standard error of 1 % {at_one} are predicted, with 3 %
  {at_three}. Three repetitions that differ by 5 % know a median to 3 to 6 %: such a run can interpolate, and must
  measure the size that matters.
- **All bounds hold the published figure**, {bounds_held} of {bounds_judged}. They are about a factor of two wide.
- **A range can miss.** With 1 % FSx for OpenZFS's P90 at 200 instances lies 1 % below its range. Either these figures
  are noisier, or none of the laws holds to 1 %.
- **The model of the least held-out error alone would do worse** than the mean: {chosen_error:.0f} % off in the
  median, {chosen_worst:.0f} % at worst, against {median_error:.0f} and {worst:.0f} %. It is the USL in each series,
  whose square term turns a curve that has just bent into one that bends ever further. That the mean does better was
  settled with these very tables in view.
- **No law sees a bottleneck beyond the measured sizes.** A rate that is capped at 120 instances, or halves there, looks
  like one that is not, up to 100. Such series are refused as not slowed down.
- **Few sizes**: where three sizes were measured, any model fits. What would have been said is shown to show why.
- **Left out**: the published row of EFS provisioned with 200 instances is its 100-instance row, digit for digit. It is
  neither fitted nor judged against; predicted is what it might have been.
"""
# Standard errors at which the page judges, and the one of its first table.
ERRORS = (0.01, 0.02, 0.03, 0.05)
SHOWN_ERROR = 0.02


@dataclass(frozen=True)
class Judged:
    """A series of sizes, the prediction for a larger size, and the published value there."""

    name: str
    level: str
    scaling: Scaling
    truth: float | None
    row: HeldAgainst

    @property
    def bounds(self) -> dict[str, float]:
        """Limits of the value for any law. All judged sizes are beyond the fitted ones."""
        return self.row["bounds"] or {}

    def error_of(self, model: str) -> float | None:
        """Return the relative error of a single model's prediction; None without the model or a published value."""
        curves = [candidate.curve for candidate in self.scaling.candidates if candidate.curve.model == model]
        if not curves or self.truth is None:
            return None
        return self.scaling.value(curves[0], self.row["n"]) / self.truth - 1


def judged_builds(error: float | None = SHOWN_ERROR) -> list[Judged]:
    """Fit each published storage that has enough sizes, and compare its prediction with the published figure."""
    cells: dict[str, list[SourceRow]] = {}
    for cell in load(YOCTO)["cells"]:
        if cell["percentiles_s"]:
            cells.setdefault(json.dumps(cell["storage"]), []).append(cell)
    return [
        _judged(storage_label(json.loads(storage)), level, of_storage, error)
        for storage, of_storage in cells.items()
        if len([cell for cell in of_storage if cell["instances"] <= LARGEST_FITTED]) >= LEAST_SIZES
        for level in LEVELS
    ]


def _judged(name: str, level: str, cells: list[SourceRow], error: float | None) -> Judged:
    # A row with a note is wrong in its source.
    known = {cell["instances"]: float(cell["percentiles_s"][level]) for cell in cells if not cell.get("note")}
    fitted = {n: value for n, value in known.items() if n <= LARGEST_FITTED}
    known_to = _known_to(error, tuple(fitted), tuple(fitted.values()), higher_is_better=False)
    sizes, values = np.array(known_to.n, dtype=float), np.array(known_to.value)
    # The fits do not depend on the noise, and take most of the time.
    scaling = replace(_fitted(known_to.n, known_to.value), series=known_to, noise=noise_of(known_to, sizes, values))
    truth = known.get(PREDICTED)
    row = compare_with_truth(scaling, [(PREDICTED, truth if truth is not None else math.nan)])[0]
    return Judged(name, level, scaling, truth, row)


@cache
def _fitted(n: tuple[int, ...], value: tuple[float, ...]) -> Scaling:
    return analyse(Series(n, value, higher_is_better=False))


def _known_to(error: float | None, n: tuple[int, ...], value: tuple[float, ...], *, higher_is_better: bool) -> Series:
    """A series whose values have this standard error; without intervals if it is not known (None)."""
    if error is None:
        return Series(n, value, higher_is_better)
    off = math.exp(NORMAL_95 * error)
    low, high = tuple(each / off for each in value), tuple(each * off for each in value)
    return Series(n, value, higher_is_better, low=low, high=high)


def judged_threads() -> Judged:
    """Fit the published sweep of threads up to 16, and predict 32."""
    sweep = load(ZERO_BYTE)["sweep"]
    fitted, last = sweep[:-1], sweep[-1]
    n, value = (tuple(row[name] for row in fitted) for name in ("threads", "iops"))
    scaling = analyse(_known_to(SHOWN_ERROR, n, value, higher_is_better=True))
    row = compare_with_truth(scaling, [(last["threads"], last["iops"])])[0]
    return Judged("EFS, zero-byte files, own directories", "files/s", scaling, last["iops"], row)


def page() -> str:
    """Return docs/records/predictions.md."""
    builds = judged_builds()
    blocks = [
        HEAD.format(
            source=load(YOCTO)["source"],
            assumed=f"{100 * ASSUMED_NOISE:.0f} %",
            error=f"{100 * SHOWN_ERROR:.0f} %",
            off=f"{100 * math.expm1(NORMAL_95 * SHOWN_ERROR):.0f} %",
        ),
        "## 200 instances, predicted from 100 and fewer\n",
        _table(builds),
        "",
        "## The same with other noise\n",
        _by_noise(),
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
        "and more threads even did more than their share, so the bounds do not hold either. With a standard error of 1 "
        "% no law passes through the five values, and the prediction is refused. Measure the size that matters.",
    ]
    return "\n".join(blocks) + "\n"


def _table(judged: list[Judged]) -> str:
    heads = ("Storage", "", "fitted on", "predicted", "range", "bounds", "published", "error", "in range")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---:|---:|---:|---:|---:|---|"]
    for prediction in judged:
        row = prediction.row
        sizes = ", ".join(str(n) for n in sorted(prediction.scaling.series.n))
        value, between = f"{row['value']:,.0f}", f"{row['low']:,.0f} – {row['high']:,.0f}"
        if row["refused"]:
            value, between = f"refused ({value})", ABSENT
        bounds = f"{prediction.bounds['low']:,.0f} – {prediction.bounds['high']:,.0f}"
        truth = "–" if prediction.truth is None else f"{prediction.truth:,.0f}"
        error = "–" if prediction.truth is None else f"{100 * row['error']:+.1f} %"
        is_judged = prediction.truth is not None and not row["refused"]
        inside = ABSENT if not is_judged else "yes" if row["is_within"] else "no"
        level = prediction.level.upper() if prediction.level in LEVELS else prediction.level
        figures = (value, between, bounds, truth, error, inside)
        lines.append(f"| {prediction.name} | {level} | {sizes} | {' | '.join(figures)} |")
    return "\n".join(lines)


def _by_noise() -> str:
    lines = ["| Standard error of each figure | predicted | ranges that hold the published figure |", "|---|---:|---:|"]
    for error in (*ERRORS, None):
        known, given = _predicted(error)
        name = f"not known ({100 * ASSUMED_NOISE:.0f} % is assumed)" if error is None else f"{100 * error:.0f} %"
        held = f"{sum(prediction.row['is_within'] for prediction in given)} of {len(given)}" if given else ABSENT
        lines.append(f"| {name} | {len(given)} of {len(known)} | {held} |")
    return "\n".join(lines)


def _predicted(error: float | None) -> tuple[list[Judged], list[Judged]]:
    """The builds with a published figure and enough sizes, and the predicted ones among them."""
    known = [
        prediction
        for prediction in judged_builds(error)
        if prediction.truth is not None and len(prediction.scaling.series.n) >= FITTABLE_SIZES
    ]
    return known, [prediction for prediction in known if not prediction.row["refused"]]


def _models(judged: list[Judged]) -> str:
    lines = [f"| Storage | | {' | '.join(MODELS)} |", f"|---|---|{'---:|' * len(MODELS)}"]
    for prediction in judged:
        if prediction.truth is None:
            continue
        errors = []
        for model in MODELS:
            error = prediction.error_of(model)
            text = "–" if error is None else f"{100 * error:+.0f} %"
            is_chosen = model == prediction.row["model"] and len(prediction.scaling.series.n) >= FITTABLE_SIZES
            errors.append(f"**{text}**" if is_chosen else text)
        lines.append(f"| {prediction.name} | {prediction.level.upper()} | {' | '.join(errors)} |")
    return "\n".join(lines)


def _notes(judged: list[Judged]) -> str:
    known = [prediction for prediction in judged if prediction.truth is not None]
    counted = [prediction for prediction in known if len(prediction.scaling.series.n) >= FITTABLE_SIZES]
    errors = [100 * abs(prediction.row["error"]) for prediction in counted]
    chosen = [
        100 * abs(error)
        for prediction in counted
        if (error := prediction.error_of(prediction.row["model"])) is not None
    ]
    held = sum(prediction.bounds["low"] <= prediction.truth <= prediction.bounds["high"]
               for prediction in known if prediction.truth is not None)  # fmt: skip
    at_one, at_three = (f"{len(given)} of {len(known)}" for known, given in (_predicted(0.01), _predicted(0.03)))
    return NOTES.format(
        at_one=at_one, at_three=at_three, bounds_held=held, bounds_judged=len(known),
        median_error=statistics.median(errors), worst=max(errors),
        chosen_error=statistics.median(chosen), chosen_worst=max(chosen),
    )  # fmt: skip


if __name__ == "__main__":
    print(page(), end="")
