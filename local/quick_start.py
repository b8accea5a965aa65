"""Skip unnecessary work that takes seconds of each start."""

import sys
from functools import cache
from importlib.util import LazyLoader, find_spec, module_from_spec
from types import ModuleType
from typing import Any

import botocore.session

# SAM's models of resources that our templates do not use: pydantic needs 0.1 s to build them.
MODELS_OF_OTHERS = ("capacity_provider", "function", "microvmimage", "networkconnector")


def skip_needless_work() -> None:
    """Skip unused parts of moto and boto3; call it before moto is imported."""
    # moto imports jsonschema, which compiles a grammar for 2.4 s of processor time if it finds this package of
    # cfn-lint's. The grammar checks IRIs, which are not used here.
    sys.modules["rfc3987_syntax"] = None
    # moto's API Gateway imports an OpenAPI validator, which imports pydantic's settings. Nothing here deploys an API.
    validator, errors = ModuleType("openapi_spec_validator"), ModuleType("openapi_spec_validator.validation.exceptions")
    validator.validate = errors.OpenAPIValidationError = NotImplementedError
    sys.modules |= {module.__name__: module for module in (validator, errors)}
    # Each session of boto3 would parse the endpoints and models of AWS anew, for 0.1 to 0.4 s.
    botocore.session.create_loader = cache(botocore.session.create_loader)


def load_only(*regions: str) -> None:
    """Let moto load the offerings of these regions only, 0.4 s and 90 MB less; call it before its EC2 is imported."""
    from moto.core import utils as core_utils
    from moto.utilities import utils

    # Without the cache it would search the 400 folders of botocore's models for each service again.
    core_utils.create_loader = cache(core_utils.create_loader)
    load = utils.load_resource

    def load_ours(resource: str) -> Any:
        folder, _, name = resource.rpartition("/")
        is_of_others = "instance_type_offerings" in folder and name.partition(".")[0] not in regions
        return [] if is_of_others or folder.endswith("ecs/optimized_amis") else load(resource)

    utils.load_resource = load_ours


def load_sam_as_needed() -> None:
    """Let SAM's translator import models of resources once a template has one; to be called before it is imported."""
    # Packages of the test tools, which jsonschema imports if they exist. Users do not have them.
    sys.modules["isoduration"] = sys.modules["rfc3986_validator"] = None
    from samtranslator.internal import schema_source

    for name in MODELS_OF_OTHERS:
        spec: Any = find_spec(f"{schema_source.__name__}.aws_serverless_{name}")
        spec.loader = LazyLoader(spec.loader)
        module = sys.modules[spec.name] = module_from_spec(spec)
        setattr(schema_source, spec.name.rpartition(".")[2], module)
        spec.loader.exec_module(module)
