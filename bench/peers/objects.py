"""Objects: the S3 readers beside s5cmd, from a static server that answers a GET as S3 does, faster than the clients.

With the local cloud's S3 the server would limit every rate: it needs milliseconds for each GET. nginx signs and checks
nothing, but both sides sign their requests as for S3.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agent.workloads import engines, read
from bench.blocks import MIB, PAGE_BYTES
from bench.peers.contests import Contest, Peer, Seen
from bench.peers.programs import free_port, output_of, running

THREADS = 8
GETS = 2_000
BUCKET, KEY, OBJECT = "bench", "records", "object"
READS = {
    "access": "random", "page_bytes": PAGE_BYTES, "record_bytes": PAGE_BYTES, "records_per_request": 1,
    "data_bytes": 64 * MIB, "caching": "cached", "records": GETS, "threads": THREADS,
}  # fmt: skip
KEYS = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_REGION": "us-east-1"}
NGINX = """
{user}
worker_processes 1;
daemon off;
pid {folder}/pid;
error_log {folder}/errors;
events {{}}
http {{
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    log_format moments '$msec $request_time $request_method';
    access_log {folder}/requests moments;
    keepalive_requests 1000000;
    server {{ listen 127.0.0.1:{port}; root {folder}/root; }}
}}
"""


@contextlib.contextmanager
def static_server(folder: Path) -> Iterator[Path]:
    """Serve a bucket by nginx to all programs that start meanwhile; yield the record of its requests."""
    own, port = folder / "nginx", free_port()
    bucket = own / "root" / BUCKET
    bucket.mkdir(parents=True)
    read.write_records(READS, bucket / KEY)
    (bucket / KEY).chmod(0o644)
    (bucket / OBJECT).write_bytes((bucket / KEY).read_bytes()[:PAGE_BYTES])
    # A root process starts workers as another user, who may not read below a temporary folder.
    user = "user root;" if os.geteuid() == 0 else ""
    (own / "conf").write_text(NGINX.format(user=user, folder=own, port=port))
    before = dict(os.environ)
    os.environ.update(KEYS, AWS_ENDPOINT_URL=f"http://127.0.0.1:{port}")
    try:
        with running(["nginx", "-p", str(own), "-c", str(own / "conf")], own, port):
            yield own / "requests"
    finally:
        os.environ.clear()
        os.environ.update(before)


def contests(folder: Path, record: Path) -> tuple[Contest, ...]:
    """Return a contest for each of the project's clients."""
    s5cmd = Peer("s5cmd, cat", "s5cmd", partial(run_s5cmd, folder, record))
    return tuple(
        Contest(
            f"object GETs/s, 4 KiB, {THREADS} at once, {client}", "GET", partial(run_ours, folder, client), (s5cmd,)
        )
        for client in ("boto3", "crt")
    )


def run_ours(folder: Path, client: str) -> Seen:
    """GET pages of an object with the read engine, by the clocks of its workers."""
    begun_ns = time.monotonic_ns()
    where = {"reader": client, "region": KEYS["AWS_REGION"], "bucket": BUCKET, "key": KEY}
    plan = read.plan_of(READS, "bench", where)
    armed = read.arm_engine(plan, folder)
    armed.release()
    [ended] = armed.wait()
    report = engines.read_report(ended.stdout, threads=THREADS, operations=GETS)
    ended_ns = time.monotonic_ns()
    to_first_s, to_report_s = (report.start_ns - begun_ns) / 1e9, (ended_ns - report.end_ns) / 1e9
    return Seen(report.operations / report.duration_s, to_first_s, to_report_s)


def run_s5cmd(folder: Path, record: Path) -> Seen:
    """GET an object of one page as often, by the clock of the server, because s5cmd prints no rate."""
    commands = folder / "commands"
    commands.write_text(f"cat s3://{BUCKET}/{OBJECT}\n" * GETS)
    record.write_text("")
    endpoint = os.environ["AWS_ENDPOINT_URL"]
    begun_s = time.time()
    output_of(f"s5cmd --endpoint-url {endpoint} --numworkers {THREADS} run {commands}".split(), folder)
    ended_s = time.time()
    return seen(record.read_text(), begun_s, ended_s)


def seen(record: str, begun_s: float, ended_s: float) -> Seen:
    """Return GETs per second and the waits around them, from the server's record and the command's times (epoch s)."""
    requests = [line.split() for line in record.splitlines()]
    starts_s = [float(end) - float(took) for end, took, _ in requests]
    ends_s = [float(end) for end, _, method in requests if method == "GET"]
    if len(ends_s) != GETS:
        raise ValueError(f"the server saw {len(ends_s)} GETs of {GETS}")
    return Seen(GETS / (max(ends_s) - min(starts_s)), min(starts_s) - begun_s, ended_s - max(ends_s))
