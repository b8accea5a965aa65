"""A raw JSON file of an instance: read, unzipped within bounds, and checked before anything believes it."""

import gzip
import io
import zlib
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from matrix.terms.errors import InvalidSamples

Model = TypeVar("Model", bound=BaseModel)


class Claims(BaseModel):
    """Claims of an agent; fields that this version does not know are ignored."""

    model_config = ConfigDict(extra="ignore")


def read(model: type[Model], content: bytes, *, name: str, max_bytes: int) -> Model:
    """Return the content of a file, gzipped or plain, as `model`; `name` is the file's name in error messages.

    Raises InvalidSamples if it holds more than `max_bytes`, is damaged, or has another shape.
    """
    try:
        text = _unzipped(content, max_bytes + 1)
        if len(text) > max_bytes:
            raise InvalidSamples(f"{name} has more than {max_bytes:,} bytes")
        return model.model_validate_json(text)
    except (ValidationError, OSError, EOFError, zlib.error) as error:
        raise InvalidSamples(f"{name} cannot be read: {str(error).splitlines()[0]}") from error


def _unzipped(content: bytes, max_bytes: int) -> bytes:
    """Unzip no more than `max_bytes`: a gzip file of 1 MB may hold 1 GB."""
    if not content.startswith(b"\x1f\x8b"):
        return content
    with gzip.open(io.BytesIO(content)) as unzipped:
        return unzipped.read(max_bytes)
