"""Step: launches that EC2 only checks (DryRun): template, image, type and subnet exist and fit together."""

from collections.abc import Iterator

from botocore.exceptions import ClientError

from cli.verify.checks import Check, assumed, required
from cli.verify.stack import Stack
from matrix.terms.documents.plan import PlanDocument

# Error codes of a dry run: the launch would succeed, and the user may not launch instances.
WOULD_LAUNCH, NOT_YOURS = "DryRunOperation", "UnauthorizedOperation"


def checks(stack: Stack, plan: PlanDocument) -> Iterator[Check]:
    """Request a dry run of a launch in each subnet of the stack; nothing is launched."""
    client = stack.client("ec2")
    cell = plan["cells"][0]
    planned = next(image for image in plan["images"] if image["id"] == cell["image"])
    image = stack.client("ssm").get_parameter(Name=planned["base_parameter"])["Parameter"]["Value"]
    template = stack.launch_settings["LAUNCH_TEMPLATE_ID"]
    for subnet in stack.subnets:
        what = f"{cell['fleet']['instanceType']} of {image} by {template} in {subnet}"
        try:
            client.run_instances(
                DryRun=True, MinCount=1, MaxCount=1, ImageId=image, InstanceType=cell["fleet"]["instanceType"],
                SubnetId=subnet, LaunchTemplate={"LaunchTemplateId": template},
            )  # fmt: skip
            code, message = "an answer", "EC2 took no notice of DryRun"
        except ClientError as error:
            code, message = error.response["Error"]["Code"], error.response["Error"]["Message"]
        if code == NOT_YOURS:
            advice = "you may not launch instances yourself; the functions' role was asked about in the step before"
            yield assumed(what, WOULD_LAUNCH, code, is_so=False, way_out=advice)
        else:
            seen = code if code == WOULD_LAUNCH else f"{code}: {message}"
            yield required(what, WOULD_LAUNCH, seen, is_so=code == WOULD_LAUNCH, way_out="mend what EC2 names")
