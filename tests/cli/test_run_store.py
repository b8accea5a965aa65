"""A run is read alike, wherever it lives: in the folders of this machine, or in bucket, table and Step Functions."""

import pytest
from boto3.dynamodb.types import TypeSerializer
from support.cli_documents import CELLS, plan_document, rows

from cli.messages.errors import UnreadableRun
from cli.target.deployment import running_local_cloud
from cli.target.run_folders import RunFolders
from cli.target.service import Service
from local.keeping.runs import OWN_FILES, KeptExecution, KeptRuns

RESULT = f"cells/{CELLS[0]}/result.json"


@pytest.fixture
def both(cloud, workdir):
    """One run of which a cell is measured, in the bucket and the table of a cloud and in its folder."""
    cloud.start("r")
    cloud.write_rows("r", rows())
    cloud.write_document("r", "plan.json", plan_document())
    cloud.write_document("r", RESULT, {"is": "no result"})
    cloud.end("r", error="TooLate")
    service = Service(running_local_cloud())
    kept, execution = KeptRuns(workdir / "runs"), service.execution("r")
    for row in rows():
        kept.keep_row("r", {name: TypeSerializer().serialize(value) for name, value in row.items()})
    kept.keep_execution(KeptExecution(**vars(execution)))
    return RunFolders(), service


@pytest.mark.parametrize(
    "ask",
    [
        lambda store: store.document("r", "plan.json"),
        lambda store: store.document("r", "summary.json"),
        lambda store: store.measured_cells("r"),
        lambda store: store.content("r", "plan.json", 9),
        lambda store: store.content("r", "log.gz"),
        lambda store: sorted(name for name in store.names("r") if name not in OWN_FILES),
        lambda store: list(store.names("r", f"cells/{CELLS[0]}/")),
        lambda store: store.execution("r"),
        lambda store: sorted(row["SK"] for row in store.progress_rows("r")),
        lambda store: (store.flag, store.is_here),
    ],
)
def test_folder_and_deployment_answer_alike(both, ask):
    in_folder, in_cloud = map(ask, both)

    assert in_folder == in_cloud


def test_a_damaged_document_is_refused_with_its_place(both):
    for store in both:
        with pytest.raises(UnreadableRun) as refused:
            store.document("r", RESULT)

        assert str(refused.value).startswith(f"{store.where('r')}{RESULT}")


def test_a_baseline_of_this_machine_is_in_the_cloud_that_is_up_too_and_goes_with_it(both):
    here, _ = both

    here.put_baseline("nightly", b"{}")
    kept = [(store.baselines(), store.baseline("nightly"), store.baseline("other")) for store in both]
    here.delete_baseline("nightly")

    assert kept == 2 * [(["nightly"], b"{}", None)]
    assert [store.baselines() for store in both] == [[], []]
