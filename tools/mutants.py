"""Change the code in small ways, one at a time, and see whether a test fails: `make mutants`.

    .venv/bin/python tools/mutants.py [--sample 50] [--seed 1] [--write] [PART ...]

A change that no test detects (a survivor) is a mistake that would also stay undetected. A mutant exists only in the
memory of a separate process: no file is changed, so you can end this at any time. Outcomes are kept in .local/mutants.
A mutant is tried again only if the code has changed, or a file of tests that decided its outcome.

pytest collects the tests once. Then each test runs in a separate forked process, so that no test depends on an
earlier one. First each test runs on the unchanged code: it must pass, and the lines that it runs are recorded. A mutant
gets only the tests that reach its line, the nearest and shortest first, for at most SECONDS of processor time. A failed
test kills the mutant. So does a test that takes ten times its processor time and more. If a test ends in another way,
the tool ends with an error, because that does not judge the mutant.

The modules of the mutant are not imported again: its functions and constants replace the loaded ones. Values that were
computed from a constant during an import do not change, so a mutant of such a constant may survive wrongly.
"""

import argparse
import ast
import contextlib
import datetime
import functools
import gc
import hashlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import pytest
from mutating import Mutant, mutants_of

ROOT = Path(__file__).parents[1]
FUNCTIONS = ROOT / "functions"
KEPT = ROOT / ".local" / "mutants"
RUNNING = KEPT / f"running-{os.getpid()}"  # the files that this process's tests write; deleted at its end
PAGE = ROOT / "docs" / "records" / "mutants.md"
SURVIVING = ROOT / "tools" / "surviving_mutants.json"
PARTS = {
    "price": ["price/*.py"],
    "costs": ["answer/costs.py", "answer/cache_cost.py", "terms/charges.py", "run/receipt.py"],
    "plan": ["plan/planning.py", "plan/budget.py", "plan/document.py", "plan/placing.py", "input/pace.py"],
    "statistics": ["statistics/*.py"],
    "decision": ["answer/decision/*.py"],
}
# Tests of time or of counted instructions fail on a busy machine or with marks in the code: they cannot judge mutants.
TIMED = ("support.disturbance", "support.work", "process_time")
SECONDS = 10.0
LONGEST_S = 300.0  # of a test that waits without using the processor
PASSED, FAILED, NOT_IMPORTED, TOO_SLOW = 0, 1, 98, 99
BECAME = {PASSED: "survived", FAILED: "killed", NOT_IMPORTED: "not imported", TOO_SLOW: "timeout"}
INTRODUCTION = """\
# Mutants

A mutant is the code with one small change: `<=` for `<`, `-` for `+`, a number a little larger, a condition always
true. If no test fails, a mistake of this kind would go unnoticed. A mutant is equivalent if no input tells it from the
code.

`make mutants` wrote this page on {today} from commit {commit} with seed {seed}. It tries a random sample of the
mutants of each part. It runs the tests that lie beside the module below `tests/matrix` and reach the changed line, at
most {seconds:g} seconds of them. It changes no text, no types and no messages of errors.
"""
# Seconds of a test on the unchanged code, and the lines that it runs: "price/book.py:157".
Reached = tuple[float, list[str]]


def modules_of(part: str) -> dict[str, Path]:
    """Return the files of a part by the names of their modules."""
    files = [file for pattern in PARTS[part] for file in sorted((FUNCTIONS / "matrix").glob(pattern))]
    return {
        ".".join(file.relative_to(FUNCTIONS).with_suffix("").parts).removesuffix(".__init__"): file for file in files
    }


def test_files(parts: Iterable[str]) -> list[Path]:
    """Return the tests beside the modules of these parts: those that import one of them."""
    chosen = []
    for modules in map(modules_of, parts):
        folders = sorted({ROOT / "tests" / "matrix" / name.split(".")[1] for name in modules})
        for file in (file for folder in folders for file in sorted(folder.glob("test_*.py"))):
            text = file.read_text(encoding="utf-8")
            froms = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
            imported = {f"{node.module}.{name.name}" for node in froms for name in node.names}
            is_near = any(name.startswith(f"{module}.") or name == module for name in imported for module in modules)
            if is_near and not any(word in text for word in TIMED):
                chosen.append(file)
    return list(dict.fromkeys(chosen))


def functions_of(namespace: Mapping[str, Any], module: str) -> Iterator[tuple[str, FunctionType]]:
    """Yield the functions and methods that a module defines, by their qualified names."""
    for value in list(namespace.values()):
        inner = value
        for name in ("fget", "func", "__func__", "__wrapped__"):  # properties, cached ones, class methods, caches
            inner = getattr(inner, name, None) or inner if not isinstance(inner, type) else inner
        if getattr(inner, "__module__", None) != module:
            continue
        if isinstance(inner, FunctionType):
            yield inner.__qualname__, inner
        elif isinstance(inner, type):
            yield from functions_of(vars(inner), module)


def put_in_place(name: str, code: CodeType) -> None:
    """Replace functions and constants of a loaded module, also in modules that imported them, by other code's."""
    module = importlib.import_module(name)
    other = ModuleType(name)
    other.__dict__.update(__file__=module.__file__, __package__=module.__package__)
    exec(code, other.__dict__)  # noqa: S102 - our own code, with one change
    changed = dict(functions_of(vars(other), name))
    for qualified, function in functions_of(vars(module), name):
        if qualified in changed and function.__code__.co_freevars == changed[qualified].__code__.co_freevars:
            function.__code__ = changed[qualified].__code__
            function.__defaults__, function.__kwdefaults__ = (
                changed[qualified].__defaults__,
                changed[qualified].__kwdefaults__,
            )
    for constant, value in vars(other).items():
        old = vars(module).get(constant)
        if not constant.startswith("__") and isinstance(value, (int, float, tuple, list, dict, set)) and value != old:
            for loaded in list(sys.modules.values()):
                if vars(loaded).get(constant) is old:
                    vars(loaded)[constant] = value
    for cache in gc.get_objects():
        if isinstance(cache, functools._lru_cache_wrapper) and str(cache.__module__).startswith("matrix."):
            cache.cache_clear()


def marked(file: Path) -> CodeType:
    """Return the code of a module that records in `reached` the lines of its functions that are run."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    name = str(file.relative_to(FUNCTIONS / "matrix"))
    for function in [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]:
        for node in ast.walk(function):
            for block in [getattr(node, field, None) for field in ("body", "orelse", "finalbody")]:
                if isinstance(block, list) and block and not any(hasattr(line, "is_mark") for line in block):
                    block[:] = [
                        statement for line in block for statement in (_mark(f"{name}:{line.lineno}", line), line)
                    ]
    return compile(ast.fix_missing_locations(tree), str(file), "exec", dont_inherit=True)


def _mark(words: str, line: ast.stmt) -> ast.stmt:
    mark = ast.parse(f"__import__('builtins').reached.add({words!r})").body[0]
    mark.is_mark = True  # type: ignore[attr-defined]
    for node in ast.walk(mark):
        ast.copy_location(node, line)
    return mark


def apart(work: Callable[[], int], processor_s: float | None = None) -> int:
    """Return the status of work in a forked process, which is killed after this much processor time."""
    process = os.fork()
    if not process:
        status = 3
        try:
            os.setpgrp()
            if processor_s is not None:
                resource.setrlimit(resource.RLIMIT_CPU, (int(processor_s) + 1, int(processor_s) + 5))
            status = work()
        finally:
            sys.stdout.flush()
            os._exit(status)
    ends = time.monotonic() + LONGEST_S
    ended, status = 0, 0
    while not ended:
        ended, status = os.waitpid(process, os.WNOHANG if processor_s is not None else 0)
        if not ended and time.monotonic() > ends:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return TOO_SLOW
        time.sleep(0 if ended else 0.002)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)  # processes that a test has started and left
    code = os.waitstatus_to_exitcode(status)
    return TOO_SLOW if code == -signal.SIGXCPU else code


class Driver:
    """A plugin of pytest that runs the collected tests in its own order."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.given = given
        self.items: dict[str, pytest.Item] = {}
        self.reached: dict[str, Reached] = {}
        self.has_failed = False
        self.page = ""

    def pytest_configure(self) -> None:
        """Let hypothesis draw the same examples each time, and write nothing to the work tree."""
        import hypothesis

        hypothesis.settings.register_profile("mutants", deadline=None, derandomize=True, database=None)
        hypothesis.settings.load_profile("mutants")

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record that a test has failed."""
        self.has_failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Try the mutants instead of running each test once."""
        if session.testsfailed:
            pytest.exit("mutants: not all tests could be collected", 2)
        self.items = {item.nodeid: item for item in session.items}
        for part in PARTS:
            for name in modules_of(part):
                importlib.import_module(name)
        self.baseline()
        self.page = page_of({part: self.sample_of(part) for part in self.given.parts or PARTS}, self.given.seed)
        return True

    def run(self, test: str) -> int:
        """Run a test in this process; return whether it failed."""
        log = os.open(RUNNING / "tests.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(log, 1)
        os.dup2(log, 2)
        item = self.items[test]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return FAILED if self.has_failed else PASSED

    def baseline(self) -> None:
        """Run each test on the unchanged code; ends with an error unless all pass. Keeps the results by test file."""
        code = digest(FUNCTIONS.glob("matrix/**/*.py"))
        support = digest((ROOT / "tests" / "support").glob("*.py"))
        by_file: dict[Path, list[str]] = defaultdict(list)
        for test, item in self.items.items():
            by_file[item.path].append(test)
        for file, tests in by_file.items():
            kept = KEPT / f"reached-{code}-{support}-{digest([file])}-{file.stem}.json"
            if not kept.exists():
                print(f"on the code as it is: {len(tests)} tests of {file.relative_to(ROOT)}", flush=True)
                status = apart(functools.partial(self._watch, tests, kept))
                if status != PASSED:
                    log = (RUNNING / "tests.log").read_text(errors="replace")[-3_000:]
                    pytest.exit(f"{log}\nmutants: the tests of {file} are not green without a mutant", 2)
            self.reached |= json.loads(kept.read_text())

    def _watch(self, tests: list[str], kept: Path) -> int:
        import builtins

        for part in PARTS:
            for name, file in modules_of(part).items():
                builtins.reached = set()  # type: ignore[attr-defined]
                put_in_place(name, marked(file))
        reached: dict[str, Reached] = {}
        told = RUNNING / "told.json"
        for test in tests:
            if apart(functools.partial(self._watch_one, test, told)) != PASSED:
                return FAILED
            reached[test] = json.loads(told.read_text())
        kept.write_text(json.dumps(reached))
        return PASSED

    def _watch_one(self, test: str, told: Path) -> int:
        import builtins

        lines: set[str] = set()
        builtins.reached = lines  # type: ignore[attr-defined]
        began = time.process_time()
        status = self.run(test)
        told.write_text(json.dumps((time.process_time() - began, sorted(lines))))
        return status

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests to run, in this order, for at most SECONDS in all."""
        name = str(mutant.file.relative_to(FUNCTIONS / "matrix"))
        lines = {f"{name}:{line}" for line in range(mutant.lines[0], mutant.lines[1] + 1)}
        folder = f"tests/matrix/{mutant.module.split('.')[1]}/"
        ranked = []
        for test, (seconds, reached) in self.reached.items():
            if any(line.startswith(f"{name}:") for line in reached):
                ranked.append((lines.isdisjoint(reached), not test.startswith(folder), seconds, test))
        tests: list[str] = []
        spent_s = 0.0
        for _, _, seconds, test in sorted(ranked):
            spent_s += seconds
            if tests and spent_s > SECONDS:
                break
            tests.append(test)
        return tests

    def sample_of(self, part: str) -> tuple[int, list[tuple[Mutant, str]]]:
        """Try a sample of a part's mutants; return the number of its mutants, and the outcomes of the sample."""
        code = digest(FUNCTIONS.glob("matrix/**/*.py"))
        outcomes = KEPT / "outcomes.jsonl"
        lines = outcomes.read_text().splitlines() if outcomes.exists() else []
        known = {entry["key"]: entry for entry in map(json.loads, lines)}
        mutants = [mutant for module, file in modules_of(part).items() for mutant in mutants_of(file, module)]
        chance = random.Random(f"{self.given.seed}/{part}")  # noqa: S311 - a sample is no secret
        sample = set(chance.sample(range(len(mutants)), min(self.given.sample, len(mutants))))
        became = []
        for number, mutant in enumerate((mutants[index] for index in sorted(sample)), start=1):
            tests, key = self.tests_of(mutant), f"{code} {mutant.place} {mutant.variant} {mutant}"
            entry = known.get(key)
            if not entry or entry["rests_on"] != _rests_on(entry["test"], tests):
                told = RUNNING / "told.json"
                told.write_text('""')
                status = apart(functools.partial(self._try, mutant, tests, told))
                if status not in BECAME:
                    log = (RUNNING / "tests.log").read_text(errors="replace")[-3_000:]
                    pytest.exit(f"{log}\nmutants: status {status} says nothing about {mutant}", 2)
                test = json.loads(told.read_text())
                entry = {"key": key, "became": BECAME[status], "test": test, "rests_on": _rests_on(test, tests)}
                with outcomes.open("a") as file:
                    file.write(json.dumps(entry) + "\n")
            became.append((mutant, entry["became"]))
            print(f"{part} {number}/{len(sample)}, {len(tests)} tests: {entry['became']}: {mutant}", flush=True)
        return len(mutants), became

    def _try(self, mutant: Mutant, tests: list[str], told: Path) -> int:
        try:
            put_in_place(mutant.module, compile(mutant.tree(), str(mutant.file), "exec", dont_inherit=True))
        except Exception:
            return NOT_IMPORTED
        for test in tests:
            status = apart(functools.partial(self.run, test), 5 + 10 * self.reached[test][0])
            if status != PASSED:
                told.write_text(json.dumps(test))
                return status if status >= 0 else 3
        return PASSED


def digest(files: Iterable[Path]) -> str:
    """Return a hash of files."""
    sums = [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted(files)]
    return hashlib.sha256("".join(sums).encode()).hexdigest()[:16]


def _rests_on(test: str, tests: list[str]) -> str:
    """Return a hash of an outcome's basis: the file of the test that killed the mutant, or of all that did not."""
    return digest({ROOT / each.split("::")[0] for each in ([test] if test else tests)})


def page_of(results: Mapping[str, tuple[int, list[tuple[Mutant, str]]]], seed: int) -> str:
    """Return the page: the counts of the outcomes, and each survivor with its reason."""
    entries = json.loads(SURVIVING.read_text(encoding="utf-8"))
    why = {entry["mutant"]: entry["why"] for entry in entries}
    equivalent = {entry["mutant"] for entry in entries if entry.get("is_equivalent", True)}
    today = datetime.datetime.now(datetime.UTC).date()
    columns = ["part", "possible", "tried", "killed by a test", "cannot be imported", "far too slow", "equivalent"]
    columns += ["survived", "killed, without equivalent"]
    head = ["git", "rev-parse", "--short", "HEAD"]
    asked = subprocess.run(head, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    commit = asked.stdout.strip() or "unknown"
    lines = [INTRODUCTION.format(today=today, commit=commit, seed=seed, seconds=SECONDS)]
    lines += [f"| {' | '.join(columns)} |", f"|{'---|' * len(columns)}"]
    total: Counter[str] = Counter()
    for part, (possible, became) in results.items():
        count = Counter("equivalent" if it == "survived" and str(mutant) in equivalent else it for mutant, it in became)
        lines.append(_row(part, possible, count))
        total += count
    lines += [_row("all", sum(possible for possible, _ in results.values()), total), ""]
    lines += [f"- {part}: {', '.join(f'`{pattern}`' for pattern in PARTS[part])}" for part in results]
    survivors = [mutant for _, became in results.values() for mutant, it in became if it == "survived"]
    for title, is_equivalent in (("Survivors", False), ("Equivalent mutants", True)):
        lines += ["", f"## {title}", ""]
        chosen = [mutant for mutant in survivors if (str(mutant) in equivalent) == is_equivalent]
        for mutant in chosen:
            change = f"`{mutant.before}` → `{mutant.after}`"
            lines.append(f"- `{mutant.module}`, `{mutant.function}`: {change}. {why.get(str(mutant), '')}".strip())
        if not chosen:
            lines.append("None.")
    return "\n".join(lines) + "\n"


def _row(part: str, possible: int, count: Counter[str]) -> str:
    names = ("killed", "not imported", "timeout", "equivalent", "survived")
    killed = sum(count[name] for name in names[:3])
    share = f"{killed / max(1, count.total() - count['equivalent']):.0%}"
    return f"| {part} | {possible:,} | {count.total()} | {' | '.join(str(count[name]) for name in names)} | {share} |"


def main() -> int:
    """Try a sample of each part; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=50, help="mutants of each part")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write docs/records/mutants.md")
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    driver = Driver(parser.parse_args())
    RUNNING.mkdir(parents=True)
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    options = ["-q", "-s", "-p", "no:cacheprovider", "-p", "no:xdist", "-m", "not slow and not system"]
    paths = [f"--rootdir={ROOT}", f"--basetemp={RUNNING / 'tmp'}", *map(str, test_files(driver.given.parts or PARTS))]
    try:
        status = pytest.main([*options, *paths], [driver])
    finally:
        shutil.rmtree(RUNNING)
    if driver.page:
        print(driver.page)
        if driver.given.write:
            PAGE.write_text(driver.page, encoding="utf-8")
    return int(status) if not driver.page else 0


if __name__ == "__main__":
    sys.exit(main())
