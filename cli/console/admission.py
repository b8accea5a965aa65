"""Admission to the console: only its own page, with its token. Pure.

The rules of the local cloud apply (local/admission.py): a request to another host name is refused, because a name may
have been rebound to 127.0.0.1. So is a request from another origin. Everything except the page's own files needs a
token. The token is in the fragment of the printed address, because browsers never send fragments.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass

# Load everything from this server only, with nothing inline.
PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
# The report has its own policy with hashes. The sandbox removes its origin, so it cannot call the console.
REPORT_POLICY = "sandbox allow-scripts allow-downloads allow-popups; frame-ancestors 'self'"
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Refused(Exception):
    """The request is none of the console's page."""


@dataclass(frozen=True)
class Admission:
    """The rules of one console."""

    port: int
    token: str

    def check_place(self, headers: Mapping[str, str]) -> None:
        """Raise Refused if a request names another host or comes from another page."""
        host, origin = headers.get("Host", ""), headers.get("Origin")
        if host not in (f"127.0.0.1:{self.port}", f"localhost:{self.port}"):
            raise Refused(f"This is not {host}, but the console of Storage Matrix.")
        if origin is not None and origin != f"http://{host}":
            raise Refused(f"The console answers its own page, not those of {origin}.")
        # Sec-Fetch-Site covers requests without Origin, such as images and forms; programs do not send it.
        if headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not _is_visit(headers):
            raise Refused("The console answers its own page only.")

    def check_token(self, headers: Mapping[str, str]) -> None:
        """Raise Refused without the token."""
        shown = headers.get("Authorization", "").removeprefix("Bearer ")
        if not hmac.compare_digest(shown.encode(), self.token.encode()):
            raise Refused("The token is missing or wrong: open the address that the terminal shows.")

    def check_change(self, headers: Mapping[str, str]) -> None:
        """Raise Refused if a changing request has no Origin header."""
        if headers.get("Origin") is None:
            raise Refused("The console takes orders from its own page only.")

    def report_key(self, run: str) -> str:
        """Return the key that opens only the report of this run, because a frame cannot send the token in a header."""
        return hmac.new(self.token.encode(), f"report {run}".encode(), hashlib.sha256).hexdigest()


def _is_visit(headers: Mapping[str, str]) -> bool:
    """Return whether the request navigates, as a link does. The page itself has no data; data needs the token."""
    return headers.get("Sec-Fetch-Mode") == "navigate" and headers.get("Sec-Fetch-Dest") == "document"
