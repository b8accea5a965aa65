"""The JSON Schemas of the documents, which `make schema` writes into dist/schemas."""

import json
import sys
from pathlib import Path

from matrix.terms.documents.reading import DOCUMENTS, adapter


def schema_text(name: str) -> str:
    schema = adapter(DOCUMENTS[name], is_described=True).json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"{name}.json of Storage Matrix"}
    return json.dumps({**schema, **head}, indent=2, ensure_ascii=False, sort_keys=True) + "\n"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name in DOCUMENTS:
        (folder / f"{name}.schema.json").write_text(schema_text(name), encoding="utf-8")
