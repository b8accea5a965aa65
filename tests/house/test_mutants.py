"""`make mutants`: which changes it makes to code, and what it calls killed."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"
CODE = '''"""Fees."""

FREE = 10


def fee(gib):
    return gib * 2 if gib > FREE else 0
'''
TESTS = """from matrix.price.fees import fee


def test_what_is_above_the_free_part_is_paid():
    assert (fee(9), fee(20)) == (0, 40)
"""


def loaded(name):
    """A module of tools, which is no package."""
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


mutating = loaded("mutating")
mutants = loaded("mutants")


def changes(tmp_path, code):
    """What is done to a module: before and after."""
    file = tmp_path / "code.py"
    file.write_text(code)
    made = mutating.mutants_of(file, "code")
    for mutant in made:
        compile(mutant.tree(), "code.py", "exec")
    return [(mutant.before, mutant.after) for mutant in made]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("a < b", {("a < b", "a <= b"), ("a < b", "a >= b")}),
        ("a in b", {("a in b", "a not in b")}),
        ("a + b", {("a + b", "a - b")}),
        ("f'{a}' + b", set()),
        ("a and b", {("a and b", "a or b")}),
        ("not a", {("not a", "a")}),
        ("max(a, b)", {("max(a, b)", "min(a, b)")}),
        ("math.floor(a)", {("math.floor(a)", "math.ceil(a)")}),
        ("a * 3", {("a * 3", "a / 3"), ("a * 3", "a * 4")}),
        ("a if b else c", {("b", "True"), ("b", "False")}),
        ("raise ValueError(a + b)", set()),
        ("zip(a, b, strict=True)", set()),
        ("a: Literal[3]", set()),
    ],
)
def test_each_change_is_one_that_a_test_should_notice(tmp_path, code, expected):
    assert set(changes(tmp_path, code)) == expected


def test_a_function_is_also_changed_to_return_nothing(tmp_path):
    assert changes(tmp_path, "def f(a):\n    return a\n") == [("return a", "return None")]


@pytest.fixture
def project(tmp_path):
    """A tiny project of the same shape, with the tool and one module."""
    shutil.copytree(TOOLS, tmp_path / "tools", ignore=shutil.ignore_patterns("__pycache__"))
    for folder in ("docs/records", "functions/matrix/price", "tests/matrix/price", "tests/support"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "functions/matrix/__init__.py").touch()
    (tmp_path / "functions/matrix/price/__init__.py").touch()
    (tmp_path / "functions/matrix/price/fees.py").write_text(CODE)
    (tmp_path / "tests/matrix/price/test_fees.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text(
        '[tool.pytest.ini_options]\npythonpath = ["functions"]\nmarkers = ["slow", "system"]\n'
    )
    return tmp_path


def run(project):
    command = [sys.executable, str(project / "tools" / "mutants.py"), "--sample", "100", "--write", "price"]
    return subprocess.run(command, capture_output=True, text=True, cwd=project)


def test_the_change_that_no_test_notices_is_named_and_no_file_is_changed(project):
    ended = run(project)

    assert ended.returncode == 0, ended.stdout + ended.stderr
    page = (project / "docs" / "records" / "mutants.md").read_text()
    survivors = page.split("## Survivors\n\n")[1].split("\n\n## Equivalent")[0].splitlines()
    # The tests try 9 and 20 GiB, so neither 10 itself nor a free part of 11 GiB is noticed.
    assert survivors == [
        "- `matrix.price.fees`, `module`: `FREE = 10` → `FREE = 11`.",
        "- `matrix.price.fees`, `fee`: `gib > FREE` → `gib >= FREE`.",
    ]
    # To the number, the return, the comparison (2), its two constant truths, the product and its number, and the 0.
    assert "| price | 9 | 9 | 7 | 0 | 0 | 0 | 2 | 78% |" in page
    assert (project / "functions/matrix/price/fees.py").read_text() == CODE


def test_nothing_counts_unless_the_tests_are_green_without_a_mutant(project):
    (project / "tests/matrix/price/test_fees.py").write_text(TESTS.replace("40", "41"))

    ended = run(project)

    assert ended.returncode != 0
    assert "not green without a mutant" in ended.stdout + ended.stderr
    assert not (project / "docs" / "records" / "mutants.md").exists()


def test_only_a_failed_test_an_import_and_a_time_limit_kill():
    assert mutants.apart(lambda: 0) == mutants.PASSED
    assert mutants.apart(lambda: os._exit(5)) not in mutants.BECAME
    assert mutants.apart(lambda: os.kill(os.getpid(), signal.SIGKILL)) not in mutants.BECAME
    assert mutants.apart(lambda: any(False for _ in iter(int, 1)), processor_s=0) == mutants.TOO_SLOW


def test_each_part_has_its_modules():
    for part, patterns in mutants.PARTS.items():
        assert all(list((ROOT / "functions" / "matrix").glob(pattern)) for pattern in patterns), part
