"""What a plan says of every storage: its name, its quotas, the prices that nobody confirmed, and one that exists."""

import pytest
from support.matrices import COMMAND, READ, matrix

from matrix.plan.planning import plan
from matrix.plan.quotas import needs
from matrix.storages.models import MODELS

EFS = {"type": "efs", "throughputMode": "provisioned", "provisionedThroughputMiBps": 512}
VOLUME = {"type": "ebs", "volumeType": "gp3", "sizeGiB": 8}
ZFS = {"type": "fsx-openzfs", "storageCapacityGiB": 1024, "throughputCapacityMBps": 4096}
ZFS_TIERING = {
    "type": "fsx-openzfs", "deploymentType": "MULTI_AZ_1", "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 320, "readCacheGiB": 512,
}  # fmt: skip
ONTAP = {"type": "fsx-ontap", "storageCapacityGiB": 1024, "throughputMBpsPerHaPair": 1536}
TWO_PAIRS = ONTAP | {
    "haPairs": 2, "storageCapacityGiB": 2048, "volumeStyle": "FLEXGROUP", "throughputMBpsPerHaPair": 6_144,
}  # fmt: skip
LUSTRE = {
    "type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageCapacityGiB": 2400, "throughputMBpsPerTiB": 250,
}  # fmt: skip
LUSTRE_TIERING = {
    "type": "fsx-lustre", "deploymentType": "PERSISTENT_2", "storageType": "INTELLIGENT_TIERING",
    "throughputCapacityMBps": 8000, "readCacheGiB": 512, "metadataIops": 6000,
}  # fmt: skip
SCRATCH = {"type": "fsx-lustre", "storageCapacityGiB": 1200}
BUCKET = {"type": "mountpoint"}
IN_ONE_ZONE = BUCKET | {"storageClass": "EXPRESS_ONEZONE"}
FILE_SYSTEM = {"fileSystemId": "fs-0123456789abcdef0"}


def planned(*storages):
    """The plan of one reader on each of these storages."""
    workload = READ if storages[0]["type"] == "mountpoint" else COMMAND
    return plan(matrix(storage=list(storages), workload=[workload], fleet=[{"instanceType": "m6i.large", "count": 1}]))


# Seconds that AWS takes to make one, of which none is spent; most_usd pays for what the run stores meanwhile.
@pytest.mark.parametrize(
    ("made", "existing", "making_s", "most_usd"),
    [
        (EFS, FILE_SYSTEM, 210, 0.001),
        (ZFS, FILE_SYSTEM, 1_200, 0),
        (ONTAP, FILE_SYSTEM | {"junctionPath": "/vol1"}, 3_600, 0),
        (LUSTRE_TIERING, FILE_SYSTEM, 900, 0),
    ],
)
def test_one_that_exists_takes_no_time_to_make_no_quota_and_costs_what_is_stored_at_most(
    made, existing, making_s, most_usd
):
    new, there = (planned(each) for each in (made, made | existing))
    [of_new], [of_there] = new.file_systems, there.file_systems

    assert of_new.expected_s - of_there.expected_s >= making_s
    assert of_there.cost.high <= most_usd < of_new.cost.expected
    quotas = [{need.quota.code for need in needs(each.to_document(), {}, 1)} for each in (new, there)]
    own = {use.quota.code for use in MODELS[made["type"]].quota_uses(of_new.storage)}
    assert own <= quotas[0]
    assert not own & quotas[1]


def test_a_volume_that_exists_costs_the_run_nothing():
    made, there = (planned(each) for each in (VOLUME, VOLUME | {"volumeId": "vol-0123456789abcdef0", "mayWrite": True}))

    assert there.cells[0].cost.expected < made.cells[0].cost.expected


@pytest.mark.parametrize(
    ("storage", "name"),
    [
        (SCRATCH, "fsx-lustre-scratch-2-1200gib"),
        (LUSTRE | {"stripeCount": -1, "stripeSizeMiB": 4, "metadataIops": 6000, "compression": "LZ4"},
         "fsx-lustre-persistent-2-2400gib-250mbps-per-tib-6000metadata-iops-allstripes-4mib-stripes-lz4"),
        (LUSTRE_TIERING, "fsx-lustre-persistent-2-tiering-8000mbps-512gib-cache-6000metadata-iops"),
        (ZFS_TIERING, "fsx-multi-az-1-tiering-320mbps-512gib-cache"),
        (BUCKET, "mountpoint"),
        (BUCKET | {"cacheMiB": 4096, "readPartSize": "16MiB"}, "mountpoint-cache4096-read16mib"),
        (IN_ONE_ZONE, "mountpoint-express"),
        (IN_ONE_ZONE | {"incrementalUpload": True}, "mountpoint-express-incremental"),
        (IN_ONE_ZONE | {"cacheMiB": 64}, "mountpoint-express-cache64"),
    ],
)  # fmt: skip
def test_its_name_says_what_tells_it_from_others(storage, name):
    assert MODELS[storage["type"]].model_validate(storage).slug == name
    # The id of a long one is cut, and ends in a hash.
    assert planned(storage).file_systems[0].id[:38] == name[:38]


@pytest.mark.parametrize(
    ("storage", "amounts"),
    [
        # Two pairs of 6,144 MB/s, 2,048 GiB with 3 IOPS each.
        (TWO_PAIRS, {"L-C28C1403": 1, "L-E2C89679": 2_048, "L-C5F860DD": 12_288, "L-57578687": 6_144}),
        # Of Intelligent-Tiering those of SSD do not count.
        (LUSTRE_TIERING, {"L-FD6F2F22": 1, "L-0CD18A5D": 8_000, "L-B7391FCE": 512}),
        (ZFS_TIERING, {"L-4EDE4065": 320}),
    ],
)
def test_it_counts_for_its_own_quotas(storage, amounts):
    assert {use.quota.code: use.amount for use in MODELS[storage["type"]].quota_uses(storage)} == amounts


@pytest.mark.parametrize(
    ("storage", "prices"),
    [
        (LUSTRE_TIERING, {f"fsx_lustre_{name}_month" for name in
                          ("tiering_gib", "tiering_mbps", "tiering_cache_gib", "metadata_iops")}),
        (LUSTRE, {"fsx_lustre_250_gib_month"}),
        (ZFS_TIERING, {"fsx_tiering_mbps_month"}),
        (ONTAP, {"fsx_ontap_single_mbps_month"}),
        (SCRATCH, set()),
        ({"type": "efs"} | FILE_SYSTEM, set()),
    ],
)  # fmt: skip
def test_a_plan_says_which_of_its_prices_nobody_has_confirmed(storage, prices):
    doubted = planned(storage).doubtful_prices

    assert prices <= set(doubted)
    assert any(price.startswith("fsx_") for price in doubted) == bool(prices)
