"""moto keeps each object of its models for ever, in a list that only its reset reads, which nobody here calls.

So it does each row of each answer and each object that was overwritten: 4 MiB for each cell of a run of a hundred.
"""

from typing import Any

from moto.core.common_models import BaseModel


def install() -> None:
    """Keep only what is stored."""

    def make(cls: type[BaseModel], *_: Any, **__: Any) -> Any:
        return super(BaseModel, cls).__new__(cls)

    BaseModel.__new__ = make
