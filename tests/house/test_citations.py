"""What code, tests and pages cite is in this repository: whoever doubts a figure can read where it is from."""

import re
import subprocess
from pathlib import Path

import pytest
from support import limits_table

ROOT = Path(__file__).resolve().parents[2]
TEXTS = {".py", ".md", ".json", ".yaml", ".toml", ".sh", ""}
ADDRESS = re.compile(r"https?://\S+")
PAGE = re.compile(r"(?<![\w/.*{}<-])(?:[\w.-]+/)*[\w-]+\.md\b")
# A folder beside the repository, and a ticket that only its writer can open.
ELSEWHERE = re.compile(r"\.\./shared/|\bshared/[\w-]+\.md|\bthe issue of\b")
# Pages that runs, commands and the wheel have, and pages of projects that are named beside them.
WRITTEN = {"verification.md", "report.md", "summary.md", "storage_matrix/README.md"}
OF_OTHERS = {"BENCHMARKING.md", "Encodings.md", "RESULTS.md"}


def tracked():
    """The texts under version control, but for recordings and this file."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    paths = [ROOT / name for name in listed.split("\0") if name]
    return [path for path in paths if path.suffix in TEXTS and path.is_file() and path != Path(__file__).resolve()]


def missing(text, folder):
    """The pages that a text of this folder cites and nobody has."""
    cited = set(PAGE.findall(ADDRESS.sub("", text))) - WRITTEN - OF_OTHERS
    places = (ROOT, folder, ROOT / "docs", ROOT / "docs/records")
    return sorted(page for page in cited if not any((place / page).exists() for place in places))


def test_each_page_that_is_cited_is_in_the_repository():
    found = {
        str(path.relative_to(ROOT)): pages
        for path in tracked()
        if (pages := missing(path.read_text(encoding="utf-8", errors="replace"), path.parent))
    }

    assert found == {}


def test_nothing_is_cited_that_only_its_writer_has():
    texts = {path: path.read_text(encoding="utf-8", errors="replace") for path in tracked()}

    assert [str(path.relative_to(ROOT)) for path, text in texts.items() if ELSEWHERE.search(text)] == []


@pytest.mark.parametrize(
    ("text", "pages"),
    [
        ("measured on two cores (nowhere.md, November)", ["nowhere.md"]),
        ("see docs/nowhere.md", ["docs/nowhere.md"]),
        ("see docs/limits.md, limits.md and https://example.com/nowhere.md", []),
    ],
)
def test_a_page_that_nobody_has_is_found(text, pages):
    assert missing(text, ROOT) == pages


def test_each_limit_has_a_source_with_an_address_and_the_month_in_which_it_was_read():
    for name, limit in limits_table.stated():
        assert limits_table.source_of(limit) in limits_table.SOURCES, name
        assert re.fullmatch(r"20\d\d-[01]\d", limit.read), name


def test_the_page_of_limits_is_that_of_the_code():
    assert limits_table.PAGE.read_text(encoding="utf-8") == limits_table.page(), "make limits"
