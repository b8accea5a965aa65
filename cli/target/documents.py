"""Documents of a run, checked where the command line reads them: from the mirror, the local cloud or the bucket."""

from pathlib import PurePosixPath
from typing import Any

from cli.messages.errors import UnreadableRun


def checked(document: dict[str, Any], name: str, where: str, advice: str) -> dict[str, Any]:
    """Return a document, once it is seen to be what its name says, such as `cells/…/result.json`.

    Raises UnreadableRun with the path and the rule where it is not.
    """
    # pydantic takes a quarter of a second to import, which commands that read no document need not wait for.
    from matrix.terms.documents.reading import DOCUMENTS, read
    from matrix.terms.errors import InvalidDocument

    kind = DOCUMENTS.get(PurePosixPath(name).stem)
    try:
        return document if kind is None else read(kind, document, where)
    except InvalidDocument as error:
        raise UnreadableRun(f"{error}", advice) from error
