"""The plan of many cells: each one more takes as long as the one before, and what cells share is made once."""

from support.work import growth, instructions

from matrix.check.read import check_matrix
from matrix.plan.planning import plan

FLEETS = [f"{family}.large" for family in ("m5", "m6i", "c5", "c6i", "r5")]


def planning(storages: int, fleets: int = 5):
    """Check and plan 2 workloads on so many storages with so many fleets."""
    matrix = {
        "name": "many",
        "storage": [
            {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 100 + n}
            for n in range(storages)
        ],
        "workload": [{"type": "touch", "tool": "engine", "files": 1024, "threads": [1, n]} for n in (2, 4)],
        "fleet": [{"instanceType": name, "count": 1} for name in FLEETS[:fleets]],
        "repetitions": 1,
    }
    return lambda: plan(check_matrix(matrix)).to_document()


def test_each_cell_of_a_plan_takes_as_long_as_the_one_before():
    assert growth(planning, (2, 4, 8)) < 1.05


def test_a_cell_more_on_the_same_storage_works_nothing_out_again_but_its_type_of_instance():
    planning(2)()

    few, many = instructions(planning(2, fleets=1)), instructions(planning(2, fleets=5))

    # 16 cells more; each took 8,500 instructions when it made its own documents, points and prints, and 6,350 when it
    # worked out its own times and costs: 3,420 since, 3,630 with what is asked of volumes that exist,
    # 4,630 with the network credits of these types, of which two kinds have other times;
    # 4,890 with the operations that a percentile takes, 5,110 with what small requests may use up.
    assert (many - few) / 16 < 5_300
