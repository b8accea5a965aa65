"""The user's own machine image (`image.ami` of a matrix): find it and check it against the fleets before launch."""

from collections.abc import Iterator
from typing import Any

from botocore.exceptions import ClientError

from aws.account.quotas import instance_types
from aws.stack.clients import DENIED, client
from aws.stack.environment import environment
from matrix.input.matrix import Matrix
from matrix.plan import own_image
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.problems import Problem

ABSENT = ("InvalidAMIID.NotFound", "InvalidAMIID.Malformed", "InvalidAMIID.Unavailable")


class OwnImage:
    """EC2's description of a matrix's own image and the problems found; empty if the matrix names no image."""

    def __init__(self, matrix: Matrix, account: str) -> None:
        """Describe and check the image. Raises ClientError unless it is unknown, or its parameter unreadable."""
        self._matrix, self._account = matrix, account
        self._given = (matrix.image.ami if matrix.image else None) or ""
        self._image: dict[str, Any] = {}
        self.problems: list[Problem] = list(self._checked()) if self._given else []

    def write_into(self, plan: PlanDocument) -> None:
        """Use this image for all fleets of a plan, by its id, because a parameter may name another image later."""
        for planned in plan["images"] if self._image else []:
            planned["ami"] = self._image["ImageId"]
            planned["root_device"] = self._image["RootDeviceName"]

    def _checked(self) -> Iterator[Problem]:
        image_id = self._given
        if image_id.startswith("/"):
            try:
                image_id = client("ssm").get_parameter(Name=self._given)["Parameter"]["Value"]
            except ClientError as error:
                yield self._unread(error)
                return
        try:
            described = client("ec2").describe_images(ImageIds=[image_id])["Images"]
        except ClientError as error:
            if error.response["Error"]["Code"] not in ABSENT:
                raise
            described = []
        if not described:
            of = f" ({image_id})" if image_id != self._given else ""
            rule = f"{of} is not an image in {environment().region} that this account may use".lstrip()
            fix = "write the id of one of this region, or let its owner share it with this account"
            yield Problem(own_image.PATH, self._given, rule, fix)
            return
        [self._image] = described
        wanted = own_image.named_types(self._matrix)
        types, _ = instance_types(sorted(wanted))
        yield from own_image.problems(self._given, self._image, types, wanted, self._account)

    def _unread(self, error: ClientError) -> Problem:
        code = error.response["Error"]["Code"]
        if code == "ParameterNotFound":
            rule, fix = f"is not a parameter of Systems Manager in {environment().region}", "write one that is"
        elif code in DENIED:
            rule = "is a parameter that the stack may not read"
            fix = f"sam deploy --parameter-overrides ImageParameterPath={self._given.rpartition('/')[0]}/"
        else:
            raise error
        return Problem(own_image.PATH, self._given, rule, fix)
