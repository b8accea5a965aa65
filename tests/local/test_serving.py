"""How the local cloud speaks HTTP: one connection serves many requests, as long as all that was sent is read."""

import http.client
import io
import socket
import threading
import weakref

import pytest
from werkzeug.serving import make_server

from local.serving import KeepAliveHandler

# The body of the last request, as long as anybody keeps it.
SENT: list[weakref.ref] = []


def application(environ, start_response):
    """Play the paths of the tests; as admission does, read a body and leave it for others, but for /refused."""
    path = environ["PATH_INFO"]
    if path == "/refused":
        start_response("403 FORBIDDEN", [("Content-Length", "2")])
        return [b"no"]
    length = int(environ.get("CONTENT_LENGTH") or 0)
    is_terminated = environ.get("wsgi.input_terminated")
    body = environ["wsgi.input"].read() if is_terminated else environ["wsgi.input"].read(length)
    environ["wsgi.input"] = io.BytesIO(body)
    SENT[:] = [weakref.ref(environ["wsgi.input"])]
    if path == "/cut":
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    if path == "/broken":
        raise ValueError("a fault of moto")
    if path == "/empty":
        start_response("204 NO CONTENT", [])
        return []
    start_response("200 OK", [("Content-Length", "7" if environ["REQUEST_METHOD"] == "HEAD" else "999")])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [b"got ", body]


@pytest.fixture
def connection():
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=KeepAliveHandler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    yield client
    client.close()
    server.shutdown()
    server.server_close()


def ask(connection, method, path, **options):
    """Status, body and head of an answer."""
    connection.request(method, path, **options)
    answer = connection.getresponse()
    return answer.status, answer.read(), answer


@pytest.mark.parametrize(("path", "status"), [("/refused", 403), ("/broken", 500)])
def test_a_connection_ends_where_a_body_is_left_unread_or_the_cloud_fails(connection, path, status):
    answered, _, head = ask(connection, "POST", path, body=b"GET /key HTTP/1.1\r\n\r\n")

    assert (answered, head.headers["Connection"]) == (status, "close")
    assert connection.sock is None


def test_a_connection_that_is_cut_brings_no_answer_and_no_word(connection, capfd):
    with pytest.raises(http.client.RemoteDisconnected):
        ask(connection, "GET", "/cut")

    assert ask(connection, "GET", "/key")[0] == 200
    assert "Exception" not in capfd.readouterr().err
