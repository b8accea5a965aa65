"""Write pages for commands, and show them in the browser."""

import shutil
import subprocess
import tempfile
import webbrowser
from pathlib import Path

import typer

from cli.messages import terminal
from cli.messages.errors import CommandError

# Names of browsers that print by Chromium's options, on Linux and macOS.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
PRINTED_S = 120


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


def print_page(page: Path, pdf: Path) -> None:
    """Print a page of ours into a PDF file. Raises CommandError without a browser that can do it."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        advice = "install Chromium or Chrome, or open the page in a browser and print it: it is made for A4"
        raise CommandError("no Chromium is on this machine, which prints the page", advice)
    with tempfile.TemporaryDirectory() as profile:
        printed = Path(profile, "page.pdf")
        argv = [
            *(browser, "--headless", "--disable-gpu", "--no-pdf-header-footer"),
            # In containers it has no sandbox and little shared memory. The page is ours and loads nothing.
            *("--no-sandbox", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={profile}", f"--print-to-pdf={printed}", page.absolute().as_uri()),
        ]
        try:
            ended = subprocess.run(argv, capture_output=True, text=True, timeout=PRINTED_S, check=False)  # noqa: S603
            reason = ended.stderr.strip()[-300:]
        except subprocess.TimeoutExpired:
            reason = f"no end within {PRINTED_S} s"
        # A file of an earlier report is not taken for this one.
        if not printed.is_file():
            raise CommandError(f"{browser} has printed nothing: {reason}", "open the page in a browser and print it")
        shutil.move(printed, pdf)
    terminal.stderr().print(f"{pdf}")
