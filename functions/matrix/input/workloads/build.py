"""Any build with a source cache on the storage."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from matrix.input.workloads.expected import ALONE, ExpectedSeconds
from matrix.input.workloads.shell import Command, ShellWorkload


class BuildWorkload(ShellWorkload):
    """Runs a shell command as a build; primary metric duration_s."""

    timed: ClassVar[str] = "build"
    setting_apart: ClassVar[tuple[str, ...]] = ("build_directory",)
    primary_metric: ClassVar[str] = "duration_s"
    yields: ClassVar[frozenset[str]] = frozenset({"build_cpu_s"})
    assumption: ClassVar[str] = (
        "a build takes its expectedSeconds and moves what its matrix says, else 10 MB/s each way"
    )

    type: Literal["build"]
    """Kind of workload."""
    build: Annotated[Command, Field(examples=["make -C $BUILD_DIR -j$JOBS"])]
    """Shell command that is timed. It sees CACHE_DIR (on the storage), BUILD_DIR (empty for each step) and JOBS."""
    build_directory: Literal["storage", "local"] = "storage"
    """Where BUILD_DIR is: on the storage that is measured, or on the instance's own disk."""
    expected_seconds: Annotated[ExpectedSeconds, Field(examples=[{"1": 600, "100": 900}])] = Field(default={ALONE: 600})
    """About how many seconds one build takes, or a map by fleet size: it sets deadline and cost of a cell."""

    @property
    def is_only_reading(self) -> bool:
        """It builds on the instance's own disk, and nothing fills its cache."""
        return self.build_directory == "local" and not self.populate
