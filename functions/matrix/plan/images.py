"""Machine images of a run: base image, software to install, and the fingerprint of a baked image.

All instances get the same software. A baked image contains it; otherwise each instance installs it before its first
step is prepared. No sample contains that time.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from matrix.input import workloads
from matrix.input.image import Image
from matrix.price.book import CellRates, Cost, PriceBook, instances_cost, machine_rates
from matrix.storages.models import MODELS
from matrix.terms.charges import ROOT_VOLUME_GIB, Amount
from matrix.terms.documents.parts import Params, Part, Provisions
from matrix.terms.documents.plan import PlanImage, PlanWarning
from matrix.terms.problems import Weight

# By the `tool` of a point, for all workloads; the agent's own engines need no programs.
_OF_TOOL = {
    "parallel": {"parallel"},
    "rsync": {"rsync"},
    "fpsync": {"fpsync", "rsync"},
    "cp+parallel": {"parallel"},
    "fpart+cpio+parallel": {"fpart", "parallel", "cpio"},
}


def tools_of_cell(storage: Part, workload: Part, points: Sequence[Params]) -> set[str]:
    """Return the names of the programs that a storage, a workload and its points' parameters (documents) need."""
    return {*tools_of_storage(storage), *tools_of_work(workload, points)}


def tools_of_storage(storage: Part) -> frozenset[str]:
    """Return the programs that make or mount a storage."""
    return MODELS[storage["type"]].tools(storage)


def tools_of_work_volume() -> set[str]:
    """Return the programs that make a file system on a work volume."""
    return {"mkfs.xfs", "blkid"}


def tools_of_work(workload: Part, points: Sequence[Params]) -> set[str]:
    """Return the programs that a workload and its points' parameters need."""
    of_points = (_OF_TOOL.get(str(params.get("tool")), set()) for params in points)
    engine = {"docker"} if any(params.get("container") for params in points) else set()
    return set(workloads.MODELS[workload["type"]].tools).union(engine, *of_points)


# Public parameters in which Amazon and Canonical keep the id of their newest image in each region.
_PARAMETERS: dict[tuple[str, str], str] = {
    ("al2023", "x86_64"): "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64",
    ("al2023", "arm64"): "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-arm64",
    ("ubuntu-22.04", "x86_64"): "/aws/service/canonical/ubuntu/server/22.04/stable/current/amd64/hvm/ebs-gp2/ami-id",
    ("ubuntu-22.04", "arm64"): "/aws/service/canonical/ubuntu/server/22.04/stable/current/arm64/hvm/ebs-gp2/ami-id",
}
_ROOT_DEVICES = {"al2023": "/dev/xvda", "ubuntu-22.04": "/dev/sda1"}
# Any small instance of the architecture that regions have; 8 GiB are enough to build a container image.
_BUILDERS = {"x86_64": "m6i.large", "arm64": "m6g.large"}
# Packages 2 minutes, container images 5, the snapshot of some GiB 5: guesses, with ample room at the end.
BAKE_S = Amount(300.0, 720.0, 3_600.0)
# Not found in the beginnings of Amazon Linux's package lists; GNU parallel was found.
_NOT_SEEN_ON_AMAZON_LINUX = {"fpart", "fpsync"}
# Used part of an image's 20 GiB: Amazon Linux has 2 GiB, Ubuntu 3, container images are the rest.
_KEPT_GIB = Amount(2.0, 5.0, float(ROOT_VOLUME_GIB))


def base(os: str, architecture: str) -> tuple[str, str]:
    """Return the public parameter that names the newest image of an operating system, and its root device."""
    return _PARAMETERS[os, architecture], _ROOT_DEVICES[os]


@dataclass(frozen=True)
class Recipe:
    """Software that is installed on an image."""

    os: str
    architecture: str
    tools: tuple[str, ...]
    packages: tuple[str, ...]
    containers: tuple[str, ...]
    dockerfile: str | None

    @property
    def id(self) -> str:
        """Readable id, unique within a matrix."""
        return f"{self.os}-{self.architecture}"

    def to_document(self) -> Provisions:
        """Return the recipe as JSON."""
        return {
            "os": self.os,
            "architecture": self.architecture,
            "tools": list(self.tools),
            "packages": list(self.packages),
            "containers": list(self.containers),
            "dockerfile": self.dockerfile,
        }


def recipe(image: Image, architecture: str, tools: Iterable[str], containers: Iterable[str]) -> Recipe:
    """Return the recipe of an image for the workloads that need these tools and container images."""
    return Recipe(
        os=image.os,
        architecture=architecture,
        tools=tuple(sorted(set(tools))),
        packages=tuple(sorted(set(image.packages))),
        containers=tuple(sorted({*image.containers, *containers})),
        dockerfile=image.dockerfile,
    )


def fingerprint(document: Provisions, base_image_id: str) -> str:
    """Return the fingerprint of a recipe and a base image, by which a baked image is found again."""
    text = json.dumps([document, base_image_id], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


@dataclass(frozen=True)
class PlannedImage:
    """An image that cells boot; if it is baked, at most once."""

    recipe: Recipe
    image: Image  # from the matrix: software for every instance, independent of its workload
    cost: Cost  # 0 if an earlier run has baked it; in the worst case an hour
    rates: CellRates
    kept_month: Cost  # of its snapshot, as long as it is kept

    @property
    def id(self) -> str:
        """The recipe's id."""
        return self.recipe.id

    @property
    def is_baked(self) -> bool:
        """Whether a machine image is baked. If false, each instance installs the software."""
        return self.image.bake

    def to_document(self) -> PlanImage:
        """Return the image as JSON."""
        return {
            "id": self.id,
            "bake": self.is_baked,
            "recipe": self.recipe.to_document(),
            "provisions": {
                "packages": self.image.packages,
                "containers": self.image.containers,
                "dockerfile": self.image.dockerfile,
            },
            "base_parameter": _PARAMETERS[self.recipe.os, self.recipe.architecture],
            "root_device": _ROOT_DEVICES[self.recipe.os],
            "builder": _BUILDERS[self.recipe.architecture],
            "expected_s": BAKE_S.expected if self.is_baked else 0.0,
            "deadline_s": BAKE_S.high,
            "cost_usd": self.cost.to_document(),
            "reserve_usd": round(self.cost.high, 4),
            "rates_usd": self.rates.to_document(),
            "kept_usd_month": self.kept_month.to_document(),
        }


def planned(recipe: Recipe, image: Image, book: PriceBook) -> PlannedImage:
    """Return the plan of an image: whether it is baked, from which recipe, and its cost."""
    builder = _BUILDERS[recipe.architecture]
    each_s = Amount(0.0, BAKE_S.expected, BAKE_S.high)
    cost = instances_cost(book, builder, 1, each_s) if image.bake else Cost()
    kept = book.price("ebs_snapshot_gib_month").of(_KEPT_GIB) if image.bake else Cost()
    # An image that an earlier run has baked costs nothing, so low is 0 and not the least that EC2 bills.
    return PlannedImage(recipe, image, Cost(0.0, cost.expected, cost.high), machine_rates(book, builder), kept)


def warnings(planned: Iterable[PlannedImage], most_helped: int) -> Iterator[PlanWarning]:
    """Yield warnings: software that instances may not find or install in time, and slow first reads of a baked image.

    `most_helped` is the largest number of instances of a fleet that mount EFS by its mount helper.
    """
    for each in planned:
        recipe, is_ubuntu = each.recipe, each.recipe.os == "ubuntu-22.04"
        unseen = sorted(_NOT_SEEN_ON_AMAZON_LINUX & set(recipe.tools))
        if unseen and not is_ubuntu:
            message = f"{' and '.join(unseen)}: we did not find fpart in the packages of Amazon Linux 2023, and without"
            message += ' it each cell that needs it fails; write "image": {"os": "ubuntu-22.04"}, which has it'
            yield {"path": "image.os", "value": recipe.os, "message": message, "weight": Weight.NOTE}
        if is_ubuntu and not each.is_baked and most_helped > 1:
            message = (
                f"up to {most_helped} instances compile the EFS mount helper, which takes each of them minutes, and"
            )
            message += " download its sources at the same time; a cell fails whose instances are not ready in time;"
            message += ' write "image": {"os": "ubuntu-22.04", "bake": true} to compile it once'
            yield {"path": "image.bake", "value": False, "message": message, "weight": Weight.NOTE}
        if each.is_baked and recipe.packages:
            message = "programs of a baked image come from S3 when they are first read, which may make the first"
            message += " repetition slower (its container images are read beforehand); take three repetitions or more"
            yield {"path": "image.packages", "value": list(recipe.packages), "message": message, "weight": Weight.NOTE}
