"""Every command and every option is in docs/cli.md, and every example in a help text is a command that exists."""

import re
from pathlib import Path

import pytest
import typer

from cli.main import app

DOCS = (Path(__file__).resolve().parents[2] / "docs" / "cli.md").read_text()


def commands(group, prefix="matrix"):
    """Each command with its full name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}", command


COMMANDS = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_is_documented_with_an_example(name):
    section = re.search(rf"^## `{name}.*?(?=^## |\Z)", DOCS, re.MULTILINE | re.DOTALL)

    assert section, f"docs/cli.md has no section for {name}"
    assert re.search(rf"^{name}", section[0], re.MULTILINE), f"docs/cli.md has no example of {name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_documented(name):
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts if option.startswith("--")}

    assert {option for option in options if f"`{option}" not in DOCS} == {"--help"} & options


@pytest.mark.parametrize("name", COMMANDS)
def test_each_help_has_a_sentence_and_an_example(name):
    text = COMMANDS[name].help

    assert re.match(r"[A-Z].*\.\n", text)
    assert f"Example: {name}" in text
