"""Addresses of AWS's console, which each partition has at a domain of its own."""

# By the beginning of a region's name: China and GovCloud; all others have the first one's.
DOMAINS = {"cn-": "console.amazonaws.cn", "us-gov-": "console.amazonaws-us-gov.com"}


def console_of(region: str) -> str:
    """Return where a region's console is."""
    domain = next((domain for start, domain in DOMAINS.items() if region.startswith(start)), "console.aws.amazon.com")
    return f"https://{region}.{domain}"
