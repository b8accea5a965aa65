"""`image.ami`: an image of the user's own is found at plan time, refused before anything exists, and booted by all."""

import boto3
import pytest
from support.function_events import plan_run, problems_of_run
from support.refusals import refusing

from aws.account import own_image
from aws.ec2 import images
from matrix.terms.documents.plan import PlanImage

ON_X86 = {"fleet": [{"instanceType": "m6i.large", "count": 1}]}


# What EC2 says of images; moto keeps little of what it is told when one is registered.
DESCRIBED: dict[str, dict] = {}


def registered(**changes):
    """An image of the account; its id."""
    name = changes.get("Name", "golden")
    ami = boto3.client("ec2").register_image(Name=name, RootDeviceName="/dev/sda1")["ImageId"]
    DESCRIBED[ami] = {
        "Architecture": "x86_64", "RootDeviceName": "/dev/sda1", "RootDeviceType": "ebs", "VirtualizationType": "hvm",
        "EnaSupport": True, "BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 8}}], **changes,
    }  # fmt: skip
    return ami


@pytest.fixture
def described(stack, monkeypatch):
    """Let EC2 describe images as AWS does."""
    DESCRIBED.clear()
    real = own_image.client("ec2").describe_images

    def describe(**request):
        answer = real(**request)
        for image in answer["Images"]:
            image.update(DESCRIBED[image["ImageId"]])
        return answer

    monkeypatch.setattr(own_image.client("ec2"), "describe_images", describe)


def refused(context, **image):
    """The problems of a matrix with this image."""
    return problems_of_run(context, image=image, **ON_X86)


@pytest.mark.parametrize("bake", [False, True])
def test_a_plan_has_the_image_by_its_id_and_root_device_and_every_instance_boots_it(stack, context, described, bake):
    ami = registered()

    plan = plan_run(context, image={"ami": ami, "os": "ubuntu-22.04", "bake": bake}, **ON_X86)

    [image] = plan["images"]
    assert (image["ami"], image["root_device"]) == (ami, "/dev/sda1")
    assert images.base_of(image) == ami
    if not bake:
        boot = images.booted(plan, plan["cells"][0])
        assert (boot.image_id, boot.root_device) == (ami, "/dev/sda1")


def test_a_parameter_names_the_image_once_for_the_whole_run(stack, context, described):
    first, second = registered(), registered(Name="newer")
    ssm = boto3.client("ssm")
    ssm.put_parameter(Name="/golden/al2023", Value=first, Type="String")

    plan = plan_run(context, image={"ami": "/golden/al2023"}, **ON_X86)
    ssm.put_parameter(Name="/golden/al2023", Value=second, Type="String", Overwrite=True)

    assert images.booted(plan, plan["cells"][0]).image_id == first


@pytest.mark.parametrize(
    ("ami", "rule", "fix"),
    [
        (
            "ami-0123456789abcdef0",
            "is not an image in us-east-1 that this account may use",
            "share it with this account",
        ),
        ("/golden/absent", "is not a parameter of Systems Manager in us-east-1", "write one that is"),
    ],
)
def test_an_image_that_is_not_there_is_refused_before_anything_exists(stack, context, ami, rule, fix):
    [problem] = refused(context, ami=ami)

    assert (problem.path, problem.value) == ("image.ami", ami)
    assert rule in problem.rule
    assert fix in problem.fix


def test_a_parameter_that_holds_no_image_is_refused_with_what_it_holds(stack, context):
    boto3.client("ssm").put_parameter(Name="/golden/x", Value="ami-0aaaaaaaaaaaaaaaa", Type="String")

    [problem] = refused(context, ami="/golden/x")

    assert "(ami-0aaaaaaaaaaaaaaaa) is not an image" in problem.rule


def test_a_parameter_that_the_stack_may_not_read_is_told_with_the_parameter_of_the_stack(stack, context, monkeypatch):
    monkeypatch.setattr(own_image.client("ssm"), "get_parameter", refusing("AccessDeniedException"))

    [problem] = refused(context, ami="/golden/linux/al2023")

    assert problem.fix == "sam deploy --parameter-overrides ImageParameterPath=/golden/linux/"


def test_an_image_of_another_architecture_is_refused_with_the_types(stack, context, described):
    [problem] = refused(context, ami=registered(Architecture="arm64"))

    assert problem.rule == "is an image for arm64, and m6i.large are not"


@pytest.mark.parametrize("ami", ["ami-xyz", "golden", "resolve:ssm:/golden/x", "/golden", "/golden/x;y", "ami-1 "])
def test_a_text_that_names_no_image_is_refused_by_its_form(stack, context, ami):
    [problem] = refused(context, ami=ami)

    assert problem.rule == "is neither the id of an image nor the name of a parameter below a path"


def test_what_is_unusual_of_an_image_is_among_the_warnings_of_the_plan(stack, context, described):
    plan = plan_run(context, image={"ami": registered(Public=True, OwnerId="999999999999")}, **ON_X86)

    [warning] = [each for each in plan["warnings"] if each["path"] == "image.ami"]
    assert "is a public image of the account 999999999999" in warning["message"]


def test_a_plan_without_an_image_of_ones_own_has_none(stack, context):
    image: PlanImage = plan_run(context)["images"][0]

    assert "ami" not in image
