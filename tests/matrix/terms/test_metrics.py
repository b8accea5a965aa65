"""What people call the metrics, and how figures are written below a head that has their unit."""

import pytest

from matrix.terms.metrics import METRICS, metric_title, readable
from matrix.terms.quantities import Column


def test_every_metric_has_a_name_for_people():
    titles = {name: metric_title(name) for name in METRICS}

    assert [name for name, title in titles.items() if title == name or "_" in title] == []
    assert metric_title("duration_s", "yocto") == "Build time"
    assert metric_title("open_read_lat_p99_us") == "Open and read latency P99"
    assert metric_title("sync_lat_p9999_us") == "Sync latency P99.99"
    assert metric_title("sync_lat_max_us") == "Sync latency maximum"
    assert metric_title("not ours") == "not ours"


def test_two_metrics_of_one_name_differ_in_their_unit():
    pairs = [(metric_title(name), metric.unit) for name, metric in METRICS.items()]

    assert len(pairs) == len(set(pairs))


def test_a_sentence_says_what_people_call_a_metric_and_keeps_longer_words_whole():
    assert readable("for P90 of duration_s of at most 100m", "build") == "for P90 of build time of at most 100m"
    assert readable("read_lat_p99_us; storage[0].iops") == "read latency P99; storage[0].iops"
    assert readable("my_duration_s_2 and iops2") == "my_duration_s_2 and iops2"


@pytest.mark.parametrize(
    ("values", "unit", "head", "written"),
    [
        ([6077.0, 5980.4, None], "s", "P50", ["101m 17s", "99m 40s", "–"]),
        ([0.5, 12.34, 70.0], "s", "P50 (s)", ["0.500", "12.3", "70.0"]),
        ([1234.0, -2.0], "MB/s", "P50 (MB/s)", ["1,234", "−2.00"]),
        ([1.0], "", "P50", ["1.00"]),
    ],
)
def test_a_column_has_its_unit_in_the_head(values, unit, head, written):
    column = Column.of(values, unit)

    assert column.head("P50") == head
    assert [column.write(value) for value in values] == written
