"""How the local cloud speaks HTTP: one connection serves many requests, as long as all that was sent is read."""

import http.client
import socket
import threading

import pytest
from werkzeug.serving import make_server

from local.serving import KeepAliveHandler


def application(environ, start_response):
    """Play the paths of the tests; as admission does, read a body, but for /refused."""
    path = environ["PATH_INFO"]
    if path == "/refused":
        start_response("403 FORBIDDEN", [("Content-Length", "2")])
        return [b"no"]
    body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    if path == "/cut":
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
    if path == "/broken":
        raise ValueError("a fault of moto")
    start_response("200 OK", [])
    return [b"got ", body]


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
