"""Services that moto lacks, registered as if they were its own."""

import re
import sys
from types import ModuleType
from typing import Any

from moto import backend_index
from moto.core.base_backend import BaseBackend


class OwnBackend(BaseBackend):
    """A backend whose requests a class of this project answers."""

    URL = ""
    """Pattern of the service's addresses."""
    RESPONSE: Any = None
    """The class that answers, a BaseResponse of moto."""

    @property
    def _url_module(self) -> Any:
        urls: Any = ModuleType("urls")
        urls.url_bases, urls.url_paths = [self.URL], dict.fromkeys(("{0}/$", "{0}/.*$"), self.RESPONSE.dispatch)
        return urls


def register(service: str, backends: Any, response: Any) -> None:
    """Let moto answer a service, before its S3, whose pattern claims every host name that starts with s3."""
    backends.backend.RESPONSE = response
    module: Any = ModuleType(f"moto.{service}")
    setattr(module, f"{service}_backends", backends)
    sys.modules[module.__name__] = module
    if service not in {name for name, _ in backend_index.backend_url_patterns}:
        backend_index.backend_url_patterns.insert(0, (service, re.compile(backends.backend.URL)))
