"""The place of a command's runs: chosen by --local, --stack and --region, or found without them.

Without these options the kept runs of this machine come first, then a running local cloud, then the stack on AWS.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property

from cli.messages.errors import CommandError, ExitCode, UnknownRun
from cli.messages.explain import explain
from cli.target import deployment, known_runs
from cli.target.deployment import DEFAULT_STACK
from cli.target.run_folders import RunFolders, RunStore
from cli.target.service import Service
from cli.target.workdir import run_folder, runs_folder
from local.keeping.runs import EXECUTION


@dataclass(frozen=True)
class Place:
    """The three options. Raises CommandError for --local with --stack: the local cloud does not represent AWS."""

    local: bool = False
    stack: str | None = None
    region: str | None = None

    def __post_init__(self) -> None:
        """Refuse two places."""
        if self.local and self.stack is not None:
            raise CommandError("--local and --stack exclude each other", "choose one", ExitCode.BAD_INPUT)

    @property
    def is_on_aws(self) -> bool:
        """Whether only AWS is chosen, so that nothing of this machine is read."""
        return not self.local and (self.stack is not None or self.region is not None)

    @property
    def is_here(self) -> bool:
        """Whether this machine is used: by choice, or without a choice because it has runs or a local cloud."""
        is_open = not self.local and not self.is_on_aws
        return self.local or (is_open and bool(known_runs.kept_runs() or deployment.is_local_cloud_running()))

    def store(self) -> RunStore:
        """Return the place whose runs are listed: AWS only if it is chosen, else this machine, even without runs."""
        return self.service() if self.is_on_aws else RunFolders()

    def shelf(self) -> RunStore:
        """Return the place of the baselines: this machine if it is used, else the stack on AWS."""
        return RunFolders() if self.is_here else self.service()

    def service(self) -> Service:
        """Return the deployment. It is never guessed: without --local it is the stack on AWS."""
        return Service(deployment.running_local_cloud()) if self.local else self._stack

    @cached_property
    def _stack(self) -> Service:
        """The stack on AWS, which is described only once, for any number of runs."""
        return Service(deployment.deployed_stack(self.stack or DEFAULT_STACK, self.region))

    def running_service(self) -> Service:
        """Return the deployment: the local cloud if one is running and nothing else was chosen."""
        is_local = self.local or (not self.is_on_aws and deployment.is_local_cloud_running())
        return Service(deployment.running_local_cloud()) if is_local else self.service()

    def store_of(self, run: str) -> RunStore:
        """Return the place of a run: its folder if it is kept here, else the deployment."""
        folder = run_folder(run)
        if not self.is_on_aws and folder.is_dir() and not folder.is_symlink():
            return RunFolders()
        with self.naming_kept_runs(run):
            return self.service()

    def of_run(self, run: str) -> "Place":
        """Return this machine for a run that was started here, unless AWS is chosen; else this place."""
        is_here = not self.is_on_aws and (run_folder(run) / EXECUTION).is_file()
        return replace(self, local=True) if is_here else self

    @contextmanager
    def naming_kept_runs(self, run: str) -> Iterator[None]:
        """Add the names of the kept runs to the error if a run is neither kept here nor in a deployment.

        With --stack or --region only the deployment was searched.
        """
        try:
            yield
        except Exception as error:
            kept = known_runs.kept_runs()
            if self.is_on_aws or run in kept or (self.is_here and not kept):
                raise
            failure = explain(error)
            if not kept:
                # The user did not choose AWS, so the likely mistake is the wrong working directory.
                message = f"no local run is kept in {runs_folder()}/, so AWS was asked: {failure.message}"
                hint = "" if isinstance(failure, UnknownRun) else known_runs.loading(run)
                ways = filter(None, [hint, "go to the folder where the run was started", failure.advice])
                raise replace(failure, message=message, advice="; or ".join(ways)) from error
            if isinstance(failure, UnknownRun) and known_runs.meant(run, kept) in failure.advice:
                raise
            asked = f"another place was asked too: {failure.message}; {failure.advice}"
            message = f"no run {run} is kept in {runs_folder()}/"
            raise known_runs.unknown_run(message, run, kept, asked) from error
