"""The project's file server: its own instance, which runs the agent as a server, launched and ended as fleets are.

It has the file system's tags, so the clean-up of a file system's instances terminates it as well.
"""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from aws.ec2 import instances, resources
from aws.ec2.images import first_booted, newest
from aws.fleet import launching
from aws.records import bucket
from aws.records.plans import plan_of
from aws.stack import tags
from aws.storages import ebs
from aws.storages.base import Existing, FileSystem
from contract.keys import FAILED
from matrix.fields.fleet import architecture_of
from matrix.plan import images
from matrix.run.job import serving_job
from matrix.run.polling import ENDED_STATES, reason
from matrix.run.receipt import SERVER
from matrix.storages.file_server import volume
from matrix.terms.charges import ROOT_VOLUME_GIB
from matrix.terms.documents import reading
from matrix.terms.documents.job import FileServerAddress, JobCell, Mount
from matrix.terms.documents.parts import Fleet, Part
from matrix.terms.documents.plan import PlanDocument
from matrix.terms.errors import FileSystemFailed, InvalidDocument
from matrix.terms.keys import Board

# At most this length of an instance's document is read.
MAX_BYTES = 10_000
LAST_PORT = 65_535
# Pattern of IPv4 addresses, the only kind in the stack's network.
ADDRESS = re.compile(r"(?:\d{1,3}\.){3}\d{1,3}", re.ASCII)
# Pattern of the letters of `secrets.token_urlsafe`.
TOKEN = re.compile(r"[\w-]{1,100}", re.ASCII)


class FileServer(FileSystem):
    # Time limit for boot, packages and mount, as for a fleet.
    CREATION_LIMIT_S = 900
    DELETION_PROOF = "EC2 DescribeInstances: terminated"
    PURPOSE = SERVER

    def create(self, _token: str, storage: Part, _tags: list[dict[str, str]], run: str, name: str, _zone: int) -> str:
        """Launch the server, or find the one that was launched before; return its instance id."""
        plan = plan_of(run)
        board = Board.of_server(run, name)
        fleet: Fleet = {"instanceType": storage["instanceType"], "count": 1, "placement": "same-az"}
        own_volume = volume(storage["sizeGiB"])
        cell: JobCell = {
            "id": SERVER,
            "file_system": name,
            "storage": own_volume,
            "workload": {"type": "serve"},
            # Not the remaining time: EC2 accepts a repeated launch only with equal user data, which contains this.
            # The job ends with the run in any case.
            "deadline_s": plan["deadline_at"] - plan["created_at"],
            "ready_within_s": self.CREATION_LIMIT_S,
            "root_volume_gib": ROOT_VOLUME_GIB,
        }
        launching.launch(
            plan=plan,
            board=board,
            cell=cell,
            purpose=SERVER,
            fleet=fleet,
            boot=_own_image(plan) or _newest_image(run, architecture_of(storage["instanceType"])),
            mount=ebs.cloud.mount("", own_volume),
            job=partial(serving_job, cell=cell),
        )
        return bucket.get(board.fleet)["instances"][0]

    def find(self, _token: str) -> None:
        """Return None: the server is deleted with the instances of its file system, which are found by their tags."""

    def is_ready(self, resource_id: str, _storage: Part) -> bool:
        """Return whether it serves. Raises FileSystemFailed if it never will, with the reason that it reported."""
        # The state first: an agent may report why it ends while its instance is shutting down.
        state = instances.states([resource_id]).get(resource_id, "pending")
        failure = _document(resource_id, FAILED)
        if failure is not None or state in ENDED_STATES:
            for refused in instances.reasons_of_end([resource_id]).values() if failure is None else ():
                if instances.is_of_ec2(refused, has_started=False):
                    raise instances.refusal(refused, f"EC2 ended the file server {resource_id}")
            why = "its log may say why" if failure is None else reason(failure)
            raise FileSystemFailed(f"the file server {resource_id} is {state}: {why}"[:1_000])
        return _address(resource_id) is not None

    def mount(self, resource_id: str, storage: Part) -> Mount:
        """Return the server's address and the token for it. Raises FileSystemFailed if it does not serve (any more)."""
        address = _address(resource_id) if self.is_ready(resource_id, storage) else None
        if address is None:
            raise FileSystemFailed(f"the file server {resource_id} has not said where it listens")
        return {"kind": "file-server", "host": address["host"], "port": address["port"], "token": address["token"]}

    def existing(self) -> tuple[Existing, ...]:
        """Return none: a server is listed as an instance."""
        return ()

    def deleted(self, created_at: Mapping[str, float]) -> Iterable[str]:
        """Return the servers that are terminated."""
        return resources.deleted_instances(created_at)

    def delete(self, _resource_id: str) -> bool:
        """Return True: it is deleted with the instances."""
        return True


def _own_image(plan: PlanDocument) -> instances.Boot | None:
    """Return the user's own image if the matrix names one; Plan matrix has checked it for the server's type too."""
    own = next((image for image in plan["images"] if "ami" in image), None)
    return instances.Boot(own["ami"], own["root_device"]) if own else None


def _newest_image(run: str, architecture: str) -> instances.Boot:
    """Return Amazon's newest image at the run's first launch of a server."""
    parameter, root_device = images.base("al2023", architecture)
    return instances.Boot(first_booted(run, f"{SERVER}-{architecture}", partial(newest, parameter)), root_device)


def _address(instance: str) -> FileServerAddress | None:
    """Return the server's address, None until it reports one. Raises FileSystemFailed if it is not an address.

    Every instance of the file system's cells connects to it, so only the exact form that an agent writes is accepted.
    """
    text = _document(instance, "address.json")
    if text is None:
        return None
    where = f"the file server {instance}: address.json"
    try:
        address = reading.read(FileServerAddress, reading.parse(text, where), where)
    except InvalidDocument as error:
        raise FileSystemFailed(f"{error}"[:1_000]) from error
    is_usable = 0 < address["port"] <= LAST_PORT and ADDRESS.fullmatch(address["host"])
    if not (is_usable and TOKEN.fullmatch(address["token"])):
        raise FileSystemFailed(f"{where} holds no address, port and token as an agent writes them")
    return address


def _document(instance: str, name: str) -> bytes | None:
    """Return the content of a document of the server, unchecked; None until the server has written it."""
    [server_tags] = instances.tags_by_id([instance]).values() or [{}]
    if not server_tags:  # launched a moment ago: EC2 is eventually consistent
        return None
    board = Board.of_server(server_tags[tags.RUN], server_tags[tags.FILE_SYSTEM])
    # An instance may write any name below its own folder, including one that looks like another instance's folder.
    own = re.compile(f"{re.escape(board.instances)}[^/:]+:{re.escape(instance)}/{re.escape(name)}")
    for key, _ in bucket.listing(board.instances):
        if own.fullmatch(key):
            return bucket.get_bytes(key, at_most=MAX_BYTES)
    return None


cloud = FileServer()
