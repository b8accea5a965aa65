"""Write what the installed fio says of its own options: names, aliases, types and values (`make fio`).

The file has fio's facts only, none of its help texts. A job is read by it where no fio is installed.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

FILE = Path(__file__).parents[1] / "functions/matrix/input/workloads/fio_options.json"
# How fio calls the types of values, and how the file does.
KINDS = {
    "boolean": "switch", "empty or boolean": "flag", "integer": "number", "list of floating": "text",
    "one to three ranges": "text", "string with time": "time", "string with possible": "number", "string": "text",
    "(null)": "share",
}  # fmt: skip
LARGEST = "-1"
NO_DEFAULT = "no default"


def main() -> None:
    """Ask fio for each of its options, and for those of each engine."""
    common = {name: _option(f"--cmdhelp={name}") for name in _names(_ask("--cmdhelp=all"))}
    engines = _ask("--enghelp").split("\n", 1)[1].split()
    own = {engine: _names(_ask(f"--enghelp={engine}")) for engine in engines}
    for engine, names in own.items():
        for name in names:
            common.setdefault(name, _option(f"--enghelp={engine},{name}"))
    known = {"fio": _ask("--version").strip().removeprefix("fio-"), "engines": own, "options": common}
    FILE.write_text(_written(known), encoding="utf-8")


def _names(listed: str) -> list[str]:
    return re.findall(r"^ *(\w+) *: ", listed, re.MULTILINE)


def _option(question: str) -> dict[str, Any]:
    """Return alias, type, default, range and values of an option, as far as it has them."""
    answer = _ask(question)
    found = {
        key: match[1]
        for key in ("alias", "type", "default")
        if (match := re.search(rf"^ *{key}: (.*)$", answer, re.MULTILINE))
    }
    option: dict[str, Any] = {"kind": next(kind for begin, kind in KINDS.items() if found["type"].startswith(begin))}
    option |= {"alias": found["alias"]} if "alias" in found else {}
    option |= {"default": found["default"]} if found["default"] != NO_DEFAULT else {}
    limits = re.search(r"range: min=(-?[0-9]+)(?:, max=(-?[0-9]+))?", answer)
    if limits and option["kind"] == "number":
        option |= {"least": int(limits[1])} | ({"most": int(limits[2])} if limits[2] not in (None, LARGEST) else {})
    _, _, values = answer.partition("valid values:")
    listed = [line.removeprefix(":").split()[0] for line in map(str.strip, values.splitlines()) if line.strip(" :")]
    return option | ({"values": listed} if listed else {})


def _ask(question: str) -> str:
    """Return what fio says. It ends with 1 for an engine without options."""
    return subprocess.run(["fio", question], capture_output=True, text=True, check=False).stdout  # noqa: S603, S607


def _written(known: dict[str, Any]) -> str:
    """Write an option and an engine on a line each, as differences show it."""
    parts = []
    for key, value in known.items():
        lines = [f"    {json.dumps(name)}: {json.dumps(each)}" for name, each in value.items()] if key != "fio" else []
        parts.append(f"  {json.dumps(key)}: " + ("{\n" + ",\n".join(lines) + "\n  }" if lines else json.dumps(value)))
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    main()
