"""How a run came out beside another one: the document, and that it says what `matrix compare` says."""

import pytest
from support.values_documents import values

from matrix.answer.comparing import compare, comparison_of
from matrix.terms.documents.compared import ComparisonDocument
from matrix.terms.documents.reading import read
from matrix.text.comparisons import comparison_lines


@pytest.mark.parametrize(
    ("before", "after", "how", "verdict"),
    [
        ((10.0, 20.0), (15.0, 20.0), {}, "slower"),
        ((10.0, 20.0), (10.0, 10.0), {}, "faster"),
        ((10.0, 20.0), (15.0, 10.0), {}, "both"),
        ((10.0, 20.0), (10.0, 20.0), {}, "no-difference"),
        ((10.0,), (20.0,), {"repetitions": 1}, "cannot-tell"),
        ((0.0,), (10.0,), {}, "cannot-tell"),
    ],
)
def test_the_verdict_is_that_of_compare(before, after, how, verdict):
    base, run = values("base", *before, **how), values("run", *after, **how)
    seen = comparison_of(base, run, "base")
    known = compare(base, run, threshold=0.05)

    assert read(ComparisonDocument, seen, "comparison.json")["verdict"] == verdict
    assert seen["slower"] == sum(point["verdict"] == "slower" for point in known["compared"])
    assert seen["faster"] == sum(point["verdict"] == "faster" for point in known["compared"])
    assert seen["regressions"] == known["regressions"]
    assert seen["detectable_ratio"] == (known["power"] and known["power"]["ratio"])


def test_the_largest_change_for_the_worse_comes_first_and_five_are_kept():
    base, run = values("base", *[10.0] * 8), values("run", *[11.0 + number for number in range(7)], 1.0)
    seen = comparison_of(base, run, "base")

    assert [change["verdict"] for change in seen["changes"]] == ["slower"] * 5
    worst = seen["changes"][0]
    assert (worst["ratio"], worst["change"]) == (pytest.approx(1.7), pytest.approx(0.7))
    assert seen["verdict"] == "both"


@pytest.mark.parametrize("nights", [4, 5])
def test_launches_of_one_night_need_the_caution_until_five_nights_are_known(nights):
    *past, run = [
        values(f"night {night}", seconds, 20.0, started_at=86_400.0 * night)
        for night, seconds in enumerate([*[10.0, 10.2, 9.9, 10.1, 10.0][:nights], 15.0])
    ]
    for each in (*past, run):
        [cell] = each["cells"]
        cell["is_relaunched"], cell["launches"] = True, [1 + number // 4 for number in range(12)]
    seen = comparison_of(past[0], run, "base", past)

    assert (seen["verdict"], seen["runs"]) == ("slower", nights if nights == 5 else 0)
    assert seen["is_of_one_night"] == (nights < 5)


def test_emulated_storages_are_not_compared_with_measured_ones():
    seen = comparison_of(values("base", 10.0, environment="emulated"), values("run", 10.0), "base")

    assert seen["verdict"] == "not-compared"
    assert {seen[name] for name in ("points", "slower", "faster", "unjudged", "regressions")} == {0}
    assert seen["reason"]


@pytest.mark.parametrize("others", [True, False])
def test_a_cell_that_was_not_measured_is_told_whatever_the_others_say(others):
    base, run = values("base", 10.0), values("run", 5.0)
    [cell], [kept] = base["cells"], run["cells"]
    gone = {"storage": {"type": "efs"}, "id": "efs.touch"}
    base["cells"].append({**cell, **gone})
    run["cells"] = [kept] * others + [{**kept, **gone, "state": "skipped", "reason": "budget", "points": []}]

    seen = comparison_of(base, run, "base")

    assert seen["lost"][-1] == {"cell": "efs.touch", "points": ["threads 1"], "reason": "skipped: budget"}
    assert seen["verdict"] == ("faster" if others else "not-compared")
    assert comparison_lines(seen)[0].startswith("Not measured: e")
