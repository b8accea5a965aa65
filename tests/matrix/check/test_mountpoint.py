"""A bucket that Mountpoint mounts: a workload that needs what it cannot do is refused, with the way out."""

import pytest
from support.matrices import METADATA, READ, matrix

from matrix.input.storage_names import whole_names
from matrix.input.workloads import MODELS as WORKLOADS
from matrix.plan import needed_tools, placing
from matrix.plan.planning import plan
from matrix.price.book import file_system_cost, published_prices
from matrix.storages.base import Ability
from matrix.storages.mountpoint import LACKS
from matrix.terms.charges import NOTHING, Amount, Usage

MOUNTPOINT = {"type": "mountpoint"}
EXPRESS = MOUNTPOINT | {"storageClass": "EXPRESS_ONEZONE"}
THEIRS = MOUNTPOINT | {"bucket": "theirs", "prefix": "letters/2026"}
IN_ONE_ZONE = THEIRS | {"bucket": "tables--use1-az4--x-s3"}
DELETE = {"type": "delete"}
NEW_FILES = {"type": "fio", "rw": "write", "bs": "256k", "size": "1g", "create_on_open": 1, "fallocate": "none"}
READS = {"type": "fio", "rw": ["read", "randread"], "bs": "4k", "size": "1g", "time_based": 1, "runtime": 10}
LOOKS = METADATA | {"phases": ["stat", "open-read", "list"]}


def test_it_lacks_an_answer_to_no_ability_and_a_workload_that_nobody_looked_at_needs_all():
    assert set(LACKS) == set(Ability)
    assert [need.ability for need in WORKLOADS["yocto"].needs(WORKLOADS["yocto"].model_construct(type="yocto"))] == [
        Ability.EVERYTHING
    ]


def test_it_costs_a_get_for_each_part_or_read_and_a_put_and_a_list_for_each_file():
    storage = matrix(storage=[MOUNTPOINT], workload=[READ]).matrix.storage[0]
    book, gib = published_prices(), Amount.exactly(2.0**30)
    reads = Usage(NOTHING, gib, NOTHING, NOTHING, read_requests=Amount.exactly(2**18))
    files = Usage(NOTHING, NOTHING, Amount.exactly(1000 * 4096.0), NOTHING, write_requests=Amount.exactly(1000))

    read, written = file_system_cost(book, storage, reads), file_system_cost(book, storage, files)

    # 128 parts of 8 MiB, or 262,144 reads of 4 KiB, at 0.0000004 USD.
    assert (read.low, read.high) == pytest.approx((128 * 4e-7, 2**18 * 4e-7))
    # Of 1,000 files a PUT and a LIST each, at 0.000005 USD.
    assert (written.low, written.expected) == pytest.approx((1000 * 5e-6, 2000 * 5e-6))


def test_a_plan_installs_mount_s3_and_names_what_was_chosen():
    storage = MOUNTPOINT | {"cacheMiB": 4096, "readPartSize": "16MiB"}
    planned = plan(matrix(storage=[storage], workload=[READ])).to_document()

    [file_system] = planned["file_systems"]
    assert file_system["id"] == "mountpoint-cache4096-read16mib"
    assert "mount-s3" in needed_tools.of_storage(file_system["storage"])


def test_a_directory_bucket_is_made_only_in_zones_that_have_them():
    asked = matrix(storage=[EXPRESS], workload=[READ]).matrix

    def refused_in(region, zone):
        return list(placing.problems(asked, 3, reaches_multi_az=False, region=region, first_zone_id=lambda: zone))

    assert refused_in("us-east-1", "use1-az4") == []
    [problem] = refused_in("us-east-1", "use1-az1")
    assert problem.path == "storage[0].type"
    assert asked.storage[0].gateway_service == "s3express"
    assert matrix(storage=[MOUNTPOINT], workload=[READ]).matrix.storage[0].gateway_service == ""


def test_a_directory_bucket_is_charged_by_its_own_prices_and_by_the_gib():
    storage = matrix(storage=[EXPRESS], workload=[READ]).matrix.storage[0]
    usage = Usage(NOTHING, Amount.exactly(2.0**30), NOTHING, NOTHING, read_requests=Amount.exactly(128))

    cost = file_system_cost(published_prices(), storage, usage)

    # 128 GETs of 8 MiB at 0.00000003 USD, and 1 GiB at 0.0006 USD.
    assert cost.expected == pytest.approx(128 * 3e-8 + 0.0006)


def test_storages_of_another_class_have_names_of_their_own():
    storages = [MOUNTPOINT, EXPRESS, EXPRESS | {"incrementalUpload": True}, EXPRESS | {"cacheMiB": 64}]
    planned = plan(matrix(storage=storages, workload=[READ])).to_document()

    assert {each["id"] for each in planned["file_systems"]} == {
        "mountpoint", "mountpoint-express", "mountpoint-express-incremental", "mountpoint-express-cache64",
    }  # fmt: skip
    [name] = whole_names([("it", EXPRESS | {"cacheMiB": 64})]).values()
    assert name == "Mountpoint (S3 Express One Zone, cache of 64 MiB)"
