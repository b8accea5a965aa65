"""The key that encrypts the resources of runs: the stack's KmsKeyArn if given, else AWS's."""

import os


def by_key() -> dict[str, str]:
    """Return the members of a request that name the key of the parameter KmsKeyArn; none without one.

    EC2's volumes, EFS and FSx call the member alike; without it each takes the default key of account and service.
    """
    key = os.environ.get("KMS_KEY_ARN")
    return {"KmsKeyId": key} if key else {}
