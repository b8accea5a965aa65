"""Names of the objects in the results bucket. `contract.keys` has the names that agents build too."""

from dataclasses import dataclass

from contract.keys import INSTANCES, VOLUMES, BarrierKeys

# A run's name becomes part of keys, tags, paths and user data. Step Functions would also take dots, quotes and
# brackets.
RUN_PATTERN = r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,79}$"

# Prefix of the baselines of a stack.
BASELINES = "baselines/"
# Prefix of a baseline's name in arguments that may also be the name of a run.
BASELINE_PREFIX = "baseline:"

# The table's partition of the runs whose receipt is incomplete: the sweep visits each until its receipt is complete.
OPEN_RECEIPTS = "OPEN-RECEIPTS"
# Object with the owner's tags below each prefix of the data bucket. It sorts behind the folders of instances, whose
# names begin with a role's id (AROA…), so that a deletion in the order of the listing removes it last.
PREFIX_TAGS = "_tags.json"


def run_key(run: str, name: str) -> str:
    """Key of a document of the whole run, such as `plan.json`."""
    return f"runs/{run}/{name}"


def baseline_key(name: str) -> str:
    """Key of the document with a baseline's run; the baseline's name matches RUN_PATTERN."""
    return f"{BASELINES}{name}/baseline.json"


def points_key(run: str, cell: str) -> str:
    """Key of a cell's figures as rows. It is not below the run's prefix, because Athena reads everything below one."""
    return f"points/{run}/{cell}.jsonl"


def booted_image_key(run: str, image: str) -> str:
    """Key of the document with the machine image of a planned image in this run."""
    return f"runs/{run}/booted/{image}.json"


def folder_on_existing(run: str) -> str:
    """Return the run's folder on an existing storage; the run removes all of it at the end."""
    return f"storage-matrix-{run}"


def agent_key(sha256: str) -> str:
    """Key of the agent's zip, named by its content."""
    return f"agents/{sha256}.pyz"


@dataclass(frozen=True)
class Board:
    """The part of the blackboard that one fleet uses: a cell's, or that of the instance that populates a cache."""

    prefix: str

    @classmethod
    def of_cell(cls, run: str, cell: str) -> "Board":
        return cls(f"runs/{run}/cells/{cell}/")

    @classmethod
    def of_cache(cls, run: str, file_system: str) -> "Board":
        """The board of the instance that fills a file system's cache."""
        return cls(f"runs/{run}/caches/{file_system}/")

    @classmethod
    def of_image(cls, run: str, image: str) -> "Board":
        """The board of the instance from which an image is made."""
        return cls(f"runs/{run}/images/{image}/")

    @classmethod
    def of_server(cls, run: str, file_system: str) -> "Board":
        """The board of the instance that is a file system: a file server."""
        return cls(f"runs/{run}/servers/{file_system}/")

    @property
    def job(self) -> str:
        return f"{self.prefix}job.json"

    @property
    def recipe(self) -> str:
        """The base image and the recipe of a machine image, with their fingerprints."""
        return f"{self.prefix}recipe.json"

    @property
    def fleet(self) -> str:
        """Which instances were launched, and when."""
        return f"{self.prefix}fleet.json"

    @property
    def volumes(self) -> str:
        """Which data volumes were launched with each instance."""
        return f"{self.prefix}{VOLUMES}"

    @property
    def barrier_nonce(self) -> str:
        """The secret name by which the instances of a launch meet; no instance may read it here."""
        return f"{self.prefix}meeting.json"

    def barrier(self, nonce: str) -> BarrierKeys:
        """The place of the start barriers of a launch."""
        return BarrierKeys.below(self.prefix, nonce)

    @property
    def result(self) -> str:
        return f"{self.prefix}result.json"

    @property
    def instances(self) -> str:
        """Prefix below which each instance writes, and only below its own name."""
        return f"{self.prefix}{INSTANCES}"
