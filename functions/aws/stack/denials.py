"""Creations that a policy of the account or of its organization forbids: no right of the stack's roles mends that.

Such a policy mostly asks for tags: an SCP or a permissions boundary by `aws:RequestTag`, a tag policy by itself.
https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
https://docs.aws.amazon.com/organizations/latest/userguide/orgs_manage_policies_tag-policies-enforcement.html
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError

from matrix.terms.documents.plan import PlanDocument
from matrix.terms.errors import CreationForbidden

_OF_ACCOUNT = re.compile(
    r"explicit deny|no (permissions boundary|service control policy|resource control policy) allows|tag ?policy",
    re.IGNORECASE,
)
# EC2 adds a thousand letters that only sts:DecodeAuthorizationMessage can read.
_ENCODED = re.compile(r"\s*Encoded authorization failure message: \S+")


def reason(error: ClientError | BotoCoreError) -> str:
    """Return AWS's code of an error, or its type where no answer came."""
    return error.response["Error"]["Code"] if isinstance(error, ClientError) else type(error).__name__


def describe(error: ClientError) -> str:
    """Return code and message of a refusal, without the encoded authorization message."""
    answered = error.response["Error"]
    return f"{answered['Code']}: {_ENCODED.sub('', answered.get('Message', ''))}"


def advice(error: ClientError, plan: PlanDocument) -> str:
    """Return advice if a policy of the account forbids a creation; '' after any other refusal."""
    if not _OF_ACCOUNT.search(describe(error)):
        return ""
    own = "Storage Matrix's own"
    given = ", ".join([*plan.get("tags", {}), own]) if plan.get("tags") else f"{own} only"
    return (
        f"a policy of the account or its organization forbids this call. It gave the tags: {given}. If the policy asks "
        'for another tag or value, write it into "tags" of the matrix, or deploy the stack with it '
        "(sam deploy --tags KEY=VALUE); docs/company.md"
    )


@contextmanager
def explained(plan: PlanDocument) -> Iterator[None]:
    """Turn a denial by a policy of the account into CreationForbidden, with advice."""
    try:
        yield
    except ClientError as error:
        if to_do := advice(error, plan):
            raise CreationForbidden(f"{error.operation_name}: {describe(error)}; {to_do}") from error
        raise
