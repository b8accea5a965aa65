"""What takes seconds of each start and need not."""

import sys
from functools import cache
from types import ModuleType
from typing import Any

import botocore.session


def skip_needless_work() -> None:
    """Spare moto and boto3 what nobody here asks of them; to be called before moto is imported."""
    # moto imports jsonschema, which compiles a grammar for 2.4 s of processor time where it finds this package of
    # cfn-lint's. Nothing here asks jsonschema whether a text is an IRI.
    sys.modules["rfc3987_syntax"] = None
    # moto's API Gateway imports a validator of OpenAPI, and that pydantic's settings. Nothing here deploys an API.
    validator, errors = ModuleType("openapi_spec_validator"), ModuleType("openapi_spec_validator.validation.exceptions")
    validator.validate = errors.OpenAPIValidationError = NotImplementedError
    sys.modules |= {module.__name__: module for module in (validator, errors)}
    # Each session of boto3 would parse the endpoints and models of AWS anew, for 0.1 to 0.4 s.
    botocore.session.create_loader = cache(botocore.session.create_loader)


def load_only(region: str) -> None:
    """Spare moto what nobody here asks for, 0.4 s of processor time; to be called before its EC2 is imported."""
    from moto.core import utils as core_utils
    from moto.utilities import utils

    # For each service that it plays, it would look through the 400 folders of botocore's models again.
    core_utils.create_loader = cache(core_utils.create_loader)
    load = utils.load_resource

    def load_ours(resource: str) -> Any:
        folder, _, name = resource.rpartition("/")
        is_of_others = "instance_type_offerings" in folder and name.partition(".")[0] != region
        return [] if is_of_others or folder.endswith("ecs/optimized_amis") else load(resource)

    utils.load_resource = load_ours
