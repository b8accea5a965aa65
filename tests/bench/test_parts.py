"""`make bench` runs each part, whatever becomes of those before it."""

import importlib.util
import re
from pathlib import Path

import pytest

import bench.__main__ as parts

MAKEFILE = Path(__file__).parents[2] / "Makefile"


def test_each_part_is_a_module():
    for module, *_ in parts.PARTS.values():
        assert importlib.util.find_spec(module) is not None


def test_a_part_that_fails_is_named_at_the_end_and_does_not_keep_the_next_from_running(monkeypatch, capfd):
    monkeypatch.setattr(parts, "PARTS", {"broken": ["bench.nothing"], "gates": ["bench.gates", "--help"]})
    monkeypatch.setattr("sys.argv", ["bench"])

    assert parts.main() == 1

    printed = capfd.readouterr().out
    assert "usage: python -m bench.gates" in printed
    assert printed.endswith("failed: broken\n")


def test_a_part_that_does_not_exist_is_refused_with_those_that_do(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["bench", "engine"])

    with pytest.raises(SystemExit):
        parts.main()

    assert "no part is called engine; there are engines, demo," in capsys.readouterr().err


def test_the_two_targets_run_each_part_once():
    [default] = re.findall(r"^PARTS \?= (.+)$", MAKEFILE.read_text(), re.MULTILINE)
    [fleets] = re.findall(r"-m bench ([a-z ]+)$", MAKEFILE.read_text(), re.MULTILINE)

    assert [*default.split(), *fleets.split()] == list(parts.PARTS)
