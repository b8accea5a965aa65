"""Addresses of AWS's console, which each partition has at a domain of its own."""

# By the beginning of a region's name: China, GovCloud, the European Sovereign Cloud; all others have the first one's.
# The SDKs have the same domains for signing in (rules of the endpoints of signin).
DOMAINS = {
    "cn-": "console.amazonaws.cn",
    "us-gov-": "console.amazonaws-us-gov.com",
    "eusc-": "console.amazonaws-eusc.eu",
}


def console_of(region: str) -> str:
    """Return where a region's console is."""
    domain = next((domain for start, domain in DOMAINS.items() if region.startswith(start)), "console.aws.amazon.com")
    return f"https://{region}.{domain}"


def execution_address(arn: str) -> str:
    """Return where the console shows an execution, or an iteration of a distributed Map."""
    region = arn.split(":")[3]
    return f"{console_of(region)}/states/home?region={region}#/v2/executions/details/{arn}"
