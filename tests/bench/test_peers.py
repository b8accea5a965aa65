"""The bench of peers: what their outputs say, and what its ratios mean.

The outputs of fio, fs_mark and nginx were recorded here; those of mdtest, IOR, elbencho and smallfile, which were not
to be had here, have the form that their sources print and their issues show.
"""

import subprocess

import pytest

from bench.peers import objects, outputs
from bench.peers.contests import SOURCES, Contest, Missing, Peer, Seen, rows

FIO = """{
  "fio version" : "fio-3.33",
  "jobs" : [
    {
      "jobname" : "bench",
      "read" : {"io_bytes" : 177942528, "bw_bytes" : 177764763, "bw" : 173598, "iops" : 43399.600400},
      "write" : {"io_bytes" : 0, "bw_bytes" : 0, "bw" : 0, "iops" : 0.000000}
    }
  ]
}
"""
FIO_CLIENT = "hostname=bench, be=0, 64-bit, os=Linux, arch=x86-64, fio=fio-3.33, flags=1\n" + FIO.replace(
    '"jobs"', '"client_stats"'
)
FS_MARK = """
#  fs_mark  -S  0  -s  0  -k  -n  500  -t  4  -l  log  -d  t/a  -d  t/b  -d  t/c  -d  t/d
#	Version 3.3, 4 thread(s) starting at Sun Nov 22 21:15:55 2026
#	File names: 40 bytes long, (16 initial bytes of time stamp with 24 random bytes at end of name)

FSUse%        Count         Size    Files/sec     App Overhead
    73         2000            0     143323.1            28919
"""
MDTEST = """
SUMMARY rate: (of 1 iterations)
   Operation                     Max            Min           Mean        Std Dev
   ---------                     ---            ---           ----        -------
   File creation               20015.250      20015.250      20015.250          0.000
   File stat                       0.000          0.000          0.000          0.000
   Tree creation                2101.000       2101.000       2101.000          0.000
"""
IOR = """
access    bw(MiB/s)  IOPS       Latency(s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
write     940.10     940.20     0.004161    65536      1024.00    0.000071   0.272281   0.000059   0.272312   0

Max Write: 940.10 MiB/sec (985.77 MB/sec)
Max Read:  2000.50 MiB/sec (2097.68 MB/sec)
"""
ELBENCHO = """OPERATION   RESULT TYPE         FIRST DONE   LAST DONE
=========== ================    ==========   =========
WRITE       Elapsed time     :       101ms       109ms
            Files/s          :       50123       48765
            IOPS             :         221         220
            Throughput MiB/s :         886         885
            Total MiB        :       10240       10240
---
"""
SMALLFILE = """total threads = 2
total files = 400
total IOPS = 0
100.00% of requested files processed, minimum is  70.00
elapsed time =     0.604
files/sec = 661.943755
"""


@pytest.mark.parametrize("output", [FIO, FIO_CLIENT], ids=["alone", "client"])
def test_a_report_of_fio_gives_its_rates_also_behind_a_server(output):
    assert outputs.fio_iops(output) == 43399.6004
    assert outputs.fio_mb_per_s(output) == 177.764763


def test_the_rate_of_each_peer_is_read_where_it_prints_it():
    assert outputs.fs_mark(FS_MARK) == 143323.1
    assert outputs.mdtest(MDTEST) == 20015.25
    assert (outputs.ior(IOR, "Write"), outputs.ior(IOR, "Read")) == (985.77, 2097.68)
    # When the last thread had done its work, not the first one.
    assert [outputs.elbencho(ELBENCHO, name) for name in ("Files/s", "IOPS", "Throughput MiB/s")] == [48765, 220, 885]
    assert outputs.smallfile(SMALLFILE) == 661.943755


@pytest.mark.parametrize("read", [outputs.fs_mark, outputs.mdtest, outputs.smallfile])
def test_an_output_without_the_figure_is_no_rate_of_zero(read):
    with pytest.raises(ValueError, match="printed no figure"):
        read("Usage: what you should have written\n")


def test_a_server_s_record_gives_the_rate_of_all_gets_and_the_waits_around_them(monkeypatch):
    monkeypatch.setattr(objects, "GETS", 2)
    record = "100.500 0.250 HEAD\n101.000 0.000 GET\n102.250 0.001 GET\n"

    # 2 GETs from 100.25, when the first request began, to 102.25; the command was from 100 to 103.
    assert objects.seen(record, 100.0, 103.0) == Seen(1.0, 0.25, 0.75)
    with pytest.raises(ValueError, match="1 GETs of 2"):
        objects.seen("101.000 0.000 GET\n", 100.0, 103.0)


def contest(*runs, program="sh"):
    """Ours and a peer whose runs are these pairs."""
    own, others = (iter(side) for side in zip(*runs, strict=True))
    return Contest("creates/s", "create", own.__next__, (Peer("peer", program, others.__next__),))


def test_a_ratio_is_of_a_pair_and_above_one_where_ours_is_ahead():
    pairs = (Seen(20, 0.1, 1.0), Seen(10, 0.2, 0.5)), (Seen(30, 0.1, 1.0), Seen(10, 0.3, 0.5)), (Seen(10), Seen(10))

    rate, first, report = rows(contest(*pairs[:2]), 2)
    [alone] = rows(contest(pairs[2]), 1)

    assert (rate.ours, rate.theirs, rate.ratios, rate.best) == (25, 10, (2, 3), 3)
    assert (first.name, first.ratios) == ("s from the command to the first create", pytest.approx((2, 3)))
    assert first.best == pytest.approx(2)
    assert (report.name, report.ratios) == ("s from the last create to the report", (0.5, 0.5))
    assert rate.line() == "| creates/s | 25 | peer | 10 | 2.50 (2.00 to 3.00) | 3.00 |"
    assert alone.ratios == (1,)


def test_who_goes_first_alternates_in_the_pairs():
    order = []

    def side(name):
        return lambda: order.append(name) or Seen(1)

    list(rows(Contest("creates/s", "create", side("ours"), (Peer("peer", "sh", side("theirs")),)), 2))

    assert order == ["ours", "theirs", "theirs", "ours"]


def test_a_peer_that_is_not_here_is_named_with_where_it_comes_from(monkeypatch):
    monkeypatch.setenv("PATH", "")

    lines = [row.line() for program in SOURCES for row in rows(contest((None, None), program=program), 1)]

    assert len(lines) == len(SOURCES)
    assert "| creates/s | | peer | | not here: apt-get install fsmark | |" in lines


def test_a_peer_that_fails_is_a_row_and_the_others_go_on():
    def fail():
        raise subprocess.CalledProcessError(1, ["peer"], stderr="usage\nno such option\n")

    mute = Peer("mute", "sh", lambda: Seen(outputs.smallfile("")))
    peers = (Peer("broken", "sh", fail), mute, Peer("whole", "sh", lambda: Seen(2)))
    broken, silent, whole = rows(Contest("creates/s", "create", lambda: Seen(4), peers), 1)

    assert broken == Missing("creates/s", "broken", "failed: status 1, no such option")
    assert silent == Missing("creates/s", "mute", "failed: smallfile printed no figure that is known")
    assert whole.ratios == (2,)
