"""Role sessions: the keys by which functions and instances of the local cloud call it, as moto's STS makes them."""

import threading
from typing import Any

from moto.sts.models import sts_backends

from local.corrections.clients import ACCOUNT, PARTITION


class RoleSessions:
    """Role sessions, created once for each role, session name and holder."""

    def __init__(self, region: str) -> None:
        self._region = region
        self._made: dict[tuple[str, str, str], Any] = {}
        self._by_key: dict[str, Any] = {}
        self._lock = threading.Lock()

    def session(self, role_arn: str, name: str, holder: str = "") -> Any:
        """Return a role session of moto's STS."""
        with self._lock:
            if (role_arn, name, holder) not in self._made:
                sts: Any = sts_backends[role_arn.split(":")[4]][PARTITION]
                self._made[role_arn, name, holder] = sts.assume_role(
                    region_name=self._region,
                    role_session_name=name[:64],
                    role_arn=role_arn,
                    policy=None,
                    duration=43_200,
                    external_id=None,
                )
        return self._made[role_arn, name, holder]

    def environment(self, role_arn: str, name: str, holder: str = "") -> dict[str, str]:
        """Return a role session's keys as environment variables."""
        session = self.session(role_arn, name, holder)
        return {
            "AWS_ACCESS_KEY_ID": session.access_key_id,
            "AWS_SECRET_ACCESS_KEY": session.secret_access_key,
            "AWS_SESSION_TOKEN": session.session_token,
        }

    def by_key(self, access_key: str) -> Any:
        """Return the role session that has an access key, or None."""
        if access_key not in self._by_key and access_key.startswith("ASIA"):
            for session in sts_backends[ACCOUNT][PARTITION].assumed_roles:
                self._by_key[session.access_key_id] = session
        return self._by_key.get(access_key)
