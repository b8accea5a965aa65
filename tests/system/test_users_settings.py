"""What a user has set for the network and for AWS neither stops a local run nor sees any request of it."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.runs import TOUCH, matrix

PATIENCE_S = 600
# Python imports it in each process: as on a machine whose `localhost` has an IPv6 address only.
IPV6_ONLY = """
import socket
resolve = socket.getaddrinfo
def getaddrinfo(host, *rest, **more):
    return resolve("::1" if host in ("localhost", b"localhost") else host, *rest, **more)
socket.getaddrinfo = getaddrinfo
"""


@pytest.fixture
def proxy() -> Iterator[tuple[str, list[bytes]]]:
    """The address of a proxy that answers nobody, and the first line of each request that it was sent."""
    listener, asked = socket.create_server(("127.0.0.1", 0)), []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                asked.append(connection.recv(4096).partition(b"\r\n")[0])

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}", asked
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_a_local_run_passes_by_the_users_proxy_aws_settings_and_localhost(
    tmp_path: Path, proxy: tuple[str, list[bytes]]
):
    address, asked = proxy
    proxies = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    (tmp_path / "config").write_text("[default]\nendpoint_url = http://unused\ns3 =\n  addressing_style = virtual\n")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(IPV6_ONLY)
    (tmp_path / "m.json").write_text(json.dumps(matrix(workload=[TOUCH])))
    settings = {
        **{name: value for name, value in os.environ.items() if name.lower() != "no_proxy"},
        **dict.fromkeys(proxies, address),
        "PYTHONPATH": os.pathsep.join([str(tmp_path / "site"), os.environ.get("PYTHONPATH", "")]),
        "AWS_PROFILE": "not-there",
        "AWS_DEFAULT_PROFILE": "not-there",
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_ENDPOINT_URL": "http://unused",
        "AWS_USE_FIPS_ENDPOINT": "true",
        "AWS_USE_DUALSTACK_ENDPOINT": "true",
        "MATRIX_WORKDIR": str(tmp_path / ".local"),
    }

    ended = subprocess.run(
        [sys.executable, "-c", "from cli.main import main; main()", "run", "m.json", "--local", "--name", "one"],
        cwd=tmp_path, text=True, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE_S,
    )  # fmt: skip

    assert asked == []
    assert ended.returncode == 0, ended.stdout
