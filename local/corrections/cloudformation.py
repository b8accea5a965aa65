"""Corrections to moto's CloudFormation, for the embedded deploy and for the unmodified sam CLI alike.

The gaps: SAM templates are not translated; a CREATE change set leaves the stack without outputs and events;
UsePreviousValue gives the resolved value; unknown types are skipped in silence; some properties of functions, layers
and state machines are dropped; lists with AWS::NoValue, list parameters' defaults, Fn::Cidr and GetAZs are wrong; a
template below 127.0.0.1 is not found.
"""

import base64
import contextlib
import copy
import ipaddress
import json
import logging
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import boto3
from moto.awslambda import models as lambda_models
from moto.cloudformation import models, parsing
from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult
from moto.iam.models import iam_backends
from moto.s3.models import FakeBucket, s3_backends
from moto.stepfunctions import models as state_machines
from moto.stepfunctions.responses import get_backend as states_backend
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator

from local.corrections import networks, resource_types, yaml_template
from local.corrections.clients import ACCOUNT, Operator

SAM = "AWS::Serverless-2016-10-31"
# Suffixes of the zones that Fn::GetAZs returns; moto has four, most regions three.
ZONES = "abc"
# Submitted templates, by the template after processing.
_submitted: dict[str, str] = {}


def install(operator: Operator) -> None:
    logging.getLogger("samtranslator").setLevel(logging.ERROR)
    resource_types.install(operator)
    networks.install()
    models.Stack.parse_template = staticmethod(yaml_template.load)
    models.ChangeSet._parse_template = lambda self: setattr(self, "template_dict", yaml_template.load(self.template))
    _find_templates_by_address(operator)
    _translate_on_arrival()
    _return_submitted_templates()
    _keep_passed_parameters()
    _complete_change_sets()
    _refuse_unknown_types()
    _name_the_failing_resource()
    _list_what_was_made()
    _correct_functions_of_templates()
    _keep_properties_of_functions()
    _keep_properties_of_state_machines()
    _keep_versions_of_buckets()
    lambda_models.LayerVersion.physical_resource_id = property(lambda self: self.arn)


def translate(template: dict[str, Any], parameters: dict[str, str], region: str) -> dict[str, Any]:
    """Return the template without its SAM transform, expanded by AWS's own translator, offline."""
    transforms = template.get("Transform")
    if SAM not in (transforms if isinstance(transforms, list) else [transforms]):
        return template
    translator = Translator(_managed_policies(), Parser(), boto_session=boto3.session.Session(region_name=region))
    return translator.translate(sam_template=copy.deepcopy(template), parameter_values=dict(parameters))


@cache
def _managed_policies() -> dict[str, str]:
    return {policy.name: policy.arn for policy in iam_backends[ACCOUNT]["aws"].aws_managed_policies}


def _find_templates_by_address(operator: Operator) -> None:
    """Let moto read the bucket of a TemplateURL from its path: it does so for `localhost`, and not for 127.0.0.1."""
    read = CloudFormationResponse._get_stack_from_s3_url

    def from_path(self: Any, url: str) -> str:
        return str(read(self, url.replace(operator.endpoint, "http://localhost", 1)))

    CloudFormationResponse._get_stack_from_s3_url = from_path


def _translate_on_arrival() -> None:
    """Let CreateStack, UpdateStack and CreateChangeSet take SAM templates."""
    backend = models.CloudFormationBackend
    create, update, change = backend.create_stack, backend.update_stack, backend.create_change_set

    def translated(self: Any, text: str, passed: dict[str, str]) -> tuple[str, dict[str, str]]:
        template = yaml_template.load(text)
        parameters = _with_defaults(template, passed)
        try:
            template = translate(template, parameters, self.region_name)
        except Exception as err:
            raise ValidationError(message=f"Transform {SAM} failed: {err}") from err
        for resource in template.get("Resources", {}).values():
            # moto adds Properties to its own copy only, so that without them every update would see a changed resource
            resource.setdefault("Properties", {})
            if resource.get("DeletionPolicy") == "RetainExceptOnCreate":
                resource["DeletionPolicy"] = "Retain"  # the only policy that moto's deletion of a stack knows
        processed = json.dumps(template)
        _submitted[processed] = text
        return processed, parameters

    def create_stack(self: Any, name: str, template: str, parameters: dict, **rest: Any) -> Any:
        text, parameters = translated(self, template, parameters)
        try:
            return create(self, name, text, parameters, **rest)
        except Exception:
            # remove the rolled back stack, whose name would be taken when the next attempt creates it
            for stack in [stack for stack in self.stacks.values() if stack.name == name and not stack.events[1:]]:
                del self.stacks[stack.stack_id]
                with contextlib.suppress(Exception):
                    stack.delete()
            raise

    def update_stack(self: Any, name: str, template: str, *, role_arn: Any, parameters: list, tags: Any) -> Any:
        stack = self.get_stack(name)
        passed = self._resolve_update_parameters(instance=stack, incoming_params=parameters)
        text, resolved = translated(self, template, passed)
        entries = [{"ParameterKey": key, "ParameterValue": value} for key, value in resolved.items()]
        return update(self, name, text, role_arn, entries, tags)

    def create_change_set(
        self: Any, stack_name: str, change_set_name: str, template: str, parameters: dict, **rest: Any
    ) -> Any:
        text, parameters = translated(self, template, parameters)
        return change(self, stack_name, change_set_name, text, parameters, **rest)

    backend.create_stack, backend.update_stack, backend.create_change_set = (
        create_stack,
        update_stack,
        create_change_set,
    )


def _return_submitted_templates() -> None:
    """Let GetTemplate return the template as it was submitted too, which moto never saw."""

    def get_template(response: Any) -> ActionResult:
        body = response.cloudformation_backend.get_template(response._get_param("StackName"))
        if response._get_param("TemplateStage") == "Original":
            body = _submitted.get(body, body)
        return ActionResult({"TemplateBody": body, "StagesAvailable": ["Original", "Processed"]})

    CloudFormationResponse.get_template = get_template


def _with_defaults(template: dict[str, Any], passed: dict[str, str] | None) -> dict[str, str]:
    """Return every declared parameter as a string: moto splits lists only of parameters that are passed."""
    declared = template.get("Parameters") or {}
    defaults = {name: str(parameter["Default"]) for name, parameter in declared.items() if "Default" in parameter}
    unknown = sorted(set(passed or {}) - set(declared))
    if unknown:
        raise ValidationError(message=f"Parameters: {unknown} do not exist in the template")
    return {**defaults, **(passed or {})}


def _keep_passed_parameters() -> None:
    """Let UsePreviousValue return the passed value, not the value that an SSM parameter resolved to."""
    models.Stack.stack_parameters = property(lambda self: dict(self.parameters))
    models.Stack.has_parameters = lambda self, other: self.parameters == other


def _complete_change_sets() -> None:
    """Let a change set create resources, outputs, exports and events when executed, and report its failure."""
    backend = models.CloudFormationBackend
    execute = backend.execute_change_set

    def apply(self: Any) -> None:
        stack, is_new = self.stack, self.change_set_type == "CREATE"
        exports = models.cloudformation_backends[stack.account_id][stack.region_name].exports
        stack.template = self.template
        stack._parse_template()
        stack.description = stack.template_dict.get("Description")
        stack.tags = self.tags or stack.tags
        stack.parameters = self.parameters
        if is_new:
            stack.cross_stack_resources = exports
            stack.resource_map = stack._create_resource_map()
            stack.resource_map.create(stack.template_dict)
        else:
            stack.resource_map.update(stack.template_dict, self.parameters)
        stack.output_map = stack._create_output_map()
        exports.update({export.name: export for export in stack.exports})
        _add_events(stack, f"{self.change_set_type}_COMPLETE")

    def execute_or_fail(self: Any, change_set_name: str, stack_name: str | None = None) -> None:
        change_set = self.describe_change_set(change_set_name)
        try:
            execute(self, change_set_name, stack_name)
        except Exception as err:
            logging.getLogger(__name__).exception("change set of %s failed", change_set.stack_name)
            stack, is_new = change_set.stack, change_set.change_set_type == "CREATE"
            stack._add_stack_event(f"{change_set.change_set_type}_FAILED", resource_status_reason=str(err))
            stack.status = "ROLLBACK_COMPLETE" if is_new else "UPDATE_ROLLBACK_COMPLETE"
            stack._add_stack_event(stack.status)

    models.ChangeSet.apply = apply
    backend.execute_change_set = execute_or_fail


def _add_events(stack: Any, status: str) -> None:
    for name, resource in stack.template_dict["Resources"].items():
        condition = resource.get("Condition")
        if condition and not stack.resource_map.lazy_condition_map[condition]:
            continue
        event = models.Event(
            stack_id=stack.stack_id,
            stack_name=stack.name,
            logical_resource_id=name,
            physical_resource_id=getattr(stack.resource_map[name], "physical_resource_id", None) or name,
            resource_type=resource["Type"],
            resource_status=status,
            resource_status_reason=None,
            resource_properties=None,
        )
        stack.events.append(event)


def _refuse_unknown_types() -> None:
    lookup = parsing.resource_class_from_type

    def lookup_or_fail(resource_type: str) -> Any:
        kind = lookup(resource_type)
        if kind is None and resource_type not in parsing.NULL_MODELS:
            raise ValidationError(message=f"Template format error: Unrecognized resource types: [{resource_type}]")
        return kind

    parsing.resource_class_from_type = lookup_or_fail


def _name_the_failing_resource() -> None:
    """Name the resource in its error; refuse updates that moto cannot make, which would lose the resource."""

    def naming(act: Callable[..., Any]) -> Callable[..., Any]:
        def act_or_explain(logical_id: str, resource_json: dict, *rest: Any, **named: Any) -> Any:
            try:
                return act(logical_id, resource_json, *rest, **named)
            except ValidationError:
                raise
            except Exception as err:
                kind = f"{logical_id} ({resource_json.get('Type')})"
                message = f"Resource {kind} failed: {type(err).__name__}: {err}"
                raise ValidationError(message=message) from err

        return act_or_explain

    update = parsing.parse_and_update_resource

    def update_or_fail(logical_id: str, resource_json: dict, *rest: Any, **named: Any) -> Any:
        kind = parsing.resource_class_from_type(resource_json["Type"])
        if hasattr(kind.update_from_cloudformation_json, "__isabstractmethod__"):
            raise ValidationError(
                message=f"Resource {logical_id} ({resource_json['Type']}) cannot be updated by the local cloud; "
                "delete the stack and deploy it again."
            )
        return update(logical_id, resource_json, *rest, **named)

    parsing.parse_and_create_resource = naming(parsing.parse_and_create_resource)
    parsing.parse_and_update_resource = naming(update_or_fail)


def _correct_functions_of_templates() -> None:
    """Add Fn::GetAZs of a Ref, Fn::Cidr, Fn::Select with a computed index, AWS::NoValue in lists, ${x} as reference."""
    clean, references = parsing.clean_json, parsing.get_references_from_template

    def clean_more(node: Any, resources: Any) -> Any:
        if isinstance(node, list):
            return [member for member in (clean_more(part, resources) for part in node) if member is not None]
        if isinstance(node, dict) and "Fn::GetAZs" in node:
            region = clean_more(node["Fn::GetAZs"], resources) or resources["AWS::Region"]
            return [f"{region}{zone}" for zone in ZONES]
        if isinstance(node, dict) and "Fn::Cidr" in node:
            block, count, *bits = clean_more(node["Fn::Cidr"], resources)
            return _subnets(str(block), int(count), int(bits[0]) if bits else 8)
        if isinstance(node, dict) and "Fn::Select" in node:
            index, members = node["Fn::Select"]
            return clean_more(members, resources)[int(clean_more(index, resources))]
        return clean(node, resources)

    def references_and_subs(template: Any) -> list[str]:
        text = json.dumps(template)
        return [*references(template), *re.findall(r"\$\{([A-Za-z0-9]+)[.}]", text)]

    parsing.clean_json = clean_more
    parsing.get_references_from_template = references_and_subs


def _subnets(block: str, count: int, host_bits: int) -> list[str]:
    network = ipaddress.ip_network(block)
    subnets = network.subnets(new_prefix=network.max_prefixlen - host_bits)
    return [str(subnet) for subnet, _ in zip(subnets, range(count), strict=False)]


def _keep_properties_of_functions() -> None:
    """Pass layers, tags, architectures and the rest on to Lambda; moto passes only seven properties."""

    def create(
        cls: Any, /, resource_name: str, cloudformation_json: dict, account_id: str, region_name: str, **_: Any
    ) -> Any:
        properties = dict(cloudformation_json["Properties"])
        properties["FunctionName"] = properties.get("FunctionName", resource_name)
        properties["Code"] = _code(cls, properties)
        if isinstance(properties.get("Tags"), list):
            properties["Tags"] = {tag["Key"]: tag["Value"] for tag in properties["Tags"]}
        function = lambda_models.lambda_backends[account_id][region_name].create_function(properties)
        _keep_logging(function, properties)
        return function

    def update(cls: Any, /, original_resource: Any, cloudformation_json: dict, **_: Any) -> Any:
        properties = cloudformation_json["Properties"]
        original_resource.update_configuration(properties)
        original_resource.update_function_code(_code(cls, properties))
        _keep_logging(original_resource, properties)
        return original_resource

    lambda_models.LambdaFunction.create_from_cloudformation_json = classmethod(create)
    lambda_models.LambdaFunction.update_from_cloudformation_json = classmethod(update)


def _code(cls: Any, properties: dict[str, Any]) -> dict[str, Any]:
    """Return where the code is; inline code, a text in the template, becomes the archive that Lambda wants."""
    code = dict(properties["Code"])
    if "ZipFile" in code:
        code["ZipFile"] = base64.b64encode(cls._create_zipfile_from_plaintext_code(code["ZipFile"]))
    return code


def _keep_logging(function: Any, properties: dict[str, Any]) -> None:
    """Keep the function's log group and log format, which moto does not know."""
    logging_config = properties.get("LoggingConfig", {})
    function.logs_group_name = logging_config.get("LogGroup", function.logs_group_name)
    function.local_log_format = logging_config.get("LogFormat", "Text")


def _keep_versions_of_buckets() -> None:
    """Keep versions in buckets whose template enables versioning, which moto ignores.

    Retained buckets, which hold results, are excluded: agents overwrite their heartbeats there thousands of times, and
    moto keeps each version in memory.
    """
    create = FakeBucket.create_from_cloudformation_json

    def create_with_versions(
        cls: Any,  # noqa: ARG001
        /,
        resource_name: str,
        cloudformation_json: dict,
        account_id: str,
        region_name: str,
        **more: Any,
    ) -> Any:
        bucket = create(resource_name, cloudformation_json, account_id, region_name, **more)
        wanted = cloudformation_json.get("Properties", {}).get("VersioningConfiguration", {}).get("Status")
        if wanted and "DeletionPolicy" not in cloudformation_json:
            bucket.versioning_status = wanted
        return bucket

    FakeBucket.create_from_cloudformation_json = classmethod(create_with_versions)


def _keep_properties_of_state_machines() -> None:
    """Pass DefinitionS3Location, Definition, substitutions, type and tags on to Step Functions."""

    def create(
        cls: Any,  # noqa: ARG001
        /,
        resource_name: str,
        cloudformation_json: dict,
        account_id: str,
        region_name: str,
        **_: Any,
    ) -> Any:
        properties = cloudformation_json["Properties"]
        return states_backend(account_id, region_name).create_state_machine(
            name=properties.get("StateMachineName", resource_name),
            definition=_definition(properties, account_id),
            roleArn=properties.get("RoleArn", ""),
            tags=[{"key": tag["Key"], "value": tag["Value"]} for tag in properties.get("Tags", [])],
            sm_type=properties.get("StateMachineType"),
        )

    def update(
        cls: Any,  # noqa: ARG001
        /,
        original_resource: Any,
        cloudformation_json: dict,
        account_id: str,
        region_name: str,
        **_: Any,
    ) -> Any:
        properties = cloudformation_json["Properties"]
        states_backend(account_id, region_name).update_state_machine(
            original_resource.arn, definition=_definition(properties, account_id), role_arn=properties.get("RoleArn")
        )
        return original_resource

    state_machines.StateMachine.create_from_cloudformation_json = classmethod(create)
    state_machines.StateMachine.update_from_cloudformation_json = classmethod(update)


def _definition(properties: dict[str, Any], account_id: str) -> str:
    if "DefinitionS3Location" in properties:
        location = properties["DefinitionS3Location"]
        stored: Any = s3_backends[account_id]["aws"].get_object(
            location["Bucket"], location["Key"], location.get("Version")
        )
        # Without spaces, each of which the interpreter's parser matches with all of its rules.
        definition = json.dumps(yaml_template.load(stored.value.decode()), separators=(",", ":"))
    else:
        definition = properties.get("DefinitionString") or json.dumps(properties["Definition"])
    for name, value in (properties.get("DefinitionSubstitutions") or {}).items():
        definition = definition.replace(f"${{{name}}}", str(value))
    return definition


def _list_what_was_made() -> None:
    """Leave resources whose condition is false out of ListStackResources, where moto has them without names."""
    listed = models.CloudFormationBackend.list_stack_resources

    def list_made(self: Any, stack_name_or_id: str) -> Any:
        stack, resources = listed(self, stack_name_or_id)
        return stack, [resource for resource in resources if resource is not None]

    models.CloudFormationBackend.list_stack_resources = list_made
