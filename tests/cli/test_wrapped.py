"""Sentences of the terminal break between words, and their later lines hang below the text."""

import io
import re
from collections import Counter
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

from cli.messages import terminal

ROOT = Path(__file__).parents[2]
ADDRESS = "https://example.org/a/path/that/is/wider/than/the/terminal"


def printed(text, width=30, is_terminal=True):
    """The lines of a text as it is printed."""
    output = io.StringIO()
    terminal.print_wrapped(Console(file=output, width=width, force_terminal=is_terminal, color_system=None), text)
    return output.getvalue().splitlines()


def test_a_word_wider_than_the_terminal_stays_whole():
    assert printed(f"Note: open it: {ADDRESS} now") == ["Note: open it:", f"      {ADDRESS}", "      now"]


def test_letters_that_take_two_columns_count_twice():
    assert printed("日本語 日本語 日本語 日本語 日本語") == ["日本語 日本語 日本語 日本語", "日本語"]


def test_a_pipe_keeps_a_line_in_one_line():
    assert printed("Note: " + "word " * 40, is_terminal=False) == ["Note: " + "word " * 40]


@pytest.mark.parametrize(
    "arguments",
    [
        ("results", "published-yocto", "--all"),
        ("plan", str(ROOT / "events/local/first.json"), "--all"),
        ("plan", "no-such-matrix-in-a-folder.json"),
    ],
)
def test_no_sentence_of_a_command_is_broken_by_the_terminal(arguments, matrix, monkeypatch):
    matrix("import", "--published")
    monkeypatch.setattr(Console, "is_terminal", property(lambda _console: True))
    # Tables have a test of their own.
    monkeypatch.setattr(Table, "__rich_console__", lambda *_: iter(()))
    outputs, width = {}, 60
    for columns in (500, width):
        monkeypatch.setenv("COLUMNS", str(columns))
        ended = matrix(*arguments)
        outputs[columns] = re.sub(r"\x1b\[[0-9;]*m", "", ended.stdout + ended.stderr)

    broken, whole = (Counter(outputs[columns].split()) for columns in (width, 500))
    assert broken == whole
    wide = [line for line in outputs[width].splitlines() if len(line.rstrip()) > width]
    # Only commands to copy go beyond the edge, and words that fit nowhere behind a label, such as a cell's id.
    sentences = [line for line in wide if not line.startswith("  aws ")]
    assert not [line for line in sentences if max(map(len, line.split())) < width - len("Warning: ")]
