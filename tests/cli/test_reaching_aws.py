"""What a command says where AWS cannot be reached, or credentials cannot be had: each is provoked, none made up."""

import http.server
import shutil
import socket
import ssl
import subprocess
import threading
import time
from contextlib import contextmanager
from email.utils import formatdate

import pytest

from cli.target import deployment

NAMED = "eu-central-1"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE", "AWS_SECRET_ACCESS_KEY": "not-a-secret"}
TOKEN = {"AWS_SESSION_TOKEN": "expired"}
PAGE = b"<!doctype html><html><head><title>Sign in</title></head><body>Welcome<br></body></html>"
EXPIRED = b"""<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error><Type>Sender</Type>
<Code>ExpiredToken</Code><Message>The security token included in the request is expired</Message></Error>
</ErrorResponse>"""
REQUEST_EXPIRED = EXPIRED.replace(b"ExpiredToken", b"RequestExpired")
A_DAY_S = 86_400
SSO = """[profile signed-on]
sso_session = x
sso_account_id = 123456789012
sso_role_name = reader
[sso-session x]
sso_region = eu-central-1
sso_start_url = https://example.awsapps.com/start
"""
ROLE = "[profile role]\nrole_arn = arn:aws:iam::123456789012:role/reader\n"


@contextmanager
def serving(status=200, body=b"", tls=None, ahead_s=0):
    """Answer each request alike, also to a proxy; yield the port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response_only(status, "Proxy Authentication Required" if status == 407 else None)
            self.send_header("date", formatdate(self.server.started_at + ahead_s, usegmt=True))
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_CONNECT = do_POST  # noqa: N815 - the names of http.server

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.started_at = time.time()
    if tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def closed_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


@pytest.fixture
def said(monkeypatch, matrix, tmp_path):
    """Run a command that asks AWS, with these settings alone, and return its message in one line."""
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "AWS_CA_BUNDLE", *KEYS, *TOKEN):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setitem(deployment.ATTEMPTS, "aws", 1)

    def run(settings, config="", region=NAMED):
        (tmp_path / "no-config").write_text(config)
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        result = matrix("runs", "--stack", "s", *(["--region", region] if region else []))
        assert result.exit_code == 1
        assert "fault of matrix" not in result.stderr
        return " ".join(result.stderr.split())

    return run


@pytest.fixture
def certificate(tmp_path):
    """Sign a certificate by itself, as a company's proxy does."""
    if shutil.which("openssl") is None:
        pytest.skip("needs openssl")
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    subprocess.run(
        [
            *["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=proxy"],
            "-addext",
            "subjectAltName=IP:127.0.0.1",
            "-out",
            files[0],
            "-keyout",
            files[1],
        ],
        check=True,
        capture_output=True,
    )
    return files


def test_a_certificate_that_is_not_trusted_names_the_file_to_set(said, certificate):
    with serving(403, EXPIRED, certificate) as port:
        address = {**KEYS, "AWS_ENDPOINT_URL": f"https://127.0.0.1:{port}"}

        for bundle in ({}, {"AWS_CA_BUNDLE": "/nowhere.pem"}, {"AWS_CA_BUNDLE": "/etc/hostname"}):
            assert "set AWS_CA_BUNDLE" in said(address | bundle)
            deployment.client_of.cache_clear()
        # The advice helps: what answers now is what answers in place of AWS.
        assert "credentials have expired" in said(address | {"AWS_CA_BUNDLE": str(certificate[0])})


def test_a_server_without_tls_is_told_from_a_certificate(said):
    with serving() as port:
        assert "write http://" in said({**KEYS, "AWS_ENDPOINT_URL": f"https://127.0.0.1:{port}"})


def test_a_dead_proxy_is_named(said, closed_port):
    message = said({**KEYS, "HTTPS_PROXY": f"http://user:word@127.0.0.1:{closed_port}"})

    assert f"127.0.0.1:{closed_port}" in message
    assert "check HTTPS_PROXY" in message
    assert "NO_PROXY" in message
    assert "word@" not in message


def test_a_proxy_that_refuses_says_its_own_words(said):
    with serving(407) as port:
        message = said({**KEYS, "HTTPS_PROXY": f"http://127.0.0.1:{port}"})

    assert "407 Proxy Authentication Required" in message
    assert "a user and password" in message


@pytest.mark.parametrize("status", [200, 403, 503])
def test_the_page_of_a_network_is_not_aws(said, status):
    with serving(status, PAGE) as port:
        message = said({**KEYS, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"})

    assert "in place of AWS" in message
    assert "HTTPS_PROXY" in message


@pytest.mark.parametrize(
    "settings",
    [{"AWS_ENDPOINT_URL": "http://127.0.0.1:{}"}, {"HTTPS_PROXY": "proxy:port"}],
    ids=["nobody listens", "no proxy's address"],
)
def test_what_may_be_wrong_with_a_connection_is_listed(said, closed_port, settings):
    message = said(KEYS | {name: value.format(closed_port) for name, value in settings.items()})

    assert "cannot reach AWS" in message
    assert all(word in message for word in ("--region", "AWS_ENDPOINT_URL", "HTTPS_PROXY", "matrix local up"))


def test_an_address_without_its_scheme_is_shown_as_it_is_written(said):
    assert "like http://localhost:4566" in said({**KEYS, "AWS_ENDPOINT_URL": "localhost:4566"})


@pytest.mark.parametrize(
    ("body", "ahead_s", "found"),
    [(EXPIRED, 0, "aws sso login"), (REQUEST_EXPIRED, A_DAY_S, "set the clock"), (REQUEST_EXPIRED, 0, "aws sso login")],
    ids=["expired", "clock", "either"],
)
def test_expired_credentials_and_a_wrong_clock_are_told_apart(said, body, ahead_s, found):
    with serving(403, body, ahead_s=ahead_s) as port:
        assert found in said({**KEYS, **TOKEN, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}"})


@pytest.mark.parametrize(
    ("settings", "config", "found"),
    [
        ({}, "", "AWS is not set up here: no credentials"),
        ({"AWS_ACCESS_KEY_ID": "AKIAEXAMPLE"}, "", "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"),
        ({"AWS_PROFILE": "typo"}, "", "aws configure list-profiles"),
        ({"AWS_PROFILE": "signed-on"}, SSO, "aws sso login"),
        ({"AWS_PROFILE": "signed-on"}, SSO.replace("sso_region", "region"), "mend ~/.aws/config"),
        (KEYS, "[default\n", "mend ~/.aws/config"),
        ({"AWS_PROFILE": "role"}, ROLE, "source_profile"),
        ({"AWS_PROFILE": "role"}, f"{ROLE}source_profile = gone\n", "mend ~/.aws/config"),
        ({}, "[default]\ncredential_process = sh -c 'echo no ticket >&2; exit 3'\n", "no ticket"),
        ({}, "[default]\ncredential_process = /nowhere/tool\n", "/nowhere/tool"),
        ({}, "[default]\ncredential_process = echo hello\n", "credential_process"),
        ({}, "[default]\ncredential_process = echo {}\n", "credential_process"),
        ({"AWS_PROFILE": "l"}, "[profile l]\nlogin_session = arn:aws:iam::123456789012:user/x\n", "aws login"),
        (
            {"AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": "/nowhere/token"},
            "",
            "/nowhere/token",
        ),
    ],
    ids=str,
)
def test_credentials_that_cannot_be_had_name_a_way_out(said, settings, config, found):
    message = said(settings, config)

    assert found in message
    assert "Try:" in message
    assert "AWS_PROFILE" in message or not config


@pytest.mark.parametrize(
    ("region", "found"),
    [("eu_central_1", "like eu-central-1"), ("Frankfurt, EU", "like eu-central-1"), (None, "add --region")],
)
def test_a_region_that_cannot_be_is_told_with_one_that_can(said, region, found):
    assert found in said(KEYS, region=region)
