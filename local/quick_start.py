"""What takes seconds of each start and need not."""

import sys
from functools import cache

import botocore.session


def skip_needless_work() -> None:
    """Spare moto and boto3 what nobody here asks of them; to be called before moto is imported."""
    # moto imports jsonschema, which compiles a grammar for 2.4 s of processor time where it finds this package of
    # cfn-lint's. Nothing here asks jsonschema whether a text is an IRI.
    sys.modules["rfc3987_syntax"] = None
    # Each session of boto3 would parse the endpoints and models of AWS anew, for 0.1 to 0.4 s.
    botocore.session.create_loader = cache(botocore.session.create_loader)
