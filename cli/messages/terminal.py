"""Where output goes: figures to stdout, everything else to stderr; colours and live views only to a terminal."""

import codecs
import io
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import typer
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, ConsoleRenderable, RenderHook, RenderResult
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from cli.messages.errors import CommandError, ExitCode
from matrix.terms.printable import printable

# Markup is off, since rich would take the brackets of storage[2].iops for a style.
# A pipe has no width, so tables keep their lines whole for grep and awk; COLUMNS overrules that.
PIPE_WIDTH = 160
ESCAPED = "matrix-escaped"
# What people read in place of signs that the encoding of their terminal lacks.
IN_ASCII = {"✓": "OK", "✗": "FAILED:", "·": "|", "×": "x", "–": "-", "—": "-", "…": "...", "★": "*", "○": "o",
            "→": "->", "≥": ">=", "≤": "<=", "µ": "u", "−": "-", "½": "1/2", "÷": "/"}  # fmt: skip
# The prefix of a line: spaces, and a dash, a time or a label such as `Note:`. Wrapped lines are indented by its width.
HEAD = re.compile(r" *(?:-|[0-9]{2}:[0-9]{2}:[0-9]{2}(?= )|[A-Z][a-z]+:(?= ))? *")


class _Harmless(RenderHook):
    """Prints a question mark for each control character of a text: it may be somebody else's, a file's name too."""

    def process_renderables(self, renderables: list[ConsoleRenderable]) -> list[ConsoleRenderable]:
        return [_Printable(renderable) for renderable in renderables]


@dataclass
class _Printable:
    text: ConsoleRenderable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        segments = console.render(self.text, options)
        for segment in _unpadded(segments) if isinstance(self.text, Table) else segments:
            text = segment.text if segment.control else _writable(printable(segment.text), console.encoding)
            yield segment._replace(text=text)


def _writable(text: str, encoding: str) -> str:
    """Return a text for people, with signs in ASCII that the encoding of the terminal lacks."""
    lacking = {sign for sign in IN_ASCII.keys() & set(text) if not sign.encode(encoding, "ignore")}
    return text.translate({ord(sign): IN_ASCII[sign] for sign in lacking}) if lacking else text


def _unpadded(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Drop the blanks at the ends of lines with which rich fills a table's last column."""
    for line in Segment.split_lines(segments):
        while line and not line[-1].text.strip(" "):
            line.pop()
        if line:
            yield from line[:-1]
            yield line[-1]._replace(text=line[-1].text.rstrip(" "))
        yield Segment.line()


class Pipe(Console):
    """A console whose reader may close the pipe, as in `matrix results | head`: the command still succeeds."""

    def __init__(self, **settings: Any) -> None:
        """Install a render hook that removes control sequences with side effects."""
        super().__init__(**settings)
        self.push_render_hook(_Harmless())

    def on_broken_pipe(self) -> None:
        """Write nothing more, and let the command exit as usual; rich would exit with 1."""
        self.quiet = True
        # Python flushes the buffer when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())


def escape_what_has_no_letter() -> None:
    """Make both outputs write characters that their encoding lacks as JSON escapes, which programs can read."""
    codecs.register_error(ESCAPED, _escaped)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=ESCAPED)


def _escaped(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


def stdout() -> Console:
    """Return a console for the results."""
    return Pipe(width=_width(sys.stdout.isatty()), markup=False, highlight=False, emoji=False)


def stderr() -> Console:
    """Return a console for progress, problems and advice."""
    return Pipe(stderr=True, width=_width(sys.stderr.isatty()), markup=False, highlight=False, emoji=False)


def print_wrapped(console: Console, text: str | Text) -> None:
    """Print a text in lines that break between words; a later line hangs below the text behind `Note: ` or `- `.

    A word that is wider than the terminal stays whole, so that an address can be opened and a path copied. A pipe has
    no width: there a line stays a line. A command that is to be copied is printed without this.
    """
    whole = text if isinstance(text, Text) else Text(text)
    for line in whole.split("\n", allow_blank=True):
        if not console.is_terminal:
            console.print(line, soft_wrap=True)
            continue
        head = HEAD.match(line.plain)
        hang = min(head.end() if head else 0, console.width // 2)
        for index, part in enumerate(line.divide(_breaks(line.plain, console.width, hang))):
            part.rstrip()
            console.print(Text.assemble(" " * hang, part) if index else part, soft_wrap=True)


def _breaks(line: str, width: int, hang: int) -> list[int]:
    """Return the indexes at which a line is broken: before each word that would exceed `width` columns."""
    breaks: list[int] = []
    column = len(line) - len(line.lstrip())
    for word in re.finditer(r"\S+\s*", line):
        if column > hang and column + cell_len(word[0].rstrip()) > width:
            breaks.append(word.start())
            column = hang
        column += cell_len(word[0])
    return breaks


def print_json(document: object) -> None:
    """Print the one document that `--json` asks for; dates, paths and the like as their words."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, default=str) + "\n")


def _width(is_terminal: bool) -> int | None:
    """Let rich ask the terminal; decide for a pipe."""
    return None if is_terminal or "COLUMNS" in os.environ else PIPE_WIDTH


def can_ask() -> bool:
    """Return whether somebody is there who can answer."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm_start() -> None:
    """Raise CommandError unless the user agrees."""
    if not typer.confirm("Start it?", err=True):
        raise CommandError("not started", "", ExitCode.INTERRUPTED)


def say_error(error: CommandError) -> None:
    console = stderr()
    print_wrapped(console, Text.assemble(("Error: ", "bold red"), error.message))
    if error.advice:
        print_wrapped(console, Text.assemble(("Try:   ", "bold"), error.advice))
