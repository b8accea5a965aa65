"""Permissions that a request needs besides its own action: a launch uses many resources, EFS and FSx call EC2.

Sources: AWS's service authorization reference and the documentation of the operations, cited in the code. Each
permission has its own condition keys; if tags of a request or resource are known, a missing tag is known to be absent.

The account is assumed to be new: a call that creates a service-linked role there needs the permission to do so.
"""

from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from moto.dynamodb.models import dynamodb_backends
from moto.ec2.models import ec2_backends
from moto.efs.models import efs_backends
from moto.fsx.models import fsx_backends
from moto.iam.models import iam_backends

from local.corrections import directory_buckets
from local.corrections.clients import PARTITION
from local.corrections.s3_files import S3FilesBackend, s3files_backends

# A context with these keys holds all tags of the request, or of the resource.
REQUEST_TAGS_KNOWN, RESOURCE_TAGS_KNOWN = "aws:requesttag/", "aws:resourcetag/"
SERVICE_LINKED_ROLES = {
    "elasticfilesystem": "AWSServiceRoleForAmazonElasticFileSystem",
    "fsx": "AWSServiceRoleForAmazonFSx",
    "spot": "AWSServiceRoleForEC2Spot",
}
# Of who makes a file system (EFS guide, EFSKMS; FSx guide, encryption-rest), and of who launches (EBS guide,
# ebs-encryption-requirements).
OF_FILE_SYSTEMS = ("Decrypt", "DescribeKey", "GenerateDataKeyWithoutPlaintext", "CreateGrant")
OF_VOLUMES = (*OF_FILE_SYSTEMS, "ReEncryptFrom", "ReEncryptTo")
Needed = tuple[str, str, dict[str, str]]


def needed(action: str, request: Any, body: dict[str, Any], account: str, region: str) -> Iterator[Needed]:
    """Yield (action, resource, condition keys) of all permissions that a call needs; nothing if only its own action."""
    service, _, operation = action.partition(":")
    match service:
        case "dynamodb":
            yield from _of_table(body, _Place(account, region))
        case "ec2":
            yield from _of_ec2(operation, request, _Place(account, region))
        case "elasticfilesystem":
            path = unquote(getattr(request, "path", "") or request.uri)
            yield from _of_efs(operation, path, body, _Place(account, region))
        case "s3files":
            path = unquote(getattr(request, "path", "") or request.uri)
            yield from _of_s3_files(operation, path, body, _Place(account, region))
        case directory_buckets.SERVICE:
            yield from _of_directory_bucket(operation, request, _Place(account, region))
        case "fsx":
            yield from _of_fsx(operation, body, _Place(account, region))


class _Place:
    """An account and region, their ARNs, and the tags of their resources."""

    def __init__(self, account: str, region: str) -> None:
        self.account, self.region = account, region
        self.ec2, self.efs = ec2_backends[account][region], efs_backends[account][region]
        self.fsx = fsx_backends[account][region]
        self.s3_files: S3FilesBackend = s3files_backends[account][region]

    def arn(self, service: str, name: str) -> str:
        # Images and snapshots may belong to others, so their ARNs name no account.
        account = "" if name.partition("/")[0] in ("image", "snapshot") else self.account
        return f"arn:{PARTITION}:{service}:{self.region}:{account}:{name}"

    def tags_of_ec2(self, resource: str) -> dict[str, str]:
        return _context(RESOURCE_TAGS_KNOWN, self.ec2.tags.get(resource, {}))

    def tags_of_efs(self, file_system: str) -> dict[str, str]:
        return _context(RESOURCE_TAGS_KNOWN, self.efs.tagging_service.get_tag_dict_for_resource(file_system))

    def tags_of_s3_files(self, file_system: str) -> dict[str, str]:
        return _context(RESOURCE_TAGS_KNOWN, self.s3_files.tags_of(file_system))

    def tags_of_fsx(self, name: str) -> dict[str, str]:
        return _context(RESOURCE_TAGS_KNOWN, self.fsx.tagger.get_tag_dict_for_resource(self.arn("fsx", name)))

    def service_linked_role(self, service: str) -> Needed:
        name = f"{service}.amazonaws.com"
        role = f"role/aws-service-role/{name}/{SERVICE_LINKED_ROLES[service]}"
        arn = f"arn:{PARTITION}:iam::{self.account}:{role}"
        return "iam:CreateServiceLinkedRole", arn, {"iam:awsservicename": name}


def _of_ec2(operation: str, request: Any, place: _Place) -> Iterator[Needed]:
    singular = {"DeleteVolume": "Volume", "DeleteSnapshot": "Snapshot", "DeregisterImage": "Image"}
    match operation:
        case "RunInstances":
            yield from _launch(request, place)
        case "CreateImage":
            instance = request._get_param("InstanceId")
            yield "ec2:CreateImage", place.arn("ec2", f"instance/{instance}"), place.tags_of_ec2(instance)
            yield from _made("CreateImage", ["image", "snapshot"], request, place)
        case "TerminateInstances":
            for instance in request._get_param("InstanceIds") or []:
                yield f"ec2:{operation}", place.arn("ec2", f"instance/{instance}"), place.tags_of_ec2(instance)
        case "AttachVolume":
            for kind in ("Instance", "Volume"):
                name = request._get_param(f"{kind}Id")
                yield f"ec2:{operation}", place.arn("ec2", f"{kind.lower()}/{name}"), place.tags_of_ec2(name)
        case "GetConsoleOutput":
            instance = request._get_param("InstanceId")
            yield f"ec2:{operation}", place.arn("ec2", f"instance/{instance}"), place.tags_of_ec2(instance)
        case "DeleteVolume" | "DeleteSnapshot" | "DeregisterImage":
            kind = singular[operation]
            name = request._get_param(f"{kind}Id")
            yield f"ec2:{operation}", place.arn("ec2", f"{kind.lower()}/{name}"), place.tags_of_ec2(name)


def _launch(request: Any, place: _Place) -> Iterator[Needed]:
    """Yield the permissions for a launch: create tagged resources, use others, pass a role to the instances."""
    made = ["instance", "volume", "network-interface"]
    is_spot = (request._get_param("InstanceMarketOptions") or {}).get("MarketType") == "spot"
    if is_spot:
        made.append("spot-instances-request")
        yield place.service_linked_role("spot")
    yield from _made("RunInstances", made, request, place)
    mappings = request._get_param("BlockDeviceMappings") or []
    for key in {mapping.get("Ebs", {}).get("KmsKeyId") for mapping in mappings}:
        yield from _by_key(key, "ec2", OF_VOLUMES, place)
    used = [f"image/{request._get_param('ImageId')}", f"subnet/{request._get_param('SubnetId')}"]
    mapped = request._get_param("BlockDeviceMappings") or []
    used += [
        f"snapshot/{mapping['Ebs']['SnapshotId']}" for mapping in mapped if mapping.get("Ebs", {}).get("SnapshotId")
    ]
    if wanted := request._get_param("LaunchTemplate"):
        template = place.ec2._get_template_from_args(wanted)
        used += [f"launch-template/{template.template.id}"]
        used += [f"security-group/{group}" for group in template.data.get("SecurityGroupIds", [])]
        for role in _roles(place.account, template.data.get("IamInstanceProfile", {}).get("Arn")):
            yield "iam:PassRole", role, {"iam:passedtoservice": "ec2.amazonaws.com"}
    for part in used:
        yield "ec2:RunInstances", place.arn("ec2", part), place.tags_of_ec2(part.partition("/")[2])


def _made(operation: str, kinds: list[str], request: Any, place: _Place) -> Iterator[Needed]:
    """Yield the permissions to create each kind of resource, and to tag those that the same call tags."""
    tagged = {
        specification["ResourceType"]: specification["Tags"]
        for specification in request._get_param("TagSpecifications") or []
    }
    for kind in kinds:
        tags = _request_tags(tagged.get(kind))
        yield f"ec2:{operation}", place.arn("ec2", f"{kind}/*"), tags
        if kind in tagged:
            yield "ec2:CreateTags", place.arn("ec2", f"{kind}/*"), {"ec2:createaction": operation, **tags}


def _of_efs(operation: str, path: str, body: dict[str, Any], place: _Place) -> Iterator[Needed]:
    """Yield the permissions for a call of EFS, and for its calls of EC2 as the caller (documentation of each call)."""
    action, last = f"elasticfilesystem:{operation}", path.rstrip("/").rpartition("/")[2]
    tags, creating = _request_tags(body.get("Tags")), {"elasticfilesystem:createaction": operation}
    match operation:
        case "CreateFileSystem":
            yield action, "*", {"elasticfilesystem:encrypted": str(bool(body.get("Encrypted"))).lower(), **tags}
            yield "elasticfilesystem:TagResource", place.arn("elasticfilesystem", "file-system/*"), creating | tags
            yield from _by_key(body.get("KmsKeyId"), "elasticfilesystem", OF_FILE_SYSTEMS, place)
        case "CreateMountTarget":
            yield _on_efs(action, body.get("FileSystemId", ""), place)
            yield from _made_mount_target(body.get("SubnetId"), body.get("SecurityGroups", []), place)
        case "DeleteMountTarget":
            target = place.efs.mount_targets_by_id.get(last)
            # Another sweep may have deleted it just now: then there are no tags to check, and EFS returns that it does
            # not exist.
            if target:
                yield _on_efs(action, target.file_system_id, place)
            yield "ec2:DeleteNetworkInterface", place.arn("ec2", "network-interface/*"), {}
        case "DeleteFileSystem":
            yield _on_efs(action, last, place)
        case "PutFileSystemPolicy":
            yield _on_efs(action, path.split("/")[-2], place)


def _made_mount_target(subnet: str | None, groups: list[str], place: _Place) -> Iterator[Needed]:
    # EFS creates the role with the first mount target (EFS guide, service-linked roles), not the file system.
    yield place.service_linked_role("elasticfilesystem")
    yield "ec2:DescribeSubnets", "*", {}
    yield "ec2:DescribeNetworkInterfaces", "*", {}
    for part in ["network-interface/*", f"subnet/{subnet}", *(f"security-group/{group}" for group in groups)]:
        yield "ec2:CreateNetworkInterface", place.arn("ec2", part), {}


def _on_efs(action: str, file_system: str, place: _Place) -> Needed:
    return action, place.arn("elasticfilesystem", f"file-system/{file_system}"), place.tags_of_efs(file_system)


def _of_s3_files(operation: str, path: str, body: dict[str, Any], place: _Place) -> Iterator[Needed]:
    """Yield the permissions for a call (service authorization reference, list_s3files), and for its calls of EC2.

    The reference lists none of EC2; these are EFS's, on which the service runs.
    """
    action, last = f"s3files:{operation}", path.rstrip("/").rpartition("/")[2]
    tags = _request_tags([{"Key": tag["key"], "Value": tag["value"]} for tag in body.get("tags", [])])
    match operation:
        case "CreateFileSystem":
            yield action, "*", tags
            creating = {"s3files:createaction": operation} | tags
            yield "s3files:TagResource", place.arn("s3files", "file-system/*"), creating
            yield "iam:PassRole", body.get("roleArn", ""), {"iam:passedtoservice": "elasticfilesystem.amazonaws.com"}
        case "CreateMountTarget":
            yield _on_s3_files(action, body.get("fileSystemId", ""), place)
            yield from _made_mount_target(body.get("subnetId"), body.get("securityGroups", []), place)
        case "DeleteMountTarget":
            name = place.s3_files.file_system_of(last)
            # Another sweep may have deleted it just now: then there are no tags to check, and the response is that it
            # is gone.
            if name:
                yield _on_s3_files(action, name, place)
            yield "ec2:DeleteNetworkInterface", place.arn("ec2", "network-interface/*"), {}
        case "DeleteFileSystem":
            yield _on_s3_files(action, last, place)
        case "PutSynchronizationConfiguration":
            yield _on_s3_files(action, path.split("/")[-2], place)


def _on_s3_files(action: str, file_system: str, place: _Place) -> Needed:
    return action, place.arn("s3files", f"file-system/{file_system}"), place.tags_of_s3_files(file_system)


def _of_directory_bucket(operation: str, request: Any, place: _Place) -> Iterator[Needed]:
    """Yield the permissions for a call on a directory bucket (service authorization reference)."""
    name = request.target.path.rpartition("/")[2] if operation == "ListTagsForResource" else request.target.bucket
    action, bucket = f"s3express:{operation}", place.arn("s3express", f"bucket/{name}")
    match operation:
        case "CreateBucket":
            tags = _request_tags(request.requested_tags)
            yield action, bucket, tags
            yield "s3express:TagResource", bucket, tags
        case "CreateSession":
            # botocore opens one before each call on a bucket, too, as on AWS it does not: `use_of_session` is judged.
            yield "sts:GetCallerIdentity", "*", {}
        case "DeleteBucket" | "ListTagsForResource":
            yield action, bucket, _context(RESOURCE_TAGS_KNOWN, directory_buckets.tags_of(place.account, name))


def use_of_session(bucket: str, method: str, account: str, region: str) -> Needed:
    """Return the permission for a session of a directory bucket, checked at each call on objects, by its HTTP method.

    A client that requests no mode gets a session that may write, or a read-only one if its role denies the other (S3
    API reference, CreateSession).
    """
    tags = _context(RESOURCE_TAGS_KNOWN, directory_buckets.tags_of(account, bucket))
    mode = {"s3express:sessionmode": "ReadOnly" if method in ("GET", "HEAD") else "ReadWrite"}
    return "s3express:CreateSession", _Place(account, region).arn("s3express", f"bucket/{bucket}"), tags | mode


def _of_fsx(operation: str, body: dict[str, Any], place: _Place) -> Iterator[Needed]:
    via_fsx = {"aws:calledvia": "fsx.amazonaws.com"}
    match operation:
        case "CreateFileSystem":
            for action in ("fsx:CreateFileSystem", "fsx:TagResource"):
                yield action, place.arn("fsx", "file-system/*"), _request_tags(body.get("Tags"))
            yield place.service_linked_role("fsx")
            yield from _by_key(body.get("KmsKeyId"), "fsx", OF_FILE_SYSTEMS, place)
            # The rest after AWS's policy AmazonFSxFullAccess, Sids DescribeEC2VpcResources and CreateTags.
            yield "ec2:GetSecurityGroupsForVpc", place.arn("ec2", "vpc/*"), via_fsx
            for kind in ("SecurityGroups", "Subnets", "Vpcs", "RouteTables"):
                yield f"ec2:Describe{kind}", "*", via_fsx
            # A Multi-AZ file system: FSx tags the route tables that it changes.
            settings = {**body.get("OpenZFSConfiguration", {}), **body.get("OntapConfiguration", {})}
            for table in settings.get("RouteTableIds", []):
                tag = _request_tags([{"Key": "AmazonFSx", "Value": "ManagedByAmazonFSx"}])
                yield "ec2:CreateTags", place.arn("ec2", f"route-table/{table}"), via_fsx | tag
        case "CreateStorageVirtualMachine" | "CreateVolume":
            yield from _made_in_ontap(operation, body, place)
        case "DeleteStorageVirtualMachine" | "DeleteVolume":
            yield from _deleted_of_ontap(operation, body, place)
        case "DeleteFileSystem":
            name = f"file-system/{body.get('FileSystemId')}"
            yield "fsx:DeleteFileSystem", place.arn("fsx", name), place.tags_of_fsx(name)
        case "DeleteBackup":
            name = f"backup/{body.get('BackupId')}"
            yield "fsx:DeleteBackup", place.arn("fsx", name), place.tags_of_fsx(name)


def _made_in_ontap(operation: str, body: dict[str, Any], place: _Place) -> Iterator[Needed]:
    """Yield the creation of an SVM or a volume; that of an SVM is asked of its file system, too (list_fsx)."""
    kind = "volume" if operation == "CreateVolume" else "storage-virtual-machine"
    tags = _request_tags(body.get("Tags"))
    for action in (f"fsx:{operation}", "fsx:TagResource"):
        yield action, place.arn("fsx", f"{kind}/*/*"), tags
    if operation == "CreateStorageVirtualMachine":
        of = f"file-system/{body['FileSystemId']}"
        yield f"fsx:{operation}", place.arn("fsx", of), tags | place.tags_of_fsx(of)


def _deleted_of_ontap(operation: str, body: dict[str, Any], place: _Place) -> Iterator[Needed]:
    """Yield the deletion of an SVM or a volume, whose ARN has its file system between."""
    name = body.get("VolumeId") or body.get("StorageVirtualMachineId")
    kind, kept = ("volume", "volumes") if operation == "DeleteVolume" else ("storage-virtual-machine", "svms")
    backend = fsx_backends[place.account][place.region]
    of = backend.__dict__.get(f"local_{kept}", {}).get(name, {}).get("FileSystemId", "*")
    path = f"{kind}/{of}/{name}"
    yield f"fsx:{operation}", place.arn("fsx", path), place.tags_of_fsx(path)


def _by_key(key: str | None, service: str, actions: tuple[str, ...], place: _Place) -> Iterator[Needed]:
    """Yield the permissions for a service to use a key in the caller's name; nothing if the request names no key.

    EC2 detects a refusal only after its response, and terminates the instances (local/corrections/ebs_key.py). Here the
    call itself is refused, so that the log of decisions contains it.
    """
    context = {"kms:viaservice": f"{service}.{place.region}.amazonaws.com"}
    for action in actions if key else ():
        of_grant = {"kms:grantisforawsresource": "true"} if action == "CreateGrant" else {}
        yield f"kms:{action}", str(key), context | of_grant


def _of_table(body: dict[str, Any], place: _Place) -> Iterator[Needed]:
    """Yield the use of the key of each table that a request names."""
    names = [body["TableName"]] if "TableName" in body else list(body.get("RequestItems", {}))
    for name in names:
        table = dynamodb_backends[place.account][place.region].tables.get(name.rpartition("/")[2])
        key = (getattr(table, "sse_specification", None) or {}).get("KMSMasterKeyId")
        yield from _by_key(key, "dynamodb", ("Decrypt",), place)


def _roles(account: str, profile_arn: str | None) -> list[str]:
    profiles = iam_backends[account][PARTITION].instance_profiles.values()
    return [role.arn for profile in profiles if profile.arn == profile_arn for role in profile.roles]


def _request_tags(tags: list[dict[str, str]] | None) -> dict[str, str]:
    return _context(REQUEST_TAGS_KNOWN, {tag["Key"]: tag.get("Value", "") for tag in tags or []})


def _context(prefix: str, tags: dict[str, str]) -> dict[str, str]:
    return {prefix: ""} | {f"{prefix}{key}".lower(): value for key, value in tags.items()}
