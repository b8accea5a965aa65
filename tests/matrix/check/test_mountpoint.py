"""A bucket that Mountpoint mounts: a workload that needs what it cannot do is refused, with the fix."""

import pytest
from support.matrices import READ, matrix

from matrix.input.storage_names import whole_names
from matrix.input.workloads import MODELS as WORKLOADS
from matrix.plan import images
from matrix.price.book import file_system_cost, published_prices
from matrix.storages.base import Ability
from matrix.storages.mountpoint import LACKS
from matrix.terms.charges import NOTHING, Amount, Usage

MOUNTPOINT = {"type": "mountpoint"}
EXPRESS = MOUNTPOINT | {"storageClass": "EXPRESS_ONEZONE"}


def test_it_lacks_an_answer_to_no_ability_and_a_workload_that_nobody_looked_at_needs_all():
    # FUSE passes requests of any size on, also those of O_DIRECT.
    assert set(LACKS) == set(Ability) - {Ability.DIRECT_ANY_SIZE}
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


def test_a_directory_bucket_is_charged_by_its_own_prices_and_by_the_gib():
    storage = matrix(storage=[EXPRESS], workload=[READ]).matrix.storage[0]
    usage = Usage(NOTHING, Amount.exactly(2.0**30), NOTHING, NOTHING, read_requests=Amount.exactly(128))

    cost = file_system_cost(published_prices(), storage, usage)

    # 128 GETs of 8 MiB at 0.00000003 USD, and 1 GiB at 0.0006 USD.
    assert cost.expected == pytest.approx(128 * 3e-8 + 0.0006)


def test_it_is_mounted_by_mount_s3_and_named_by_its_class_and_cache():
    [name] = whole_names([("it", EXPRESS | {"cacheMiB": 64})]).values()

    assert "mount-s3" in images.tools_of_storage(MOUNTPOINT)
    assert name == "Mountpoint (S3 Express One Zone, cache of 64 MiB)"
