"""A bucket that Mountpoint mounts: a workload that needs what it cannot do is refused, with the way out."""

import pytest
from support.matrices import BUILD, COMMAND, DD, METADATA, READ, TOUCH, TRANSFER, matrix, problems_of

from matrix.input.storage_names import whole_names
from matrix.input.workloads import MODELS as WORKLOADS
from matrix.plan import needed_tools, placing
from matrix.plan.planning import plan
from matrix.price.book import file_system_cost, published_prices
from matrix.terms.charges import NOTHING, Amount, Usage
from storages.contracts.abilities import Ability
from storages.mountpoint.model import LACKS

MOUNTPOINT = {"type": "mountpoint"}
EXPRESS = MOUNTPOINT | {"storageClass": "EXPRESS_ONEZONE"}
THEIRS = MOUNTPOINT | {"bucket": "theirs", "prefix": "letters/2026"}
IN_ONE_ZONE = THEIRS | {"bucket": "tables--use1-az4--x-s3"}
DELETE = {"type": "delete"}
NEW_FILES = {"type": "fio", "rw": "write", "bs": "256k", "size": "1g", "create_on_open": 1, "fallocate": "none"}
READS = {"type": "fio", "rw": ["read", "randread"], "bs": "4k", "size": "1g", "time_based": 1, "runtime": 10}
LOOKS = METADATA | {"phases": ["stat", "open-read", "list"]}


def refused(workload, storage=MOUNTPOINT):
    return {
        path: (problem.rule, problem.fix)
        for path, problem in problems_of(storage=[storage], workload=[workload]).items()
    }


@pytest.mark.parametrize(
    "workload",
    [
        NEW_FILES,
        NEW_FILES | {"runtime": 30, "direct": 1, "fsync_on_close": 1, "end_fsync": 1, "loops": 1, "numjobs": 4},
        NEW_FILES | {"ioengine": "libaio", "iodepth": 1},
        READS,
        READS | {"ioengine": "libaio", "iodepth": 16, "direct": 1, "loops": 3, "offset": "1m"},
        DD,
        READ,
        LOOKS,
        LOOKS | {"sync": "each"},
        TOUCH | {"sync": ["none", "each"]},
        DELETE | {"tool": "engine"},
        COMMAND,
    ],
    ids=str,
)
def test_what_writes_each_file_once_and_from_its_beginning_is_planned(workload):
    assert refused(workload) == {}


@pytest.mark.parametrize(
    ("workload", "field", "rule", "fix"),
    [
        (NEW_FILES | {"rw": ["write", "randwrite"]}, "rw", "from its beginning to its end", 'write rw "read"'),
        (NEW_FILES | {"rw": "randrw"}, "rw", "from its beginning to its end", 'write rw "read"'),
        (NEW_FILES | {"time_based": 1, "runtime": 30}, "time_based", "each once", "runtime ends the job"),
        (NEW_FILES | {"loops": [1, 2]}, "loops", "each once", "leave it out"),
        (NEW_FILES | {"offset": "1m"}, "offset", "from its beginning", "leave it out"),
        (NEW_FILES | {"fdatasync": 1}, "fdatasync", "completes the upload", "end_fsync 1"),
        (NEW_FILES | {"sync": 1}, "sync", "completes the upload", "end_fsync 1"),
        (NEW_FILES | {"ioengine": "libaio", "iodepth": [1, 8]}, "iodepth", "from its beginning", "numjobs"),
        (NEW_FILES | {"ioengine": "mmap"}, "ioengine", "from its beginning", "psync"),
        (NEW_FILES | {"create_on_open": 0}, "create_on_open", "new files only", "write create_on_open 1"),
        (NEW_FILES | {"fallocate": "posix"}, "fallocate", "no fallocate", "write fallocate none"),
        (DD | {"sync": ["end", "block"]}, "sync", "completes the upload", 'write sync "end"'),
        (METADATA, "phases", "cannot rename", 'write phases ["stat", "open-read", "list"]'),
        (LOOKS | {"directories": "fleet"}, "directories", "a prefix of its own", 'write directories "own"'),
        (LOOKS | {"sync": "end"}, "sync", "no fsync of directories", 'write sync "each"'),
        (TOUCH | {"sync": "end"}, "sync", "no fsync of directories", 'write sync "each"'),
        (READ | {"shift": [0, 1]}, "shift", "a prefix of its own", "leave shift out"),
        (COMMAND | {"populate": "true"}, "populate", "a prefix of its own", "prepare"),
        (TOUCH | {"tool": "parallel", "threads": 1}, "tool", "directories vanish", 'write tool "engine"'),
        (DELETE | {"tool": "parallel"}, "tool", "empty directories vanish", 'write tool "engine"'),
        (BUILD, "type", "no links, permissions", "exclude it for storage type mountpoint"),
        (TRANSFER, "type", "no links, permissions", "exclude it for storage type mountpoint"),
    ],
    ids=str,
)
def test_what_it_cannot_do_is_refused_at_its_field_with_what_to_write_instead(workload, field, rule, fix):
    found = refused(workload)

    assert list(found) == [f"workload[0].{field}"]
    assert rule in found[f"workload[0].{field}"][0]
    assert fix in found[f"workload[0].{field}"][1]


def test_options_that_a_writing_job_must_have_are_named_where_they_are_left_out():
    found = refused({"type": "fio", "rw": "write", "bs": "256k", "size": "1g"})

    assert {path: fix.partition(",")[0] for path, (_, fix) in found.items()} == {
        "workload[0].create_on_open": "write create_on_open 1",
    }


def test_it_lacks_an_answer_to_no_ability_and_a_workload_that_nobody_looked_at_needs_all():
    assert set(LACKS) == set(Ability)
    assert [need.ability for need in WORKLOADS["yocto"].needs(WORKLOADS["yocto"].model_construct(type="yocto"))] == [
        Ability.EVERYTHING
    ]


def test_storages_that_are_file_systems_refuse_none_of_it():
    for storage in ({"type": "efs"}, {"type": "s3-files"}):
        assert refused(NEW_FILES | {"rw": "randwrite", "fdatasync": 1, "create_on_open": 0}, storage) == {}
        assert refused(METADATA | {"sync": "end"}, storage) == {}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"writePartSize": "4MiB"}, "writePartSize"),  # S3 takes 5 MiB to 5 GiB
        ({"writePartSize": "6GiB"}, "writePartSize"),
        ({"readPartSize": 1024}, "readPartSize"),
        ({"cacheMiB": 8193}, "cacheMiB"),
        ({"cacheMiB": 0}, "cacheMiB"),
    ],
)
def test_parts_and_a_cache_that_cannot_be_are_refused(changes, field):
    assert list(refused(READ, MOUNTPOINT | changes)) == [f"storage[0].{field}"]


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


def test_files_of_a_directory_bucket_can_be_renamed_and_all_else_is_as_of_any_bucket():
    assert refused(METADATA, EXPRESS) == {}
    assert refused(NEW_FILES, EXPRESS) == {}
    assert list(refused(BUILD, EXPRESS)) == ["workload[0].type"]
    assert list(refused(NEW_FILES | {"rw": "randwrite"}, EXPRESS)) == ["workload[0].rw"]


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


@pytest.mark.parametrize("storage", [THEIRS, IN_ONE_ZONE])
def test_a_bucket_of_somebody_is_read_by_commands_and_by_nothing_that_writes(storage):
    command = COMMAND | {"workDirectory": "local"}
    [rule, fix] = refused(READ, storage)["workload[0].type"]

    assert "theirs/letters/2026 is mounted read-only" in rule or "x-s3/letters/2026 is mounted read-only" in rule
    assert "mayWrite" not in fix
    assert "CACHE_DIR" in fix
    assert problems_of(storage=[storage], workload=[command]) == {}


@pytest.mark.parametrize(
    ("storage", "field", "rule"),
    [
        (MOUNTPOINT | {"bucket": "theirs"}, "prefix", "only what lies below one"),
        (MOUNTPOINT | {"prefix": "letters"}, "bucket", "other prefixes"),
        (IN_ONE_ZONE | {"storageClass": "EXPRESS_ONEZONE"}, "storageClass", "yours has its own"),
        (MOUNTPOINT | {"incrementalUpload": True}, "incrementalUpload", "cannot be appended to"),
        (IN_ONE_ZONE | {"incrementalUpload": True}, "incrementalUpload", "cannot be appended to"),
    ],
    ids=str,
)
def test_a_bucket_is_named_whole_and_its_class_is_its_own(storage, field, rule):
    assert rule in refused(COMMAND | {"workDirectory": "local"}, storage)[f"storage[0].{field}"][0]


def test_storages_of_another_class_have_names_of_their_own():
    storages = [MOUNTPOINT, EXPRESS, EXPRESS | {"incrementalUpload": True}, EXPRESS | {"cacheMiB": 64}]
    planned = plan(matrix(storage=storages, workload=[READ])).to_document()

    assert {each["id"] for each in planned["file_systems"]} == {
        "mountpoint", "mountpoint-express", "mountpoint-express-incremental", "mountpoint-express-cache64",
    }  # fmt: skip
    [name] = whole_names([("it", EXPRESS | {"cacheMiB": 64})]).values()
    assert name == "Mountpoint (S3 Express One Zone, cache of 64 MiB)"
