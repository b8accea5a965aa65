"""Names of storages (`EBS gp3`) for tables and charts, and labels with all fields (`EBS (gp3; 200 GiB)`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from matrix.storages.base import Words
    from matrix.terms.documents.parts import StorageFields
    from matrix.terms.documents.summary import Candidate, SummaryDocument

# Behind the name of an emulated storage, so that no line can be quoted as a measured one.
NOT_AWS = "(emulated, not AWS)"


def _describe_kind(storage: StorageFields) -> Words | None:
    # The models need pydantic: a quarter of a second that `matrix --help` does not wait for.
    from matrix.storages.models import MODELS

    model = MODELS.get(str(storage.get("type")))
    return model.traits.words if model else None


def storage_label(storage: StorageFields) -> str:
    """Label a storage as the published tables do: `EFS (performance mode generalPurpose; throughput mode elastic)`.

    A type without own words is labelled by all of its fields; the label of an emulated storage begins with that.
    """
    words = _describe_kind(storage)
    label = words.label if words else str(storage.get("type", "storage"))
    if words and words.fields:
        texts = words.texts(storage, words.fields)
    else:
        own = {key: value for key, value in storage.items() if key not in ("type", "emulated")}
        texts = {key: f"{key} {value}" for key, value in own.items() if value is not None}
    # The throughput belongs to its mode: `throughput mode provisioned 512 MiB/s`.
    if throughput := texts.pop("provisionedThroughputMiBps", ""):
        texts["throughputMode"] = f"{texts.get('throughputMode', 'throughput mode')} {throughput}"
    details = ["EMULATED"] * bool(storage.get("emulated")) + list(texts.values())
    return f"{label} ({'; '.join(details)})" if details else label


@dataclass(frozen=True)
class StorageName:
    """A storage's name without figures, such as `EBS gp3`, and its figures by field."""

    kind: str
    figures: Mapping[str, str]

    @classmethod
    def of(cls, storage: StorageFields) -> StorageName | None:
        """Read a storage; None if its user has named it or its type is unknown."""
        words = _describe_kind(storage)
        if storage.get("name") or words is None:
            return None
        texts = words.texts({**words.supposed, **storage}, {**words.fields, **words.in_names})
        own = [texts.pop(key) for key in words.named_by if key in texts]
        return cls(" ".join([words.name, *own]), texts)

    def text(self, fields: Iterable[str]) -> str:
        """Write the name with these of its figures: `EBS gp3 (200 GiB, 3000 IOPS)`."""
        figures = ", ".join(self.figures[key] for key in fields if key in self.figures)
        return f"{self.kind} ({figures})" if figures else self.kind


def whole_names(storages: Iterable[tuple[str, StorageFields]]) -> dict[str, str]:
    """Return the name of each storage, by its id, with all of its figures."""
    return _names(dict(storages), brief=False)


def brief_names(storages: Iterable[tuple[str, StorageFields]], *, mark: str = NOT_AWS) -> dict[str, str]:
    """Return the name of each storage, by its id, with the figures in which it differs from others of its kind.

    `mark` stands behind those of emulated ones; without it, the place has to say once that all are emulated.
    """
    return _names(dict(storages), brief=True, mark=mark)


def candidate_names(summary: SummaryDocument, *, mark: str = NOT_AWS) -> Callable[[Candidate], str]:
    """Return what names the storage of a candidate, as all tables of a run do; for `mark` see `brief_names`."""
    names = brief_names(((cell["file_system"], cell["storage"]) for cell in summary["cells"]), mark=mark)
    return lambda candidate: names[candidate["file_system"]]


def cell_names(cells: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the name of each cell's storage, by the cell's id, as all tables and documents of a run write it."""
    named = {str(cell["id"]): cell for cell in cells}
    systems = {id_: str(cell.get("file_system") or id_) for id_, cell in named.items()}
    names = brief_names((systems[id_], cell.get("storage") or {}) for id_, cell in named.items())
    return {cell: names[system] for cell, system in systems.items()}


def _names(storages: Mapping[str, StorageFields], *, brief: bool, mark: str = NOT_AWS) -> dict[str, str]:
    read = {key: StorageName.of(storage) for key, storage in storages.items()}
    names = {}
    for key, name in read.items():
        if name is None:
            names[key] = str(storages[key].get("name") or storage_label(storages[key]))
            continue
        alike = [other for other in read.values() if other and other.kind == name.kind]
        names[key] = name.text(
            each for each in name.figures if not brief or len({other.figures.get(each) for other in alike}) > 1
        )
    # Storages of equal names differ in a field without words, so their ids distinguish them.
    texts = list(names.values())
    names = {key: text if texts.count(text) == 1 else f"{text} [{key}]" for key, text in names.items()}
    return {key: f"{text} {mark}" if mark and storages[key].get("emulated") else text for key, text in names.items()}
