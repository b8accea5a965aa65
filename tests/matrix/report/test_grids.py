"""A grid for each storage whose cells swept two parameters with each other."""

import re

from support.runs_for_reports import build_run

from matrix.report.grids import grids
from matrix.report.page import view_of


def swept(values):
    """The section of a run whose cells swept threads and block size: seconds by (threads, bytes of a block)."""
    summary, _, _ = build_run({"ebs": {1: 3000.0}, "efs": {1: 3800.0}})
    for cell in summary["cells"]:
        [point] = cell["points"]
        metric = point["metrics"]["duration_s"]
        cell["points"] = [
            {
                **point,
                "id": f"p{n}",
                "params": {"threads": threads, "block_bytes": block},
                "metrics": {"duration_s": {**metric, "p50": seconds}},
            }
            for n, ((threads, block), seconds) in enumerate(values.items())
        ]
    return grids(view_of(summary)).text


def rows(section):
    """The first table, row by row, without its tags."""
    table = section.partition("<table")[2].partition("</table>")[0]
    return [re.findall(r"<t[hd][^>]*>(?:<span>)?([^<]*)", row) for row in table.split("<tr>")[1:]]


def test_blocks_stand_down_threads_across_and_the_best_is_marked():
    section = swept({(1, 4096): 8000.0, (1, 1 << 20): 4000.0, (4, 4096): 3600.0, (4, 1 << 20): None})

    assert section.count("<table") == 2
    assert rows(section) == [
        ["block ↓, threads →", "1", "4"],
        ["4 KiB", "133m 20s", "60m 00s"],
        ["1 MiB", "66m 40s", "not measured"],
    ]
    cells = re.findall(r'<td class="([^"]*)"(?: data-value="([^"]*)")?', section.partition("</table>")[0])
    assert cells == [("level-5", "8000.0"), ("level-0 best", "3600.0"), ("level-2", "4000.0"), ("absent", "")]


def test_a_sweep_of_one_parameter_has_none():
    assert swept({(1, 4096): 1.0, (2, 4096): 2.0}) == ""
