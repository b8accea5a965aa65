"""FSx for NetApp ONTAP: storage virtual machines (SVM) and volumes, because moto has only the file system.

CREATING → CREATED → DELETING → gone, by the tokens and with the errors of the model. Refused as by FSx: values that its
model lacks, deleting an SVM with volumes, deleting a file system with SVMs or volumes of its own.
"""

import json
import time
import uuid
from collections.abc import Callable
from typing import Any

from moto.fsx.responses import FSxResponse

from local.corrections.folders import later

Document = dict[str, Any]
Refuse = Callable[[str, str], Exception]
# Of a FlexGroup: 8 constituents on each HA pair, of at least 100 GiB (FSx for ONTAP guide, volume styles).
MIN_OF_FLEXGROUP = 8 * 100 * 2**30


def refuse_deletion(backend: Any, file_system_id: str, refuse: Refuse) -> None:
    """Raise DeleteFileSystem's error if an SVM or a volume remains."""
    left = [each for kind in ("svms", "volumes") for each in _of(backend, kind).values()]
    if any(each["FileSystemId"] == file_system_id for each in left):
        raise refuse("BadRequest", f"{file_system_id} has storage virtual machines or volumes, which go first.")


def install(delay_s: float, refuse: Refuse) -> None:
    """Give moto's FSx the calls; each step of a life cycle takes `delay_s`."""
    ontap = _Ontap(delay_s, refuse)
    for name in ("create_storage_virtual_machine", "create_volume", "delete_storage_virtual_machine", "delete_volume"):
        setattr(FSxResponse, name, _answering(getattr(ontap, name)))
    for name in ("describe_storage_virtual_machines", "describe_volumes"):
        setattr(FSxResponse, name, _answering(getattr(ontap, name)))


def _answering(call: Callable[[Any, Document], Document]) -> Callable[[Any], str]:
    def answer(self: Any) -> str:
        return json.dumps(call(self.fsx_backend, json.loads(self.body)))

    return answer


def _of(backend: Any, kind: str) -> dict[str, Document]:
    """Return the SVMs or volumes that a backend has; a reset of moto makes another backend without any."""
    kept: dict[str, Document] = backend.__dict__.setdefault(f"local_{kind}", {})
    return kept


class _Ontap:
    """The calls about SVMs and volumes."""

    def __init__(self, delay_s: float, refuse: Refuse) -> None:
        self._delay_s, self._refuse = delay_s, refuse

    def create_storage_virtual_machine(self, backend: Any, request: Document) -> Document:
        file_system_id = request["FileSystemId"]
        file_system = backend.file_systems.get(file_system_id)
        if file_system is None or file_system.file_system_type != "ONTAP":
            raise self._refuse("FileSystemNotFound", f"File system '{file_system_id}' does not exist.")
        if file_system.to_dict()["Lifecycle"] != "AVAILABLE":
            raise self._refuse("BadRequest", f"{file_system_id} is not available.")
        name = f"svm-{uuid.uuid4().hex[:17]}"
        # AWS's guide puts the SVM's id first; the pattern of its model allows only a file system's id there.
        host = f"{file_system_id}.{name}.fsx.{backend.region_name}.amazonaws.com"
        made = {
            "StorageVirtualMachineId": name,
            "FileSystemId": file_system_id,
            "Name": request["Name"],
            "RootVolumeSecurityStyle": request.get("RootVolumeSecurityStyle", "UNIX"),
            "Subtype": "DEFAULT",
            "Endpoints": {"Nfs": {"DNSName": host, "IpAddresses": ["198.19.0.10"]}},
        }
        path = f"storage-virtual-machine/{file_system_id}/{name}"
        made = self._made(backend, "svms", name, path, made, request)
        root = f"fsvol-{uuid.uuid4().hex[:17]}"
        settings = {"StorageVirtualMachineId": made["StorageVirtualMachineId"], "StorageVirtualMachineRoot": True}
        if not any(self._is_root_of(each, made) for each in _of(backend, "volumes").values()):
            of_root = {"VolumeId": root, "Name": f"{request['Name']}_root"}
            self._volume(backend, file_system_id, of_root | {"OntapConfiguration": settings}, {"Tags": []})
        return {"StorageVirtualMachine": made}

    @staticmethod
    def _is_root_of(volume: Document, svm: Document) -> bool:
        settings = volume["OntapConfiguration"]
        is_of = settings["StorageVirtualMachineId"] == svm["StorageVirtualMachineId"]
        return bool(is_of and settings.get("StorageVirtualMachineRoot"))

    def create_volume(self, backend: Any, request: Document) -> Document:
        settings = request.get("OntapConfiguration")
        if request["VolumeType"] != "ONTAP" or settings is None:
            raise self._refuse("MissingVolumeConfiguration", "OntapConfiguration is required for ONTAP.")
        svm = _of(backend, "svms").get(settings["StorageVirtualMachineId"])
        if svm is None:
            raise self._refuse(
                "StorageVirtualMachineNotFound", f"{settings['StorageVirtualMachineId']} does not exist."
            )
        style, size = settings.get("VolumeStyle", "FLEXVOL"), settings.get("SizeInBytes", 0)
        pairs = backend.file_systems[svm["FileSystemId"]].ontap_configuration.get("HAPairs", 1)
        refused = {
            f"{svm['StorageVirtualMachineId']} is not created.": self._state(svm) != "CREATED",
            "StorageEfficiencyEnabled is required for RW volumes.": "StorageEfficiencyEnabled" not in settings,
            "JunctionPath must begin with a slash.": not settings.get("JunctionPath", "").startswith("/"),
            "Names of volumes have letters, digits and _.": not request["Name"].replace("_", "a").isalnum(),
            "A FlexGroup has at least 100 GiB in each constituent.": style == "FLEXGROUP"
            and size < MIN_OF_FLEXGROUP * pairs,
        }
        for message, is_refused in refused.items():
            if is_refused:
                raise self._refuse("BadRequest", message)
        name = f"fsvol-{uuid.uuid4().hex[:17]}"
        known = {key: value for key, value in settings.items() if key != "SizeInMegabytes"}
        about = {"VolumeId": name, "Name": request["Name"], "OntapConfiguration": {**known, "VolumeStyle": style}}
        return {"Volume": self._volume(backend, svm["FileSystemId"], about, request)}

    def _volume(self, backend: Any, file_system_id: str, about: Document, request: Document) -> Document:
        path = f"volume/{file_system_id}/{about['VolumeId']}"
        made = {"FileSystemId": file_system_id, "VolumeType": "ONTAP", **about}
        return self._made(backend, "volumes", about["VolumeId"], path, made, request)

    def _made(self, backend: Any, kind: str, name: str, path: str, made: Document, request: Document) -> Document:
        """Create a resource once for each token, and return it."""
        asked = {key: value for key, value in request.items() if key != "ClientRequestToken"}
        token = request.get("ClientRequestToken") or uuid.uuid4().hex
        first = next((each for each in _of(backend, kind).values() if each["_token"] == token), None)
        if first is None:
            arn = f"arn:aws:fsx:{backend.region_name}:{backend.account_id}:{path}"
            first = {**made, "ResourceARN": arn, "CreationTime": time.time(), "_token": token, "_asked": asked}
            _of(backend, kind)[name] = first
            if request.get("Tags"):
                backend.tagger.tag_resource(arn, request["Tags"])
        elif first["_asked"] != asked:
            raise self._refuse("IncompatibleParameterError", f"The token {token} was used with other parameters.")
        return self._shown(backend, first)

    def _shown(self, backend: Any, kept: Document) -> Document:
        own = {key: value for key, value in kept.items() if not key.startswith("_")}
        tags = backend.tagger.list_tags_for_resource(kept["ResourceARN"])["Tags"]
        return {**own, "Lifecycle": self._state(kept), **({"Tags": tags} if tags else {})}

    def _state(self, kept: Document) -> str:
        if kept.get("_deleting"):
            return "DELETING"
        return "CREATED" if time.time() - kept["CreationTime"] >= self._delay_s else "CREATING"

    def describe_storage_virtual_machines(self, backend: Any, request: Document) -> Document:
        return {"StorageVirtualMachines": self._described(backend, "svms", request)}

    def describe_volumes(self, backend: Any, request: Document) -> Document:
        return {"Volumes": self._described(backend, "volumes", request)}

    def _described(self, backend: Any, kind: str, request: Document) -> list[Document]:
        ids = request.get("StorageVirtualMachineIds" if kind == "svms" else "VolumeIds")
        unknown = "StorageVirtualMachineNotFound" if kind == "svms" else "VolumeNotFound"
        for name in ids or []:
            if name not in _of(backend, kind):
                raise self._refuse(unknown, f"{name} does not exist.")
        kept = [each for name, each in _of(backend, kind).items() if not ids or name in ids]
        for wanted in request.get("Filters", []):
            if wanted["Name"] == "file-system-id":
                kept = [each for each in kept if each["FileSystemId"] in wanted["Values"]]
        return [self._shown(backend, each) for each in kept]

    def delete_volume(self, backend: Any, request: Document) -> Document:
        name = request["VolumeId"]
        volume = self._to_delete(backend, "volumes", name, "VolumeNotFound")
        if volume["OntapConfiguration"].get("StorageVirtualMachineRoot"):
            raise self._refuse("BadRequest", f"{name} is the root volume of an SVM, and goes with that.")
        self._delete(backend, "volumes", name)
        return {"VolumeId": name, "Lifecycle": "DELETING"}

    def delete_storage_virtual_machine(self, backend: Any, request: Document) -> Document:
        name = request["StorageVirtualMachineId"]
        svm = self._to_delete(backend, "svms", name, "StorageVirtualMachineNotFound")
        volumes = [
            each for each in _of(backend, "volumes").values()
            if each["OntapConfiguration"]["StorageVirtualMachineId"] == name
        ]  # fmt: skip
        if any(not self._is_root_of(each, svm) for each in volumes):
            raise self._refuse("BadRequest", f"{name} has volumes, which go first.")
        for each in volumes:
            self._delete(backend, "volumes", each["VolumeId"])
        self._delete(backend, "svms", name)
        return {"StorageVirtualMachineId": name, "Lifecycle": "DELETING"}

    def _to_delete(self, backend: Any, kind: str, name: str, unknown: str) -> Document:
        kept = _of(backend, kind).get(name)
        if kept is None:
            raise self._refuse(unknown, f"{name} does not exist.")
        return kept

    def _delete(self, backend: Any, kind: str, name: str) -> None:
        kept = _of(backend, kind)[name]
        if not kept.get("_deleting"):
            kept["_deleting"] = True
            later(self._delay_s, _of(backend, kind).pop, name, None)
