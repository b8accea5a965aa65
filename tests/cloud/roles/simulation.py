"""IAM's policy simulator over the deployed roles, which moto lacks: judged by the same policies as every call.

Like IAM's, it knows only the context that the request gives: a condition on another key is not fulfilled, and the key
is among MissingContextValues. Of the parameters only those are read that `matrix verify` sends.
"""

from typing import Any

from moto.core.responses import ActionResult
from moto.iam.models import iam_backends
from moto.iam.responses import IamResponse

from cloud.roles.enforcement import boundary_of, documents_of
from cloud.roles.policies import Permission, decide, unknown_keys
from local.corrections.clients import ACCOUNT, PARTITION

ANSWERS = {"allow": "allowed", "implicit deny": "implicitDeny", "explicit deny": "explicitDeny"}


def install() -> None:
    IamResponse.simulate_principal_policy = simulate_principal_policy


def simulate_principal_policy(response: Any) -> ActionResult:
    """Return the decisions of a role's policies for each action on each resource.

    IAM finds a role by its whole ARN with its path; other ARNs are NoSuchEntity.
    """
    request = response._get_params()
    role = iam_backends[ACCOUNT][PARTITION].get_role_by_arn(request["PolicySourceArn"]).name
    context = {
        entry["ContextKeyName"].lower(): entry["ContextKeyValues"][0] for entry in request.get("ContextEntries", [])
    }
    resources = request.get("ResourceArns") or ["*"]
    results = [_result(role, action, resource, context) for action in request["ActionNames"] for resource in resources]
    return ActionResult({"EvaluationResults": results, "IsTruncated": False})


def _result(role: str, action: str, resource: str, context: dict[str, str]) -> dict[str, Any]:
    documents, permission = documents_of(ACCOUNT, role), Permission(action, resource)
    decision = decide(documents, permission, context)
    missing = unknown_keys(documents, permission, context) if decision == "allow" else set()
    boundary = boundary_of(ACCOUNT, role)
    detail = {}
    if boundary is not None:
        by_boundary = decide([boundary], permission, context)
        detail = {"PermissionsBoundaryDecisionDetail": {"AllowedByPermissionsBoundary": by_boundary == "allow"}}
        decision = by_boundary if decision == "allow" else decision
    return {
        "EvalActionName": action,
        "EvalResourceName": resource,
        "EvalDecision": "implicitDeny" if missing else ANSWERS[decision],
        **detail,
        "MissingContextValues": sorted(missing),
    }
