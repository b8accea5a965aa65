"""The file server: what it serves to many at once, and every way out of its folder that we could think of."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import threading
import time

import pytest
from support.agent_cloud import PAUSE_S
from support.agent_reads import KIB, MIB, engine, read_params

from agent import file_server
from agent.engine import records
from agent.errors import WorkIncomplete
from agent.file_client import Connection, ServerLost
from agent.file_server import FileServer, Refused
from agent.workloads import read

SECRET = b"the secret of somebody else"
TOKEN = "of-this-run"


@pytest.fixture
def root(tmp_path):
    """The folder that is served, and beside it what must never be."""
    (tmp_path / "secret").write_bytes(SECRET)
    folder = tmp_path / "root"
    (folder / "run").mkdir(parents=True)
    (folder / "run" / "file").write_bytes(b"0123456789")
    return folder


@pytest.fixture
def server(root):
    with FileServer(root, "127.0.0.1", 0, TOKEN) as running:
        thread = threading.Thread(target=running.serve_forever, args=(PAUSE_S,), daemon=True)
        thread.start()
        yield running
        running.shutdown()


@pytest.fixture
def client(server):
    connection = Connection("127.0.0.1", server.port, TOKEN)
    yield connection
    connection.close()


def get(client, path, length, offsets, **how):
    buffer = memoryview(bytearray(length * len(offsets)))
    client.read_into(buffer, path, length, offsets, **how)
    return buffer.tobytes()


@contextlib.contextmanager
def raw_connection(server):
    """A connection that has shown its token, and then says what it likes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        raw.sendall(line_of(op="open", token=TOKEN))
        assert answer(raw) == (file_server.DONE, b"")
        yield raw


def line_of(**request):
    return json.dumps(request).encode() + b"\n"


def answer(raw):
    """The status and what follows; an EOFError where the connection ends within."""
    status, length = file_server.ANSWER.unpack(exactly(raw, file_server.ANSWER.size))
    return status, exactly(raw, length)


def exactly(raw, length):
    found = b""
    while len(found) < length:
        found += (piece := raw.recv(length - len(found)))
        if not piece:
            raise EOFError(found)
    return found


@pytest.mark.parametrize(
    "path",
    [
        "../secret", "run/../../secret", "run/..", "..", ".", "./run/file", "run/./file", "", "/", "//secret",
        "/etc/passwd", "run//file", "run/file/", "run/file\x00", "\x00", "..\x00/secret", "%2e%2e/secret",
        "..%2fsecret", "run%2ffile", "..\\secret", "\u2025/secret", "\uff0e\uff0e/secret", "~/secret", "run/fi le",
        "run/file\n", "a" * 129, "...", "link", "links/file", "run/pipe", "run",
    ],
)  # fmt: skip
@pytest.mark.parametrize("op", ["read", "append", "forget"])
def test_no_path_leads_out_of_the_folder(server, client, root, tmp_path, path, op):
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "links").symlink_to(tmp_path)
    (tmp_path / "file").write_bytes(SECRET)
    os.mkfifo(root / "run" / "pipe")
    before = {found: found.lstat().st_mtime_ns for found in sorted(tmp_path.rglob("*"))}

    with pytest.raises(Refused):
        {
            "read": lambda: get(client, path, 1, [0]),
            "append": lambda: client.append(path, b"x"),
            "forget": lambda: client.forget(path),
        }[op]()

    assert {found: found.lstat().st_mtime_ns for found in sorted(tmp_path.rglob("*"))} == before
    assert (tmp_path / "secret").read_bytes() == SECRET
    assert get(client, "run/file", 1, [0]) == b"0"  # and the connection goes on


def test_a_folder_that_becomes_a_link_while_it_is_walked_is_not_followed(root, tmp_path):
    (root / "a").symlink_to(tmp_path)
    descriptor = os.open(root, os.O_RDONLY)

    with pytest.raises(OSError, match="Not a directory"):
        file_server.open_below(descriptor, "a/secret", os.O_RDONLY)
    with pytest.raises(OSError, match="Not a directory"):
        file_server.open_below(descriptor, "a/new", os.O_WRONLY | os.O_CREAT)
    os.close(descriptor)


@pytest.mark.parametrize(
    "line",
    [
        b"GET / HTTP/1.1\r\n",
        b"[]\n",
        b'{"op": "delete", "path": "run/file"}\n',
        b'{"op": "read", "path": 7, "length": 1, "offsets": [0]}\n',
        b'{"op": "read", "path": "run/file", "length": 0, "offsets": [0]}\n',
        b'{"op": "read", "path": "run/file", "length": -1, "offsets": [0]}\n',
        b'{"op": "read", "path": "run/file", "length": true, "offsets": [0]}\n',
        b'{"op": "read", "path": "run/file", "length": 1, "offsets": []}\n',
        b'{"op": "read", "path": "run/file", "length": 1, "offsets": [-1]}\n',
        b'{"op": "read", "path": "run/file", "length": 1, "offsets": [1e3]}\n',
        b'{"op": "read", "path": "run/file", "length": 67108864, "offsets": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}\n',
        b'{"op": "append", "path": "run/file", "length": 99999999999}\n',
        b"x" * (2 << 20),
    ],
    ids=lambda line: line[:60].decode(),
)
def test_a_request_that_means_nothing_is_refused_and_ends_its_connection_only(server, client, line):
    with raw_connection(server) as raw:
        raw.sendall(line)
        assert answer(raw)[0] == file_server.REFUSED

    assert get(client, "run/file", 1, [0]) == b"0"


def test_reading_beyond_the_end_is_refused_and_says_how_long_the_file_is(client):
    with pytest.raises(Refused, match="run/file has 10 bytes, no 4 at 8"):
        get(client, "run/file", 4, [0, 8])


def test_a_reader_that_goes_away_in_the_middle_leaves_the_others_served(server, client, root):
    (root / "big").write_bytes(bytes(32 * MIB))
    with raw_connection(server) as gone:
        gone.sendall(line_of(op="read", path="big", length=32 * MIB, offsets=[0]))
        gone.recv(100)

    assert get(client, "run/file", 1, [9]) == b"9"


@pytest.mark.parametrize(
    "first",
    [
        line_of(op="open", token="of-another-run"),
        line_of(op="open"),
        line_of(op="open", token=7),
        line_of(op="read", path="run/file", length=1, offsets=[0]),
        line_of(op="open", token="x" * 2_000),
    ],
    ids=["another", "none", "number", "read", "long"],
)
def test_nobody_reads_without_the_token_of_the_run(server, first):
    with socket.create_connection(("127.0.0.1", server.port), timeout=5) as raw:
        raw.sendall(first)

        status, why = answer(raw)

        assert (status, raw.recv(1)) == (file_server.REFUSED, b"")
        assert why in (b"this server serves another run", b"a request is a line of JSON")


def test_a_connection_that_never_shows_its_token_is_ended(server, monkeypatch):
    monkeypatch.setattr(file_server, "TOKEN_WITHIN_S", 1)

    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as raw:
        assert raw.recv(1) == b""


def test_a_reader_that_takes_nothing_of_its_answer_is_given_up_and_the_others_are_served(
    server, root, client, monkeypatch
):
    (root / "big").write_bytes(bytes(64 * MIB))
    monkeypatch.setattr(file_server, "STALLED_S", 1)
    before = threading.active_count()

    with raw_connection(server) as stalled:
        assert threading.active_count() > before
        stalled.sendall(line_of(op="read", path="big", length=64 * MIB, offsets=[0]))
        assert get(client, "run/file", 1, [9]) == b"9"
        wait_until(lambda: threading.active_count() <= before)
        with pytest.raises((EOFError, ConnectionResetError)):
            answer(stalled)


def test_a_sender_that_stops_within_its_bytes_is_given_up(server, client, monkeypatch):
    monkeypatch.setattr(file_server, "STALLED_S", 1)

    with raw_connection(server) as stalled:
        stalled.sendall(line_of(op="append", path="run/new", length=100) + b"only this")
        assert stalled.recv(1) == b""

    assert get(client, "run/file", 1, [9]) == b"9"


def test_a_file_that_becomes_shorter_while_it_is_sent_ends_the_connection_and_is_not_a_short_answer(
    server, root, client, monkeypatch
):
    big = root / "big"
    big.write_bytes(bytes(2 * MIB))
    monkeypatch.setattr(file_server.os, "sendfile", lambda *_: 0)

    with pytest.raises(ServerLost, match=r"127.0.0.1:\d+ does not answer .it closed the connection.: has its instance"):
        get(client, "big", MIB, [0])


def test_a_server_that_closes_answers_nobody_from_a_folder_it_has_let_go_of(root):
    ended, connections = [], threading.Barrier(5)

    def read_on(connection):
        get(connection, "run/file", 10, [0])
        connections.wait(20)
        try:
            while True:
                assert get(connection, "run/file", 10, [0]) == b"0123456789"
        except (ServerLost, Refused) as err:
            ended.append(err)

    with FileServer(root, "127.0.0.1", 0, TOKEN) as server:
        threading.Thread(target=server.serve_forever, args=(PAUSE_S,), daemon=True).start()
        readers = [
            threading.Thread(target=read_on, args=(Connection("127.0.0.1", server.port, TOKEN),)) for _ in range(4)
        ]
        for reader in readers:
            reader.start()
        connections.wait(20)
        server.shutdown()
    for reader in readers:
        reader.join(20)

    assert [type(err) for err in ended] == [ServerLost] * 4


def test_one_connection_more_than_the_server_has_is_told_why(server, client, monkeypatch):
    assert get(client, "run/file", 1, [0]) == b"0"
    monkeypatch.setattr(file_server, "MAX_CONNECTIONS", threading.active_count() - 1)

    with pytest.raises(Refused, match="connections already"):
        Connection("127.0.0.1", server.port, TOKEN)

    assert get(client, "run/file", 1, [0]) == b"0"


def test_direct_reads_go_past_the_page_cache_of_the_server(server, client, root):
    content = os.urandom(3 * MIB)
    (root / "run" / "large").write_bytes(content)
    opened = []
    real = os.open

    def watched(name, flags, *more, **where):
        opened.append((name, bool(flags & os.O_DIRECT)))
        return real(name, flags, *more, **where)

    file_server.os.open, kept = watched, file_server.os.open
    try:
        got = get(client, "run/large", 2 * MIB, [MIB, 0], is_direct=True)
    finally:
        file_server.os.open = kept

    assert got == content[MIB:] + content[: 2 * MIB]
    assert ("large", True) in opened
    with pytest.raises(Refused, match="direct reads are of multiples of 4096 bytes"):
        get(client, "run/large", 100, [0], is_direct=True)


def wait_until(is_so):
    for _ in range(int(20 / PAUSE_S)):
        if is_so():
            return
        time.sleep(PAUSE_S)
    raise AssertionError("it never became so")


def served(server, params, folder):
    """Data on the server, as a workload puts it there."""
    folder.mkdir(parents=True)
    return read.data_on_server(params, folder, {"host": "127.0.0.1", "port": server.port, "token": TOKEN})


@pytest.mark.parametrize("mode", ["threads", "processes"])
@pytest.mark.parametrize(
    ("changes", "messages"),
    [({}, 32), ({"access": "random", "requests": 256, "request_bytes": 8 * KIB, "batch": 16}, 16)],
    ids=["requests", "batches"],
)
def test_records_are_read_from_the_server_by_many_at_once(server, tmp_path, mode, changes, messages):
    params = read_params(**changes)
    where = served(server, params, tmp_path / "run" / "cell" / "i-1")

    outcome = engine(params, tmp_path, mode, where)

    assert outcome.work == {"read_bytes": 256 * 8 * KIB, "requests": params["requests"]}
    assert outcome.metrics["requests_per_s"] * outcome.metrics["duration_s"] == pytest.approx(messages)
    assert outcome.tool["command"].startswith(f"{params['access']} requests to our file server")


def test_a_server_that_is_not_there_is_named(tmp_path):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]

    with pytest.raises(
        WorkIncomplete, match=f"the 2097152 bytes to read could not be sent: the file server 127.0.0.1:{port}"
    ):
        read.data_on_server(read_params(), tmp_path, {"host": "127.0.0.1", "port": port, "token": TOKEN})


def test_one_agent_serves_its_storage_until_it_is_ended_and_another_reads_from_it(cloud, fleet, make_job, storage):
    server, reader = fleet(2)
    serving = make_job("serve", [], kind="serve", workload={"type": "serve"}, points=[], steps=[])
    cloud.put("job.json", serving)
    process = server.start()
    cloud.wait_for(lambda names: any(name.endswith("/address.json") for name in names))
    where = server.document("address.json")

    mount = {"kind": "file-server", **where}
    cloud.put("job.json", make_job("read", [read_params()], mount=mount, storage={"type": "file-server"}))
    assert reader.run() == 0
    process.terminate()

    [sample] = reader.samples()
    assert sample["work"]["requests"] == 32
    assert reader.document("samples.json")["mount"]["source"] == f"127.0.0.1:{where['port']}"
    assert process.wait(timeout=20) == 1
    assert server.document("failed.json")["error"] == "Terminated"
    [run] = storage.iterdir()
    records.check(next(run.rglob("records-*")).read_bytes()[: 8 * KIB], 0)
