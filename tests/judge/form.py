"""What CloudFormation refuses of the section Rules, before it makes any resource; cfn-lint has the other sections."""

from collections.abc import Iterator
from typing import Any

SOURCE = "https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/rules-section-structure.html"
# "Rule functions, supported functions": conditions have others.
NAMES = "And Contains EachMemberEquals EachMemberIn Equals Not Or RefAll ValueOf ValueOfAll"
# The page does not say it. AWS's samples do it: https://github.com/aws-samples/amazon-cloudfront-secure-static-site/pull/50
PSEUDO_OF_RULES = {"AWS::Region"}
FUNCTIONS_OF_RULES = {"Ref", *(f"Fn::{name}" for name in NAMES.split())}


def refusals(template: dict[str, Any]) -> Iterator[str]:
    """Yield functions that rules do not have, and parameters that there are not, each as "path: problem (source)"."""

    def judged(node: Any, path: str) -> Iterator[str]:
        if isinstance(node, dict):
            for name, child in node.items():
                if (name == "Ref" or name.startswith("Fn::")) and name not in FUNCTIONS_OF_RULES:
                    yield f"{path}: {name} is not a function of rules ({SOURCE})"
                if name == "Ref" and child not in {*template.get("Parameters", {}), *PSEUDO_OF_RULES}:
                    yield f"{path}: refers to {child!r}, which is not a parameter ({SOURCE})"
                yield from judged(child, f"{path}.{name}")
        elif isinstance(node, list):
            for child in node:
                yield from judged(child, path)

    yield from judged(template.get("Rules", {}), "Rules")
