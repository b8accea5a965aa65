"""Write pages for commands, and show them in the browser."""

import webbrowser
from pathlib import Path

import typer

from cli.messages import terminal


def write_page(path: Path, page: str, *, is_opened: bool, is_silent: bool = False) -> None:
    """Write a page, print its path, and open it if requested; a machine without a display does not fail."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    show_page(path, is_opened=is_opened, is_silent=is_silent)


def show_page(path: Path, *, is_opened: bool, is_silent: bool = False) -> None:
    """Print the path of a page, unless the command's JSON has stdout, and open it if requested."""
    typer.echo(str(path), err=is_silent)
    if is_opened and not webbrowser.open(path.resolve().as_uri()):
        terminal.print_wrapped(
            terminal.stderr(), f"Note: no browser could be started; open it yourself: {path.resolve().as_uri()}"
        )
