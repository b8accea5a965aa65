"""The names of moto that the local cloud replaces or leans on, checked before anything is patched.

moto is pinned exactly. Most of these names are private, so an upgrade may rename them without a word: then this check
fails at start with one error that lists them all, instead of a correction that silently stops working.
"""

import importlib
import importlib.metadata
from functools import reduce

MOTO_VERSION = "5.2.5"

_ASL = "moto.stepfunctions.parser.asl"
_MAP = f"{_ASL}.component.state.exec.state_map.iteration"
NAMES = {
    "moto.awslambda.models": [
        "LambdaFunction.invoke",
        "LambdaFunction.save_logs",
        "LambdaFunction.create_from_cloudformation_json",
        "LambdaFunction.update_from_cloudformation_json",
        "LambdaFunction._create_zipfile_from_plaintext_code",
        "LambdaBackend.create_function",
        "LambdaBackend.layers_versions_by_arn",
        "LayerVersion.arn",
        "lambda_backends",
    ],
    "moto.cloudformation.models": [
        "Stack.parse_template",
        "Stack.stack_parameters",
        "Stack.has_parameters",
        "Stack._create_resource_map",
        "Stack._create_output_map",
        "Stack._add_stack_event",
        "ChangeSet.apply",
        "ChangeSet._parse_template",
        "CloudFormationBackend.create_stack",
        "CloudFormationBackend.update_stack",
        "CloudFormationBackend.create_change_set",
        "CloudFormationBackend.list_stack_resources",
        "CloudFormationBackend.execute_change_set",
        "Event",
    ],
    "moto.cloudformation.parsing": [
        "clean_json",
        "resource_class_from_type",
        "parse_and_create_resource",
        "parse_and_update_resource",
        "get_references_from_template",
        "get_model_list",
        "get_model_map",
        "get_name_type_map",
        "NULL_MODELS",
        "CustomModel",
    ],
    "moto.core.authorization": ["ActionAuthenticatorMixin._authenticate_and_authorize_s3_action"],
    "moto.core.common_models": ["BaseModel.__new__"],
    "moto.core.config": ["default_user_config"],
    "moto.core.utils": ["create_loader"],
    "moto.utilities.utils": ["load_resource"],
    "moto.core.responses": [
        "BaseResponse.call_action",
        "BaseResponse._get_action",
        "BaseResponse.serialized",
        "method_names_from_class",
    ],
    "moto.dynamodb.responses": ["DynamoHandler.call_action", "DynamoHandler.serialized", "DynamoResult"],
    "moto.dynamodb.models.dynamo_type": ["DynamoType.size", "Item.project"],
    "moto.dynamodb.models.table": ["Table.query"],
    "moto.backends": ["list_of_moto_modules"],
    "moto.ec2.models.core": ["TaggedEC2Resource.get_tags"],
    "moto.ec2.models.tags": ["TagBackend.describe_tags"],
    "moto.ec2.models.elastic_block_store": [
        "EBSBackend.describe_snapshots",
        "EBSBackend.describe_volumes",
        "EBSBackend.create_volume",
        "Snapshot",
    ],
    "moto.ec2.models.amis": ["AmiBackend.create_image", "Ami"],
    "moto.ec2.models.instance_types": ["InstanceTypeOfferingBackend.describe_instance_type_offerings"],
    "moto.kms.models": ["KmsBackend.create_key", "kms_backends"],
    "moto.ec2.models.instances": [
        "StateReason",
        "Instance.add_block_device",
        "Instance.terminate",
        "Instance.start",
        "Instance.stop",
        "InstanceBackend.run_instances",
        "InstanceBackend.all_reservations",
        "InstanceBackend._get_template_from_args",
    ],
    "moto.ec2.models.iam_instance_profile": ["IamInstanceProfileAssociationBackend.associate_iam_instance_profile"],
    "moto.ec2.models.internet_gateways": ["InternetGateway"],
    "moto.ec2.models.route_tables": ["RouteTable"],
    "moto.ec2.models.security_groups": [
        "SecurityGroup.create_from_cloudformation_json",
        "SecurityGroupBackend.authorize_security_group_egress",
        "SecurityGroupBackend.get_default_security_group",
    ],
    "moto.ec2.models.vpcs": ["VPCEndPoint"],
    "moto.ec2.models.vpn_gateway": ["VPCGatewayAttachment"],
    "moto.ec2.responses.instances": ["InstanceResponse._parse_block_device_mapping"],
    "moto.efs.models": [
        "FileSystem.info_json",
        "MountTarget.info_json",
        "EFSBackend.create_file_system",
        "EFSBackend.delete_file_system",
        "EFSBackend.create_mount_target",
    ],
    "moto.events.models": ["EventPattern.matches_event", "EventPattern.get_pattern", "events_backends"],
    "moto.fsx.models": [
        "FileSystem.to_dict",
        "Backup.to_dict",
        "FSxBackend.create_file_system",
        "FSxBackend.describe_file_systems",
        "FSxBackend.delete_file_system",
    ],
    "moto.fsx.responses": [
        "FSxResponse.describe_file_systems",
        "FSxResponse.delete_file_system",
        "FSxResponse.describe_backups",
    ],
    "moto.iam.responses": ["IamResponse._get_params"],
    "moto.cloudformation.responses": [
        "CloudFormationResponse.get_template",
        "CloudFormationResponse._get_stack_from_s3_url",
    ],
    "moto.iam.models": ["iam_backends", "IAMBackend.get_role", "IAMBackend._init_aws_policies"],
    "moto.s3.models": [
        "s3_backends",
        "FakeBucket.get_permission",
        "FakeBucket.create_from_cloudformation_json",
        "S3Backend.put_object",
    ],
    "moto.s3.responses": ["S3Response._key_response", "S3Response._bucket_response", "S3Response.put_object"],
    "moto.scheduler.models": ["scheduler_backends"],
    "moto.server": ["DomainDispatcherApplication", "MotoRequestHandler", "create_backend_app"],
    "moto.settings": ["DISABLE_GLOBAL_CORS"],
    "moto.ssm.models": ["ParameterDict._check_loading_status", "Parameter"],
    "moto.backup.responses": ["BackupResponse.dispatch"],
    "moto.backup.urls": ["url_paths"],
    "moto.servicequotas.models": ["ServiceQuotasBackend.get_service_quota"],
    "moto.stepfunctions.models": [
        "StateMachine.create_from_cloudformation_json",
        "StateMachine.update_from_cloudformation_json",
    ],
    "moto.stepfunctions.responses": [
        "StepFunctionResponse.start_execution",
        "StepFunctionResponse.stop_execution",
        "StepFunctionResponse.describe_execution",
        "StepFunctionResponse.get_execution_history",
        "get_backend",
    ],
    "moto.stepfunctions.parser.models": [
        "StepFunctionsParserBackend.start_execution",
        "StepFunctionsParserBackend.stop_execution",
        "StepFunctionsParserBackend._validate_definition",
    ],
    "moto.stepfunctions.parser.backend.execution": ["BaseExecutionWorkerCommunication._reflect_execution_status"],
    f"{_ASL}.eval.environment": ["Environment.set_error", "Environment.set_stop", "Environment.program_state"],
    f"{_ASL}.eval.states": ["States.set_result"],
    f"{_ASL}.parse.preprocessor": [
        "Preprocessor._query_language_per_scope",
        "Preprocessor.visitTolerated_failure_count_string_jsonata",
    ],
    f"{_ASL}.parse.asl_parser": ["AmazonStateLanguageParser.parse"],
    f"{_ASL}.component.common.error_name.error_equals_decl": ["ErrorEqualsDecl._eval_body"],
    f"{_ASL}.component.common.error_name.failure_event": [
        "FailureEventException.get_execution_failed_event_details",
        "FailureEventException.get_evaluation_failed_event_details",
    ],
    f"{_ASL}.component.state.choice.comparison.comparison": ["ConditionStringJSONata._eval_body"],
    f"{_ASL}.eval.event.event_manager": ["EventManager.add_event", "EventHistoryContext.of_program_start"],
    f"{_ASL}.component.common.string.string_expression": ["StringJSONata._eval_body"],
    f"{_ASL}.component.common.retry.retrier_decl": ["RetrierDecl._eval_body", "time"],
    f"{_ASL}.component.state.state": ["CommonStateField._eval_state_input"],
    f"{_ASL}.component.state.choice.state_choice": ["StateChoice._eval_state"],
    f"{_ASL}.component.state.wait.wait_function.wait_function": ["WaitFunction._wait_interval"],
    f"{_ASL}.utils.boto_client": ["boto_client_for"],
    f"{_MAP}.distributed_iteration_component": ["DistributedIterationComponent._map_run"],
    f"{_MAP}.iteration_worker": ["CustomErrorName"],
    f"{_MAP}.itemprocessor.distributed_item_processor_worker": [
        "DistributedItemProcessorWorker._eval_job",
        "DistributedItemProcessorWorker._eval_input",
    ],
    f"{_MAP}.itemprocessor.map_run_record": ["MapRunRecord.set_stop", "MapRunRecord.describe"],
    "moto.sts.models": ["STSBackend.assume_role", "sts_backends"],
}


class MotoChangedError(RuntimeError):
    """The installed moto is not the one whose internals the local cloud corrects."""


def check() -> None:
    """Raise MotoChangedError unless the pinned moto is installed and has all of these names."""
    installed = importlib.metadata.version("moto")
    missing = [f"{module}.{name}" for module, names in NAMES.items() for name in names if not _exists(module, name)]
    if installed != MOTO_VERSION or missing:
        raise MotoChangedError(
            f"the local cloud corrects moto {MOTO_VERSION}, but {installed} is installed; missing names: "
            f"{', '.join(missing) or 'none'}. Install moto=={MOTO_VERSION}, or review local/ against the new version "
            "and update MOTO_VERSION."
        )


def _exists(module: str, name: str) -> bool:
    try:
        reduce(getattr, name.split("."), importlib.import_module(module))
    except (ImportError, AttributeError):
        return False
    return True
