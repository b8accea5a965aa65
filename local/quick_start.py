"""Skip unnecessary work that takes seconds of each start."""

import sys
from functools import cache
from importlib.util import LazyLoader, find_spec, module_from_spec
from inspect import isfunction
from types import ModuleType
from typing import Any, cast

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


class _Methods:
    """The names of a class's methods. moto lists them all in each call, to look for one."""

    def __init__(self, of: type) -> None:
        self._of = of

    def __contains__(self, name: str) -> bool:
        return isfunction(getattr(self._of, name, None))


def answer_quickly() -> None:
    """Let moto answer without what it would look up again in each call, an eighth of a call's processor time."""
    from moto.core import responses, serialize
    from moto.kms import models as kms

    responses.method_names_from_class = _Methods
    # Under which names an object may have a field of an answer.
    names_of, known = serialize.XFormedAttributePicker.get_possible_keys, dict[Any, tuple[str, ...]]()

    def names_once(self: Any, context: Any) -> tuple[str, ...]:
        shape = context.shape
        parent = getattr(shape, "parent", None)
        place = type(context.obj), context.key, context.service_model.service_name, shape.name, parent and parent.name
        place += (shape.serialization.get("name"),)
        if place not in known:
            known[place] = tuple(names_of(self, context))
        return known[place]

    serialize.XFormedAttributePicker.get_possible_keys = names_once
    # Nothing here signs by a key of KMS, whose RSA key takes 0.1 s to make.
    kms.generate_private_key = cast("Any", lambda _spec: None)


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
