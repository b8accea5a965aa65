"""Sequential writes with the real dd."""

from __future__ import annotations

import gzip
import lzma
from itertools import pairwise
from pathlib import Path

import pytest
from support.agent_cloud import dd_params, parsed

from agent.engine import writes
from agent.errors import SourceDoesNotFit
from agent.machine import host
from agent.machine.workspace import Workspaces
from agent.workloads import dd

MIB = 1 << 20


def test_the_published_command_lines_are_written_literally():
    params = dd_params(data_bytes=2 << 30, threads=4, sync="block")

    assert dd.parallel_line(params, "/dev/zero", Path("/efs/dd")) == (
        "seq 0 3 | parallel --will-cite -j 4 dd if=/dev/zero 'of=/efs/dd/{}' bs=1048576 count=512 oflag=sync"
    )
    assert dd.dd_argv(dd_params(data_bytes=2 << 30, threads=1), "/dev/zero", "/efs/x", 0) == [
        "dd",
        "if=/dev/zero",
        "of=/efs/x",
        "bs=1048576",
        "count=2048",
        "conv=fsync",
    ]


def test_the_random_source_does_not_compress_and_has_a_block_more_for_each_further_dd(tmp_path):
    source = dd.make_source(dd_params(threads=4), tmp_path)

    content = source.read_bytes()
    assert len(content) == 2 * MIB + 3 * MIB
    assert len(gzip.compress(content, 1)) > len(content)


def test_the_random_source_serves_all_steps_and_is_drawn_once(tmp_path, monkeypatch):
    drawn, draw = [], dd.os.urandom
    monkeypatch.setattr(dd.os, "urandom", lambda count: drawn.append(count) or draw(count))

    sizes = [dd.make_source(dd_params(threads=threads), tmp_path).stat().st_size for threads in (4, 1, 4, 1)]

    assert sizes == [5 * MIB, 8 * MIB, 8 * MIB, 8 * MIB]
    assert sum(drawn) == 8 * MIB


def test_the_random_source_is_at_once_as_large_as_the_jobs_largest_step_needs_it(make_job, tmp_path):
    points = [
        dd_params(source="random", threads=4),
        dd_params(source="random", threads=1),
        dd_params(data_bytes=1 << 50),
    ]
    job = parsed(make_job("dd", points))
    workspaces = Workspaces(tmp_path, "run", "cell", "i-1")
    workspace = workspaces.fresh(0)

    dd.prepare(job, job.steps[0], workspace).armed.kill()

    assert (workspace.shm / "random").stat().st_size == 8 * MIB
    workspaces.close()


def test_a_large_source_is_drawn_in_part_and_no_block_of_it_repeats(tmp_path, monkeypatch):
    drawn, draw = [], dd.os.urandom
    monkeypatch.setattr(dd.os, "urandom", lambda count: drawn.append(count) or draw(count))
    monkeypatch.setattr(dd, "CHUNK_BYTES", MIB)

    content = dd.make_source(dd_params(threads=1, data_bytes=5 * MIB + 4096), tmp_path).read_bytes()

    assert sum(drawn) == MIB
    blocks = [content[start : start + 4096] for start in range(0, len(content), 4096)]
    assert len(blocks) == len(set(blocks)) == 5 * MIB // 4096 + 1
    assert len(gzip.compress(content, 1)) > len(content)


def test_a_source_beyond_half_of_the_free_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(host, "memory_kib", lambda _: 4 * 1024)

    with pytest.raises(SourceDoesNotFit, match="half of the free memory is 2097152"):
        dd.make_source(dd_params(threads=1), tmp_path)


@pytest.mark.parametrize("block_bytes", [4096, 6000, 65_536, 1 << 20])
def test_what_the_engine_writes_neither_repeats_nor_compresses(block_bytes):
    pool = writes.draw_pool(block_bytes, "random", None)
    # More than 4,096: those after them start elsewhere.
    blocks = max(5_000, (256 << 20) // block_bytes)
    starts = [writes.block_start(number, block_bytes, len(pool)) for number in range(blocks)]

    whole_pages = [start + page for start in starts for page in range(0, block_bytes - 4095, 4096)]
    neighbours = sorted(starts[:16])

    # The pool is random, so pages are equal only where they are cut at the same byte, and a compressor finds in a block
    # only what a neighbour has of the same bytes.
    assert len(lzma.compress(pool[: 4 * 65_536])) > 4 * 65_536
    assert len(set(whole_pages)) == len(whole_pages)
    assert max(starts) + block_bytes <= len(pool)
    assert min(later - earlier for earlier, later in pairwise(neighbours)) >= block_bytes
