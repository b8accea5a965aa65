"""Roles enforced: a call made with a deployed role's credentials needs a grant of that role, as on AWS.

moto's own enforcement denies every ARN-scoped grant except S3's, so it stays off. `permissions` reads the required
permissions of a request. `policies` evaluates them by the identity policies (inline and managed) of the role that
signed the request, for S3 also by the bucket's policy, and always by the role's permissions boundary. This module runs
between the request and its response, and logs every decision in iam-decisions.jsonl.

A call may need more than its own action (dependents.py): a launch needs permissions for every resource that
it creates, tags and starts from, and iam:PassRole; EFS and FSx call EC2 as the caller.

More lenient than AWS: if no ARN can be read from the request (descriptions, CloudWatch, AWS Backup), any Resource of a
matching statement counts. Conditions on keys that are unknown here (aws:TagKeys, tags of recovery points, …) hold in an
Allow and do not hold in a Deny. Whether an absent object is a 404 or a 403 is decided as for a listing with its key as
the prefix; AWS may evaluate a condition on s3:prefix differently. Not evaluated: resource policies other than those of
buckets and keys, policies of an organization, session policies, and calls whose key is not a role's (the operator's).
"""

import json
import re
import threading
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import unquote
from xml.sax.saxutils import unescape

from moto.core.authorization import ActionAuthenticatorMixin
from moto.core.exceptions import ServiceException
from moto.core.responses import ActionResult, BaseResponse
from moto.iam.exceptions import NotFoundException
from moto.iam.models import iam_backends
from moto.kms.models import kms_backends
from moto.s3.exceptions import S3AccessDeniedError
from moto.s3.models import s3_backends
from moto.s3.responses import S3Response

from cloud.faults import injection
from cloud.roles import dependents
from cloud.roles.permissions import PERMISSIONS, SERVICE_PREFIXES, Caller, needed_permissions
from cloud.roles.policies import Permission, about, decide
from local.corrections import directory_buckets
from local.corrections.clients import PARTITION
from local.corrections.requests import body_of
from local.sessions import RoleSessions

# A run of 100 cells makes some 3,000 decisions; denials are logged beyond this limit.
MAX_DECISIONS = 20_000
IDENTITY, BOUNDARY = "identity-based policy", "permissions boundary"
ALWAYS_ALLOWED = {"sts:GetCallerIdentity"}
PLAIN_ACCESS_DENIED = {
    "s3",
    directory_buckets.SERVICE,
    "sns",
    "sts",
    "cloudwatch",
    "cloudformation",
    "iam",
    "elasticfilesystem",
}


class RoleEnforcement:
    """Allows or denies requests, and logs the decisions."""

    def __init__(self, decisions: Path, sessions: RoleSessions, injected: injection.Faults | None = None) -> None:
        self._sessions = sessions
        self._injected = injected
        self._log: TextIO = decisions.open("w", buffering=1)
        self._logged: set[tuple[str, Permission, str]] = set()
        self._lock = threading.Lock()

    def install(self) -> None:
        """Check every call before moto answers it."""
        enforcement = self
        call_action = BaseResponse.call_action

        def judged_call_action(self: Any) -> Any:
            denial = enforcement.judge(self)
            if denial is not None:
                return _denied_answer(self, denial)
            return enforcement._play_faults(self, call_action)

        def judge_s3(self: Any, bucket_name: str | None = None, key_name: str | None = None) -> None:
            if enforcement.judge_s3(self, bucket_name, key_name) is not None:
                raise S3AccessDeniedError
            enforcement._play_s3_faults(self, key_name)

        BaseResponse.call_action = judged_call_action
        ActionAuthenticatorMixin._authenticate_and_authorize_s3_action = judge_s3
        if self._injected is not None:
            for name in ("_key_response", "_bucket_response"):
                setattr(S3Response, name, _with_s3_faults(getattr(S3Response, name), self._injected))

    def may_fetch(self, session: Any, region: str, object_arn: str) -> bool:
        """Return whether an instance's role lets it fetch an object."""
        caller = _caller_of(session, region, "s3")
        return self.allows(caller, Permission("s3:GetObject", object_arn))

    def allows(self, caller: Caller, permission: Permission, context: dict[str, str] | None = None) -> bool:
        """Return whether the caller's role, or the bucket, grants this and neither denies it; log the decision."""
        decision, _ = self._decision(caller, permission, context or {})
        self._keep(caller, permission, decision, context or {})
        return decision == "allow"

    def _decision(self, caller: Caller, permission: Permission, context: dict[str, str]) -> tuple[str, str]:
        """Return the decision, and the kind of policy that made it."""
        role_arn = caller.role_arn
        documents = documents_of(caller.account, caller.role)
        if permission.action.startswith("s3:"):
            documents += [about(policy, role_arn, caller.arn) for policy in _policies_of_bucket(caller, permission)]
        if permission.action.startswith("kms:"):
            documents.append(about(_policy_of_key(caller.account, permission.resource), role_arn, caller.arn))
        known = {
            "kms:calleraccount": caller.account,
            "aws:requestedregion": caller.region,
            "aws:securetransport": "true",
            "aws:userid": caller.userid,
            "aws:principalarn": role_arn,
            "aws:principalaccount": caller.account,
            **context,
        }
        decision = decide(documents, permission, known)
        if decision == "allow" and (boundary := boundary_of(caller.account, caller.role)) is not None:
            # The boundary also limits a grant of a resource's policy to the role (IAM guide, permissions boundaries).
            return decide([boundary], permission, known), BOUNDARY
        return decision, IDENTITY

    def judge(self, response: Any) -> ServiceException | None:
        """Return the denial of a call, or None if it is allowed."""
        caller = self._caller(response)
        if caller is None:
            return None
        for permission, context in needed_permissions(response, caller):
            if permission.action not in ALWAYS_ALLOWED and not self.allows(caller, permission, context):
                return self._denial(caller, permission, context)
        return None

    def judge_s3(self, response: Any, bucket: str | None, key: str | None) -> ServiceException | None:
        """Return the denial of an S3 call, or None. As on S3, an absent key without s3:ListBucket is denied, no 404."""
        caller = self._caller(response)
        if caller is None or caller.service == directory_buckets.SERVICE:
            return self._use_of_session(caller, bucket, response.method) if caller else None
        name = f"s3:{response._get_action()}"
        action = PERMISSIONS.get(name, name)
        if action == "s3:DeleteObject" and key is None:
            return self._deleting_of_many(caller, bucket, response.body or b"")
        is_of_bucket = key is None or action.startswith("s3:ListBucket")
        permission = Permission(action, f"arn:{PARTITION}:s3:::{bucket or '*'}{'' if is_of_bucket else f'/{key}'}")
        context = {f"s3:{word}": values[0] for word, values in response.querystring.items() if word == "prefix"}
        if_none_match = response.headers.get("If-None-Match")
        if action == "s3:PutObject" and if_none_match is not None:
            context["s3:if-none-match"] = if_none_match
        if action == "s3:ListBucket":
            context.setdefault("s3:prefix", "")
        if not self.allows(caller, permission, context):
            return self._denial(caller, permission, context)
        denial = self._use_of_key(caller, bucket, permission.action) or self._reading_of_source(caller, response)
        if denial is not None:
            return denial
        if action == "s3:GetObject" and bucket and key and not _key_exists(caller.account, bucket, key):
            listing = Permission("s3:ListBucket", f"arn:{PARTITION}:s3:::{bucket}")
            prefix = {"s3:prefix": key}
            if self._decision(caller, listing, prefix)[0] != "allow":
                # Not logged: no listing was requested, and a 403 in place of a 404 is not a missing permission.
                return self._denial(caller, listing, prefix)
            self.allows(caller, listing, prefix)
        return None

    def _use_of_session(self, caller: Caller, bucket: str | None, method: str) -> ServiceException | None:
        """Return the denial of the session by which objects of a directory bucket are reached, or None."""
        action, resource, context = dependents.use_of_session(bucket or "", method, caller.account, caller.region)
        permission = Permission(action, resource)
        return None if self.allows(caller, permission, context) else self._denial(caller, permission, context)

    def _deleting_of_many(self, caller: Caller, bucket: str | None, body: bytes) -> ServiceException | None:
        """Return the denial of DeleteObjects, or None if each key may be deleted.

        S3 answers for each key; here the denial of one key denies all.
        """
        action = "s3:DeleteObjectVersion" if b"<VersionId>" in body else "s3:DeleteObject"
        objects = f"arn:{PARTITION}:s3:::{bucket or '*'}"
        anything = Permission(action, f"{objects}/*")
        if self._decision(caller, anything, {})[0] == "allow":
            self.allows(caller, anything)
            return None
        for key in re.findall(r"<Key>(.*?)</Key>", body.decode(), re.DOTALL):
            permission = Permission(action, f"{objects}/{unescape(key)}")
            if not self.allows(caller, permission):
                return self._denial(caller, permission, {})
        return None

    def _reading_of_source(self, caller: Caller, response: Any) -> ServiceException | None:
        """Return the denial of reading the source of a copy, or None if the call is not a copy."""
        source = unquote(response.headers.get("x-amz-copy-source", "")).lstrip("/").partition("?")[0]
        reading = Permission("s3:GetObject", f"arn:{PARTITION}:s3:::{source}")
        return self._denial(caller, reading, {}) if source and not self.allows(caller, reading) else None

    def _use_of_key(self, caller: Caller, bucket: str | None, action: str) -> ServiceException | None:
        """Return the denial of a key's use by a call on an object, None where the bucket has none of the account."""
        used = {"s3:PutObject": "kms:GenerateDataKey", "s3:GetObject": "kms:Decrypt"}.get(action)
        key = _key_of_bucket(caller.account, bucket) if used and bucket else None
        if used is None or key is None:
            return None
        permission, context = Permission(used, key), {"kms:viaservice": f"s3.{caller.region}.amazonaws.com"}
        return None if self.allows(caller, permission, context) else self._denial(caller, permission, context)

    def _denial(self, caller: Caller, permission: Permission, context: dict[str, str]) -> ServiceException:
        """Return the denial in AWS's words.

        https://docs.aws.amazon.com/IAM/latest/UserGuide/troubleshoot_access-denied.html
        """
        if caller.service == "ec2":
            code = "UnauthorizedOperation"
        else:
            code = "AccessDenied" if caller.service in PLAIN_ACCESS_DENIED else "AccessDeniedException"
        decision, policy = self._decision(caller, permission, context)
        article = "an" if policy == IDENTITY else "a"
        if decision == "explicit deny":
            reason = f"with an explicit deny in {article} {policy}"
        else:
            reason = f"because no {policy} allows the {permission.action} action"
        denied = f"{permission.action} on resource: {permission.resource}"
        return ServiceException(code, f"User: {caller.arn} is not authorized to perform: {denied} {reason}")

    def _play_faults(self, response: Any, proceed: Callable[[Any], Any]) -> Any:
        caller = self._caller(response)
        if self._injected is None or caller is None:
            return proceed(response)
        call = _call(response, caller, self._injected)
        fault = self._injected.due(call)
        refusal = injection.refusal(fault, call) if fault else None
        if refusal is not None:
            return _refused_answer(response, refusal)
        with self._injected.describing(call):
            answer = proceed(response)
        if fault == "crash":
            self._injected.kill(caller.access_key)
        elif fault == "lost answer" and call.who == "Run":
            return _refused_answer(response, injection.broken(call))  # moto's interpreter knows no cut connections
        elif fault == "lost answer":
            injection.cut_connection()
        return answer

    def _play_s3_faults(self, response: Any, key: str | None) -> None:
        """Refuse an S3 call, or remember the fault that is due after it took effect."""
        caller = self._caller(response)
        if self._injected is None or caller is None:
            return
        about = injection.object_name(key or "".join(response.querystring.get("prefix", [])))
        run = self._injected.run_of(caller.access_key)
        call = injection.Call(run, injection.who(caller.arn), f"{caller.service}:{response._get_action()}", about)
        fault = self._injected.due(call)
        refusal = injection.refusal(fault, call) if fault else None
        if refusal is not None:
            raise _S3RefusedError(refusal)
        response.local_fault = (fault, caller.access_key)

    def _caller(self, response: Any) -> Caller | None:
        signature = re.search(r"Credential=([^/,]+)/\d+/([^/]+)/([^/]+)/", response.headers.get("Authorization", ""))
        access_key = directory_buckets.opened_by(signature[1]) if signature else ""
        session = self._sessions.by_key(access_key)
        if signature is None or session is None:
            return None
        return _caller_of(session, signature[2], SERVICE_PREFIXES.get(signature[3], signature[3]))

    def _keep(self, caller: Caller, permission: Permission, decision: str, context: dict[str, str]) -> None:
        """Log each different decision once, with the first call's context: polling a gate would write thousands."""
        entry = (caller.role, permission, decision)
        with self._lock:
            if entry not in self._logged and (decision != "allow" or len(self._logged) < MAX_DECISIONS):
                self._logged.add(entry)
                line = {"role": caller.role, "userid": caller.userid, "decision": decision}
                request = {"action": permission.action, "resource": permission.resource}
                self._log.write(json.dumps(line | request | {"context": context}) + "\n")


def _caller_of(session: Any, region: str, service: str) -> Caller:
    return Caller(
        role=session.role_arn.rsplit("/", 1)[-1],
        role_arn=session.role_arn,
        arn=session.arn,
        userid=session.user_id,
        account=session.account_id,
        region=region,
        service=service,
        access_key=session.access_key_id,
    )


def documents_of(account: str, role_name: str) -> list[dict]:
    """Return the inline and managed policies of a role; empty if the role was deleted."""
    try:
        role = iam_backends[account][PARTITION].get_role(role_name)
    except NotFoundException:  # deleted with its stack while its function or instance still runs
        return []
    texts = [*role.policies.values(), *map(_document_of, role.managed_policies.values())]
    return [_parsed(text) if isinstance(text, str) else text for text in texts]


def boundary_of(account: str, role_name: str) -> dict | None:
    """Return the policy that is the permissions boundary of a role, or None if it has none.

    A missing policy allows nothing, because IAM would not have accepted it.
    """
    backend = iam_backends[account][PARTITION]
    try:
        arn = backend.get_role(role_name).permissions_boundary_arn
    except NotFoundException:
        return None
    if not arn:
        return None
    policy = backend.managed_policies.get(arn)
    return _parsed(_document_of(policy)) if policy else {"Statement": []}


def _document_of(policy: Any) -> str:
    """Return the default version of a managed policy."""
    return next(version.document for version in policy.versions if version.version_id == policy.default_version_id)


def _policies_of_bucket(caller: Caller, permission: Permission) -> list[dict]:
    name = permission.resource.rpartition(":")[2].partition("/")[0]
    bucket = s3_backends[caller.account][PARTITION].buckets.get(name)
    return [_parsed(bucket.policy.decode())] if bucket and bucket.policy else []


@lru_cache(maxsize=1_000)
def _parsed(text: str) -> dict:
    return json.loads(text)


def _policy_of_key(account: str, key: str) -> dict[str, Any]:
    backend = kms_backends[account][key.split(":")[3]]
    return dict(json.loads(backend.keys[key.rpartition("/")[2]].policy))


def _key_of_bucket(account: str, name: str) -> str | None:
    """Return the key of the account that encrypts a bucket's objects by default."""
    bucket = s3_backends[account][PARTITION].buckets.get(name)
    rules = ((bucket and bucket.encryption) or {}).get("Rule") or {}
    rule = rules[0] if isinstance(rules, list) else rules
    return rule.get("ApplyServerSideEncryptionByDefault", {}).get("KMSMasterKeyID")


def _key_exists(account: str, bucket: str, key: str) -> bool:
    backend = s3_backends[account][PARTITION]
    return bucket in backend.buckets and backend.get_object(bucket, unquote(key)) is not None


def _denied_answer(response: Any, denial: ServiceException) -> Any:
    # moto chooses an error's wire format by the module of its class, which must not be one of moto's services
    error = type("AccessDenied", (ServiceException,), {"__module__": "local"})(denial.code, denial.message)
    status, headers, body = response.serialized(ActionResult(error))
    is_json = "x-amz-target" in {name.lower() for name in response.headers.keys()}  # noqa: SIM118
    headers = {**dict(headers), "x-amzn-RequestId": "local-denied"}
    return (status if is_json or status != 400 else 403), headers, body


def _call(response: Any, caller: Caller, injected: injection.Faults) -> injection.Call:
    """Return a call in the words of fault rules."""
    action, parameters = f"{caller.service}:{response._get_action()}", body_of(response)
    run, about = injected.run_of(caller.access_key), ""
    if caller.service == "dynamodb":
        about = injection.row_name(parameters)
    elif caller.service == "lambda":
        match = re.search(r"-([A-Za-z]+)Function-", unquote(getattr(response, "path", "") or response.uri))
        run, about = parameters.get("run"), match[1] if match else ""
    return injection.Call(run, injection.who(caller.arn), action, about)


def _refused_answer(response: Any, refusal: injection.Refusal) -> Any:
    _, headers, body = _denied_answer(response, ServiceException(refusal.code, refusal.message))
    return refusal.status, {**headers, "x-amzn-RequestId": "local-fault"}, body


class _S3RefusedError(Exception):
    """An injected fault refuses an S3 call."""

    def __init__(self, refusal: injection.Refusal) -> None:
        super().__init__(refusal.code)
        self.refusal = refusal


def _with_s3_faults(answer: Callable[..., Any], injected: injection.Faults) -> Callable[..., Any]:
    def answer_or_fail(self: Any, request: Any, full_url: str) -> Any:
        self.local_fault = (None, "")
        try:
            return answer(self, request, full_url)
        except _S3RefusedError as refused:
            code, message = refused.refusal.code, refused.refusal.message
            text = f"<Error><Code>{code}</Code><Message>{message}</Message><RequestId>local-fault</RequestId></Error>"
            return refused.refusal.status, {"Content-Type": "application/xml"}, text
        finally:
            fault, access_key = self.local_fault
            if fault == "crash":
                injected.kill(access_key)
            elif fault == "lost answer":
                injection.cut_connection()

    return answer_or_fail
