"""Check a user's own machine image (`image.ami`), as EC2 describes it, against the instance types of a plan.

Properties that only a boot shows, such as Python and cloud-init, are listed in docs/company.md.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from matrix.fields.fleet import architecture_of
from matrix.input.matrix import Matrix
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.problems import Problem, Problems, Weight

PATH = "image.ami"
# Owner aliases in DescribeImages whose public images need no warning.
KNOWN_OWNERS = ("self", "amazon", "aws-marketplace")


def named_types(matrix: Matrix) -> list[str]:
    """Return the instance types that boot the image of a matrix: types of fleets and of file servers."""
    servers = (storage.document.get("instanceType") for _, storage in matrix.located("storage"))
    return list(dict.fromkeys([*(fleet.instance_type for fleet in matrix.fleets()), *filter(None, servers)]))


def problems(
    given: str, image: Mapping[str, Any], types: Mapping[str, Mapping[str, Any]], wanted: Iterable[str], account: str
) -> Problems:
    """Yield reasons why these instance types cannot boot an image, and warnings about unusual properties.

    `given` is the matrix's `image`; `types` has EC2's descriptions of instance types by name, as far as known.
    """
    yield from _of_image(given, image)
    wanted = list(wanted)
    architecture = str(image.get("Architecture"))
    others = [name for name in wanted if architecture_of(name) != architecture]
    if others:
        rule = f"is an image for {architecture}, and {', '.join(others)} are not"
        yield Problem(PATH, given, rule, "write one matrix for each architecture, each with an image of its own")
    for name in wanted:
        if name in types and name not in others:
            yield from _of_type(given, image, name, types[name])
    yield from _doubts(given, image, account)


def _of_image(given: str, image: Mapping[str, Any]) -> Problems:
    state = image.get("State")
    if state != "available":
        yield Problem(PATH, given, f"is {state}", "write one that is available, or wait until it is")
    if image.get("Platform") == "windows":
        yield Problem(PATH, given, "is an image of Windows; the agent runs on Linux", "write one of Linux")
    if image.get("RootDeviceType") != "ebs":
        rule = f"has a root device of type {image.get('RootDeviceType')}; it must be ebs, which can be encrypted"
        yield Problem(PATH, given, rule, "write an image with an EBS root volume")
    if image.get("VirtualizationType") != "hvm":
        rule = f"is virtualized as {image.get('VirtualizationType')}; current instance types boot hvm only"
        yield Problem(PATH, given, rule, "write an image of type hvm")
    root = image.get("RootDeviceName")
    volumes = {
        mapping["DeviceName"]: mapping["Ebs"] for mapping in image.get("BlockDeviceMappings", []) if "Ebs" in mapping
    }
    size = volumes.get(str(root), {}).get("VolumeSize", 0)
    if size > ROOT_VOLUME_GIB:
        rule = f"has a root volume of {size} GiB; instances have one of {ROOT_VOLUME_GIB}"
        yield Problem(PATH, given, rule, f"make the image with a root volume of at most {ROOT_VOLUME_GIB} GiB")
    if extra := sorted(volumes.keys() - {root}):
        rule = f"brings volumes beside its root ({', '.join(extra)}): each instance would have and pay them"
        yield Problem(PATH, given, rule, "make the image with its root volume only")


def _of_type(given: str, image: Mapping[str, Any], name: str, described: Mapping[str, Any]) -> Problems:
    if described.get("NetworkInfo", {}).get("EnaSupport") == "required" and not image.get("EnaSupport"):
        rule = f"does not support ENA (EnaSupport), without which {name} has no network"
        yield Problem(PATH, given, rule, "register the image with ENA support")
    modes, mode = described.get("SupportedBootModes"), image.get("BootMode")
    if modes and mode in ("uefi", "legacy-bios") and mode not in modes:
        rule = f"boots by {mode}, and {name} only by {', '.join(modes)}"
        yield Problem(PATH, given, rule, "write another instance type, or an image of that boot mode")


def _doubts(given: str, image: Mapping[str, Any], account: str) -> Problems:
    owner, alias = str(image.get("OwnerId", "")), image.get("ImageOwnerAlias")
    if image.get("Public") and owner != account and alias not in KNOWN_OWNERS:
        rule = f"is a public image of the account {owner}: whoever published it has root on your instances"
        yield Problem(PATH, given, rule, "make sure that you know that account, or copy the image", weight=Weight.NOTE)
    if image.get("ProductCodes"):
        rule = "is a product of AWS Marketplace: it may cost more than its instances, and must be subscribed to"
        yield Problem(PATH, given, rule, "subscribe to it first; its charge is in no plan", weight=Weight.NOTE)
    encrypted = [each["Ebs"].get("Encrypted") for each in image.get("BlockDeviceMappings", []) if "Ebs" in each]
    if any(encrypted):
        rule = "has an encrypted snapshot: where its key is one of the account, the stack's roles must be let use it"
        yield Problem(PATH, given, rule, "see docs/company.md, A key of yours", weight=Weight.NOTE)
