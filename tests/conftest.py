"""Which tests belong to which tier: `make quick`, `make test`, `make test-all` (CONTRIBUTING.md)."""

import gc
import signal
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

from local import quick_start

TESTS = Path(__file__).parent
# Folders whose tests start a local cloud, whole runs or emulated machines.
SYSTEM = ("cloud", "local", "system", "faults")
LONGEST = (
    "test_demo.py", "test_vm_fleet.py", "test_release.py", "test_sam_deploy.py", "test_privilege.py", "test_faults.py",
    "test_verification.py", "test_emulated_run.py", "test_budget_and_resume.py", "test_coverage.py", "test_drawn.py",
    "test_emulated_truths.py", "test_lifecycle.py", "test_notify.py", "test_kills.py", "test_console.py",
)  # fmt: skip

# All that tests call moto's EC2 in: each of its other regions takes 3 MB.
REGIONS = ("us-east-1", "eu-west-1", "eu-central-1")

quick_start.skip_needless_work()
quick_start.load_only(*REGIONS)
quick_start.answer_quickly()
# How long an example takes says how busy the machine is; what a computation may cost is told in processor time.
hypothesis.settings.register_profile("untimed", deadline=None)
hypothesis.settings.load_profile("untimed")
# What a script has started in the background ignores Ctrl-C, and hands that on: to the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave unread what `make test` would leave out: that is a quarter of all code of tests."""
    is_cheap = "not system" in config.option.markexpr
    if is_cheap and collection_path.suffix == ".py" and collection_path.relative_to(TESTS).parts[0] in SYSTEM:
        return "pytest.mark.smoke" not in collection_path.read_text()
    return None


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for garbage neither while modules and tests are collected nor later among them, who all stay.

    They are 660,000 objects: twelve looks at them took 2.3 s of the collection, eight 4.5 of 46 s of tests.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what starts a cloud or a fleet of agents as `system`, but for the smoke run of `make test`.

    The files that take longest come first, then all that start a cloud: at the end no worker waits for a long one.
    """

    def place(item: pytest.Item) -> tuple[int, bool]:
        name, folder = item.path.name, item.path.relative_to(TESTS).parts[0]
        return LONGEST.index(name) if name in LONGEST else len(LONGEST), folder not in SYSTEM

    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        starts_agents = folder == "agent" and "fleet" in getattr(item, "fixturenames", ())
        if (folder in SYSTEM or starts_agents) and not item.get_closest_marker("smoke"):
            item.add_marker("system")
    items.sort(key=place)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let each test draw the same values, whatever ran before it: a module's RNG begins anew."""
    module = getattr(item, "module", None)
    if (rng := getattr(module, "RNG", None)) is not None:
        rng.bit_generator.state = vars(module).setdefault("_RNG_AT_FIRST", rng.bit_generator.state)
