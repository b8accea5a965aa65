"""Write run.asl.json, which the template deploys, from run.asl.yaml, which people read and change.

CloudFormation's parser reads an alias of YAML as plain text: `Retry: [*LambdaFault]` would become `"Retry":
["LambdaFault"]`, and Step Functions would refuse it. `sam deploy` and `aws cloudformation package` do not help: both
upload the file of DefinitionUri unchanged.
"""

import json
from pathlib import Path

import yaml

HERE = Path(__file__).parent
SOURCE = HERE / "run.asl.yaml"
DEPLOYED = HERE / "run.asl.json"


def expanded(source: str) -> str:
    """Return a definition in YAML as JSON, with each alias replaced by its anchor's content."""
    return json.dumps(yaml.safe_load(source), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    DEPLOYED.write_text(expanded(SOURCE.read_text(encoding="utf-8")), encoding="utf-8")
