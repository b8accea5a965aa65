"""The report: one page of its own, every figure the summary's, whatever names and runs it is given."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from support.runs_for_reports import TWO_STORAGES, build_run, built_page, built_view, cell_of, swept_page

from matrix.answer.costs import Bill
from matrix.answer.decision import decide
from matrix.published.runs import published_run
from matrix.report import html, page, parts
from matrix.report.charts.cost import costs
from matrix.report.charts.medians import scaling
from matrix.report.html import LONG, Markup, details, tag
from matrix.report.html_table import html_table
from matrix.report.page import render
from matrix.tables.table import Table

VOID = {"meta", "br", "link", "img", "input", "hr"}
HOSTILE = '</script><script>alert(1)</script><img src=x onerror="alert(2)">&"\''


class Page(HTMLParser):
    """Reads a page, complains about tags that do not close, and keeps tables, ids, links and scripts."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.links, self.scripts, self.tags = [], [], [], [], []
        self.tables, self.captions, self.text, self.labels = [], [], "", []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.ids += [attributes["id"]] if "id" in attributes else []
        self.links += [attributes[name] for name in ("href", "src", "action", "data") if name in attributes]
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self.tables.append([])
            self.captions.append("")
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th"):
            self.tables[-1][-1].append([attributes.get("data-value"), ""])
        if tag == "script":
            self.scripts.append([attributes, ""])

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data):
        inside = self.open[-1] if self.open else ""
        if inside == "script":
            self.scripts[-1][1] += data
        elif inside != "style":
            self.text += data
        if inside == "text":
            self.labels.append(data)
        if "caption" in self.open:
            self.captions[-1] += data
        if "td" in self.open or "th" in self.open:
            self.tables[-1][-1][-1][1] += data


@pytest.fixture(scope="module")
def run():
    """Builds on two storages with one and ten instances, and the page of them."""
    summary, results, planned = build_run(TWO_STORAGES)
    return summary, results, planned


@pytest.fixture(scope="module")
def text(run):
    """That page."""
    summary, results, planned = run
    return render(summary, results=results, plan=planned)


@pytest.fixture(scope="module")
def read(text):
    """That page, read."""
    return Page(text)


def test_the_page_is_whole_html_with_each_id_once(read):
    assert read.open == []
    assert len(read.ids) == len(set(read.ids))
    assert [tag for tag, _ in read.tags[:2]] == ["html", "head"]


def test_links_lead_to_places_of_the_page(read):
    assert {link for link in read.links if not link.startswith("#")} == set()
    assert {link.removeprefix("#") for link in read.links} <= set(read.ids)


def test_the_page_has_no_address_and_its_policy_forbids_all(text):
    assert re.findall(r"https?://(?!www\.w3\.org/2000/svg)", text) == []
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', text)
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    styles = re.findall(r"<style[^>]*>(.*?)</style>", text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(own.encode()).digest()).decode() for own in (script, *styles)]
    run_hash, *style_hashes = (f"'sha256-{digest}'" for digest in hashes)
    assert policy == (
        f"default-src 'none'; script-src {run_hash}; style-src {' '.join(style_hashes)}; "
        "img-src blob:; base-uri 'none'; form-action 'none'"
    )


def test_every_chart_has_its_figures_and_says_how_it_is_read(read):
    charts = json.loads(next(text for attributes, text in read.scripts if attributes.get("id") == "charts"))
    drawn = [attributes["id"] for _, attributes in read.tags if attributes.get("class") == "drawn"]
    boxes = [attributes for _, attributes in read.tags if attributes.get("class") == "chart"]

    assert list(charts) == drawn
    assert {"scaling-build-jobs-4", "cost-build-jobs-4"} <= set(drawn)
    assert len(boxes) == len(drawn)
    assert all(len(box["aria-label"]) > 20 and box["tabindex"] == "0" for box in boxes)
    assert all(chart["series"] for chart in charts.values())


def test_storages_differ_in_more_than_colour(text):
    [scaling] = re.findall(r'<figure id="scaling-build-jobs-4".*?</figure>', text, re.DOTALL)
    shapes = {(style, *sorted(set(re.findall(r"#m\d", marks))))
              for style, marks in re.findall(r'<g class="s(\d)" data-group="\d"[^>]*>(.*?)</g>', scaling)
              if "#m" in marks}  # fmt: skip

    assert shapes == {("0", "#m0"), ("1", "#m1")}


def test_all_percentiles_of_the_tables_are_the_summarys(run, read):
    summary, _, _ = run
    percentiles = ["P0", "P50", "P75", "P90", "P98", "P100"]
    shown = next(rows for rows in read.tables if [one[1] for one in rows[0]][2:8] == percentiles)
    found = {
        (row[0][1].split()[0].lower(), row[1][1].split()[0]): [one[0] and float(one[0]) for one in row[2:8]]
        for row in shown[1:]
    }
    assert any(caption.startswith("build: Build time") for caption in read.captions)

    for kind, count in (("ebs", 1), ("ebs", 10), ("efs", 1), ("efs", 10)):
        metric = cell_of(summary, kind, count)["points"][0]["metrics"]["duration_s"]
        assert found[kind, str(count)] == [metric[f"p{level}"] for level in (0, 50, 75, 90, 98, 100)]


def heat(text):
    """The rows of the matrix by storage, each cell as its class and its text."""
    section = text.partition('<section id="matrix">')[2].partition("</section>")[0]
    rows = [re.findall(r"<t[dh](?: class=\"([^\"]*)\")?[^>]*>(.*?)</t[dh]>", row)
            for row in re.split("<tr[^>]*>", section)[1:]]  # fmt: skip
    plain = [[(kind, re.sub(r"<[^>]*>", " ", inner).strip()) for kind, inner in row] for row in rows]
    return {row[0][1]: row[1:] for row in plain}


def test_the_matrix_shows_how_far_each_storage_is_from_the_best_of_its_column(text):
    drawn = heat(text)

    assert [text for _, text in drawn["Storage"]] == ["1", "10"]
    assert [text.split("  ")[1] for _, text in drawn["EBS gp3"]] == ["○ ahead", "★ fastest"]
    assert [kind for kind, _ in drawn["EFS bursting"]] == ["level-1", "level-3"]
    # 3,200 s beside 3,000 is 1.07, and 3,900 beside 3,100 is 1.26; what differs is drawn at random, from one seed.
    assert [text.split("  ")[1] for _, text in drawn["EFS bursting"]] == ["×1.06 open", "×1.26"]


def test_the_matrix_says_what_failed_what_chance_may_explain_and_what_stands_alone():
    drawn = heat(built_page({"ebs": {1: 3000.0, 10: 3100.0}, "efs": {1: 3010.0}}, spread=0.05))

    assert drawn["EFS bursting"][1] == ("failed", "failed")
    assert drawn["EBS gp3"][1][0] == "alone"
    assert any("open" in row[0][1] for row in (drawn["EBS gp3"], drawn["EFS bursting"]))


def test_the_matrix_of_published_builds_has_no_failures_and_marks_what_is_left_out():
    drawn = heat(render(published_run("yocto", "published-yocto")))

    assert "failed" not in {kind for row in drawn.values() for kind, _ in row}
    assert drawn["EFS provisioned"][-1] == ("left-out", "137m 47s  left out")
    assert drawn["EBS gp3"][1] == ("absent", "–")


def test_a_run_that_recommends_nothing_says_so_before_it_ranks_and_marks_nothing_to_take():
    text = body_of(built_page(TWO_STORAGES, environment="local"))
    note = "No storage is recommended: this run ranks folders of one disk"

    assert text.index(f'<p class="note">{note}') < text.index('class="rankings"')
    assert text.count(note) == 1
    assert "★" not in text


def test_where_and_when_it_was_measured_and_priced_stands_directly_below_the_answer():
    summary, results, planned = build_run(TWO_STORAGES)
    planned = {**planned, "region": "eu-central-1", "created_at": 1_763_000_000.0}
    bases = {
        each["cost"]["basis"]
        for question in decide(summary, results=results)["questions"]
        for each in question["candidates"]
    }

    def below(text):
        return re.search(r'</div><p class="quiet origin">(.*?)</p>', text)[1]

    assert below(render(summary, results=results, plan=planned)).startswith(
        "<span><b>Measured</b> in eu-central-1, 1970-01-01</span>"
        "<span><b>Prices</b> list prices of eu-central-1, as planned, 2025-11-13</span>"
    )
    [basis] = bases
    assert f"<b>Prices</b> {basis}" in below(render(summary, results=results))
    published = below(render(published_run("yocto", "published-yocto")))
    assert "by others: muellerc/yocto-poky-reference-build-aws-comparison README (eu-central-1" in published
    assert "list prices of us-east-1, 2026-11" in published


def test_of_many_cells_the_page_leaves_metrics_that_judge_nothing_to_the_csv(monkeypatch):
    summary, results, planned = build_run(TWO_STORAGES)
    points = [point for cell in summary["cells"] for point in cell["points"]]
    for point in points:
        point["metrics"]["longest_stall_s"] = {**next(iter(point["metrics"].values())), "primary": False}
    rows = len(points)
    monkeypatch.setattr(parts, "MAX_OTHERS", rows)
    few = render(summary, results=results, plan=planned)
    monkeypatch.setattr(parts, "MAX_OTHERS", rows - 1)

    many = render(summary, results=results, plan=planned)

    assert "All other metrics</caption>" in few
    assert "All other metrics</caption>" not in many
    assert f"{rows:,} rows, too many" in many
    assert f"matrix results {summary['run']} --format csv" in many


def test_what_may_not_be_believed_is_in_no_curve_and_no_law():
    view = page.view_of(published_run("yocto", "published"))

    [curves], [cost] = list(scaling(view)), list(costs(view))

    [measured] = [one for one in curves.series if one.name == "EFS provisioned"]
    assert list(measured.x) == [1, 10, 50, 100]
    assert [note for note in curves.notes if note.startswith("left out: EFS provisioned at 200 instances: identical")]
    # Two of its four fleets: of the others the chart says why it has no P90.
    assert [len(one.x) for one in cost.series if one.name == "EFS provisioned"] == [2]
    assert cost.notes == [
        "Not drawn: 1 × m6i.4xlarge, as the number of samples behind P90 is not known.",
        "Not drawn: 10 × m6i.4xlarge, as the number of samples behind P90 is not known.",
    ]


def test_costs_of_the_tables_are_the_decisions(run, read):
    summary, results, planned = run
    decision = decide(summary, results=results, bill=Bill.of(planned, None))
    table_ = next(rows for rows in read.tables if any("start and idle time included" in one[1] for one in rows[0]))

    wanted = {one["cost"]["usd"] for question in decision["questions"] for one in question["candidates"]}
    assert {float(row[3][0]) for row in table_[1:]} == wanted


def test_hostile_names_are_text_everywhere():
    summary, results, planned = build_run(TWO_STORAGES)
    summary |= {"name": HOSTILE, "run": HOSTILE, "warnings": [HOSTILE]}
    for cell in summary["cells"]:
        cell["storage"] = {"type": HOSTILE, "name": HOSTILE}
        cell["fleet"] = cell["fleet"] | {"instanceType": HOSTILE}
        cell["points"][0] |= {"label": HOSTILE}
        cell["error"] = {"name": HOSTILE, "message": HOSTILE}
        results[cell["id"]]["provenance"] = {HOSTILE: {HOSTILE: 2}}
        results[cell["id"]]["points"][0]["samples"]["instance"] = [HOSTILE] * 3
    receipt = {
        "resources": [
            dict.fromkeys(("kind", "id", "file_system", "cell", "verified"), HOSTILE)
            | {"created_at": 1.0, "gone_at": None, "hours": 1.0, "cost_usd": 1.0}
        ],
        "totals": {"resources": 1, "gone": 0, "resources_usd": 1.0, "metered_usd": 0.0},
        "run": "r", "sweep": None, "is_complete": False, "unasked": [HOSTILE],
    }  # fmt: skip

    text = render(summary, results=results, plan=planned, receipt=receipt)
    read = Page(text)

    assert read.open == []
    # Charts, facets, receipt, script.
    assert len(read.scripts) == 4
    assert not any(name.startswith("on") for _, attributes in read.tags for name in attributes)
    assert "img" not in {tag for tag, _ in read.tags}
    assert HOSTILE in read.text
    # What stands under the pointer and in files comes from the charts' figures, which the script writes as text only.
    assert HOSTILE in next(
        text for attributes, text in read.scripts if attributes.get("id") == "charts"
    ).encode().decode("unicode_escape")
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write", text) == []
    # Only what is packed is parsed, and that is of the page.
    assert re.findall(r"parseFromString\((.+?),", text) == ["textOf(text)"]


@pytest.mark.parametrize(
    "summary",
    [
        {"run": "r"},
        {"run": "r", "cells": [], "environment": "aws", "status": "failed"},
        published_run("yocto", "published"),
        {**build_run({"ebs": {2: 3000.0}})[0], "decision": None, "receipt": None},
    ],
    ids=["minimal", "nothing measured", "published", "without results"],
)
def test_runs_of_which_little_is_known_have_a_page(summary):
    read = Page(render(summary))

    assert read.open == []
    assert "Answer" in read.text


def test_a_failed_cell_stands_there_with_its_reason():
    read = Page(built_page({"ebs": {1: 3000.0, 2: 3000.0}, "efs": {1: 3000.0}}))

    assert "Cells without a result" in read.text
    assert "FleetFailed: nobody came" in read.text


def test_tables_keep_whole_values_beside_what_is_read():
    [rows] = Page(html_table(Table.of("c", ("a", "b"), [("x", 1234.5678)])).text).tables

    assert rows[1][1] == ["1234.5678", "1,235"]


def test_what_is_long_and_folded_away_is_one_text_to_a_browser_with_scripts():
    words = tag("p", "<noscript>")
    long = Markup(words.text * (LONG // len(words.text) + 1))

    assert "noscript>" not in details("Short", words).text
    assert "noscript>" not in details("Open", long, is_open=True).text
    # One in another would end with the first end tag.
    for block in (details("Long", long), details("Outer", details("Long", long))):
        assert block.text.count("<noscript>") == block.text.count("</noscript>") == 1
        assert long.text in block.text


def test_what_is_zipped_cannot_be_packed_again():
    """The script unzips what stands in the page when it opens, and nothing that comes out of another pack."""
    inner = html.zipped(tag("p", "x"), "elsewhere")

    for fold in (html.packed, lambda each: html.zipped(each, "elsewhere")):
        with pytest.raises(ValueError, match="packed again"):
            fold(inner)


def test_the_ceiling_of_each_cell_stands_with_its_evidence_and_beside_each_verdict(run, read):
    summary, _, _ = run
    shown = next(rows for rows in read.tables if rows[0][1][1] == "Bottleneck")
    verdicts = next(rows for rows in read.tables if [one[1] for one in rows[0]][5:6] == ["Bottleneck"])

    assert len(shown) == 1 + len(summary["cells"])
    assert {row[1][1] for row in shown[1:]} == {"client CPU"}
    assert {row[2][1] for row in shown[1:]} == {"processors 95 % busy"}
    assert {row[5][1] for row in verdicts[1:]} == {"client CPU"}
    assert "EC2's network allowances: neither the network card nor ethtool counts them" in read.text


def test_of_many_cells_the_bottlenecks_of_each_storage_stand_first_and_those_of_cells_are_folded():
    summary, results, planned = build_run({name: dict.fromkeys(range(1, 9), 3000.0) for name in ("ebs", "efs")})

    page = Page(render(summary, results=results, plan=planned))

    of_storages = next(rows for rows in page.tables if [cell[1] for cell in rows[0]][1:3] == ["Bottleneck", "Cells"])
    assert [[cell[1] for cell in row][:4] for row in of_storages[1:]] == [
        ["EBS gp3", "client CPU", "8 of 8", "build"],
        ["EFS bursting", "client CPU", "8 of 8", "build"],
    ]
    of_cells = next(rows for rows in page.tables if [cell[1] for cell in rows[0]][:2] == ["Cell", "Bottleneck"])
    assert len(of_cells) == 1 + 16


def test_speed_of_this_machine_is_held_against_no_price_of_aws():
    assert list(costs(built_view(TWO_STORAGES, environment="local"))) == []


def receipt_in(text):
    """The island of a page that its script draws the receipt from."""
    [island] = [text for attributes, text in Page(text).scripts if attributes.get("id") == "receipt"]
    return island


def test_after_a_sweep_the_page_has_the_receipt_that_would_be_drawn_now_and_nothing_else_new():
    at_end, swept, drawn_now = swept_page()

    assert "the sweep after the run found nothing more" in receipt_in(swept)
    assert "till there: instance" in receipt_in(at_end)
    assert "till there" not in receipt_in(swept)
    assert receipt_in(swept) == receipt_in(drawn_now)
    assert swept.replace(receipt_in(swept), "") == at_end.replace(receipt_in(at_end), "")


def test_a_value_far_from_the_others_is_marked_with_its_instance_and_left_out_of_nothing():
    summary, results, planned = build_run({"ebs": {10: 3000.0}})
    metric = cell_of(summary, "ebs", 10)["points"][0]["metrics"]["duration_s"]
    metric["outliers"] = {
        "fences": {"low": 2900.0, "high": 3100.0}, "count": 21,
        "listed": [{"instance": "i-0007", "repetition": 2, "value": 4000.0, "side": "high", "kind": "far out"}],
    }  # fmt: skip

    read = Page(render(summary, results=results, plan=planned))

    [listed] = [rows for rows, name in zip(read.tables, read.captions, strict=True) if "far from the others" in name]
    assert [one[1] for one in listed[1][3:]] == ["i-0007", "2", "66m 40s", "far out, high"]
    assert "Values far from the others: 21, none left out" in read.text
    titles, row = next(rows[:2] for rows in read.tables if "Far off" in [one[1] for one in rows[0]])
    assert row[[one[1] for one in titles].index("Far off")][1] == "21"


def body_of(page):
    """A page without its head, where the style is."""
    return page.partition("<body>")[2]
