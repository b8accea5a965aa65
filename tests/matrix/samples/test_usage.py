"""What a fleet moved together, of what its instances say each for itself."""

import pytest

from matrix.samples.file import SampleFile, by_point
from matrix.samples.usage import fleet_use_of, used

START = 1_780_000_000.0


def instance(number: int, *spans: tuple[float, float], mb: float = 100.0) -> SampleFile:
    """One that moved `mb` in each of its spans, of which each is a repetition."""
    return SampleFile.model_validate(
        {
            "run": "r", "cell": "c", "instance": {"id": f"i-{number}", "type": "m6i.large"}, "host": {"cpus": 2},
            "samples": [
                {
                    "point": "p01", "repetition": repetition, "step": repetition, "work": {"bytes": mb * 1e6},
                    "metrics": {"mb_per_s": mb / (ended - begun), "duration_s": ended - begun},
                    "started_at": START + begun, "ended_at": START + ended,
                }
                for repetition, (begun, ended) in enumerate(spans, 1)
            ],
        }
    )  # fmt: skip


def fleet_use(point: str, files: list[SampleFile]) -> dict[str, float]:
    return fleet_use_of(used(by_point(files).get(point, [])))


@pytest.mark.parametrize(
    ("ends", "mb_per_s"),
    [
        # As four instances of an emulated storage of 100 MB/s ended; their own rates add up to 127 MB/s.
        ((4.0, 2.5, 3.0, 3.5), 100.0),
        # One straggler does not hide what the others reached.
        ((10.0, 10.0, 10.0, 20.0), 30.0),
        ((4.0,), 25.0),
    ],
)
def test_instances_moved_together_no_more_than_the_storage_gave(ends, mb_per_s):
    files = [instance(number, (0.0, ended)) for number, ended in enumerate(ends)]

    assert fleet_use("p01", files)["bytes_per_s"] / 1e6 == pytest.approx(mb_per_s)


def test_who_starts_late_counts_from_the_first_start_on():
    files = [instance(1, (0.0, 4.0)), instance(2, (1.0, 5.0))]

    assert fleet_use("p01", files)["bytes_per_s"] / 1e6 == pytest.approx(40.0)


def test_the_start_of_programs_makes_no_bytes():
    file = instance(1, (0.0, 2.0))
    [sample] = file.samples
    ramped = sample.model_copy(
        update={"started_at": START - 3.0, "work_started_at": START, "work_ended_at": START + 2.0}
    )

    # 100 MB in 2 s of work; 5 s of programs times that rate would be 250 MB.
    use = fleet_use("p01", [file.model_copy(update={"samples": [ramped]})])

    assert use["bytes_per_s"] / 1e6 == pytest.approx(50.0)


def test_of_several_repetitions_it_is_the_median():
    spans = ((0.0, 4.0), (10.0, 15.0), (20.0, 30.0))
    files = [instance(number, *spans) for number in (1, 2)]

    assert fleet_use("p01", files)["bytes_per_s"] / 1e6 == pytest.approx(40.0)
    assert fleet_use("p02", files) == {}
