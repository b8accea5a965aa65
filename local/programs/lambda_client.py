"""AWS's Lambda runtime client for a runtime API with a secret in its path: `python lambda_client.py HANDLER`.

AWS_LAMBDA_RUNTIME_API is HOST:PORT/SECRET here. The client's native part puts it unchanged before each path. Only the
report of a failed start is sent by Python, which expects no more than host and port.
"""

import os
import runpy
import sys
from pathlib import Path
from typing import Any


def main(handler: str) -> None:
    """Handle events until the process is ended."""
    # Not before: the native part connects to the address that is in the environment when it is imported.
    from awslambdaric import bootstrap
    from awslambdaric.lambda_runtime_client import LambdaRuntimeClient

    address, _, secret = os.environ["AWS_LAMBDA_RUNTIME_API"].partition("/")

    class Client(LambdaRuntimeClient):
        def call_rapid(self, http_method: str, endpoint: str, *arguments: Any, **options: Any) -> None:
            super().call_rapid(http_method, f"/{secret}{endpoint}", *arguments, **options)

    runpy.run_path(str(Path(__file__).with_name("stand_ins.py")))["install"]()
    bootstrap.run(handler, Client(address))


if __name__ == "__main__":
    main(sys.argv[1])
