"""Pages that commands write, and the browser that shows them."""

import webbrowser
from pathlib import Path

import typer

from cli.messages import terminal


def write_page(path: Path, page: str, *, is_opened: bool, is_silent: bool = False) -> None:
    """Write a page, print where it is, and open it if asked to; a machine without a display ends no script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    show_page(path, is_opened=is_opened, is_silent=is_silent)


def show_page(path: Path, *, is_opened: bool, is_silent: bool = False) -> None:
    """Print where a page is, unless the command's JSON has stdout, and open it if asked to."""
    typer.echo(str(path), err=is_silent)
    if is_opened and not webbrowser.open(path.resolve().as_uri()):
        terminal.print_wrapped(
            terminal.stderr(), f"Note: no browser could be started; open it yourself: {path.resolve().as_uri()}"
        )
