"""Corrections to moto's images: creation takes time, names are unique, snapshots tagged; Ubuntu and ENA exist.

An image of CreateImage is `pending` before it is `available`. Its snapshot is of the instance's root volume, and has
the requested tags, as the image does. Canonical's public parameters name an image of each architecture.
"""

from typing import Any

from moto.core.utils import utcnow
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import amis, ec2_backends
from moto.ssm.models import Parameter, ParameterDict

from local.corrections.folders import later

DELAY_S = 0.3
CANONICAL = "/aws/service/canonical/ubuntu/server/22.04/stable/current"
UBUNTU = {"amd64": ("ami-0ca1000000000amd64", "x86_64"), "arm64": ("ami-0ca1000000000arm64", "arm64")}
CANONICALS_ACCOUNT = "099720109477"


def install(delay_s: float = DELAY_S) -> None:
    _create_slowly_and_tag(delay_s)
    _know_ubuntu()
    # All current images of EC2 have ENA; DescribeImages returns the attributes that an image object has.
    amis.Ami.ena_support = True


def _create_slowly_and_tag(delay_s: float) -> None:
    create = amis.AmiBackend.create_image

    def create_image(self: Any, instance_id: str, name: str, description: str, tag_specifications: list[dict]) -> Any:
        if any(ami.name == name and ami.owner_id == self.account_id for ami in self.amis.values()):
            raise EC2ClientError("InvalidAMIName.Duplicate", f"AMI name {name} is already in use by AMI")
        tags = {each["ResourceType"]: {tag["Key"]: tag["Value"] for tag in each["Tags"]} for each in tag_specifications}
        image = create(self, instance_id, name, description, [])
        image.root_device_type = "ebs"  # moto's is the type of its volume
        instance = self.get_instance(instance_id)
        image.root_device_name = self.amis[instance.image_id].root_device_name
        root = instance.block_device_mapping.get(image.root_device_name)
        if root is not None:
            image.ebs_snapshot.volume = self.volumes[root.volume_id]
        image.add_tags(tags.get("image", {}))
        image.ebs_snapshot.add_tags(tags.get("snapshot", {}))
        image.state = "pending"
        later(delay_s, setattr, image, "state", "available")
        return image

    amis.AmiBackend.create_image = create_image


def _know_ubuntu() -> None:
    check = ParameterDict._check_loading_status

    def check_with_ubuntu(self: Any, key: str) -> None:
        check(self, key)
        name = str(key or "")
        if name.startswith(CANONICAL) and not dict.__contains__(self, name):
            image_id, architecture = UBUNTU[name.removeprefix(f"{CANONICAL}/").partition("/")[0]]
            _register(ec2_backends[self.account_id][self.region_name], image_id, architecture)
            dict.__setitem__(self, name, [_parameter(self, name, image_id)])

    ParameterDict._check_loading_status = check_with_ubuntu


def _register(backend: Any, image_id: str, architecture: str) -> None:
    backend.amis[image_id] = amis.Ami(
        backend, image_id, name=f"ubuntu-jammy-22.04-{architecture}", owner_id=CANONICALS_ACCOUNT, public=True,
        architecture=architecture, virtualization_type="hvm", root_device_type="ebs", root_device_name="/dev/sda1",
    )  # fmt: skip


def _parameter(store: Any, name: str, value: str) -> Parameter:
    return Parameter(  # type: ignore[abstract]  # moto's store instantiates it too
        account_id=store.account_id, name=name, value=value, parameter_type="String", description=None,
        allowed_pattern=None, keyid=None, last_modified_date=utcnow(), version=1, data_type="aws:ec2:image",
    )  # fmt: skip
