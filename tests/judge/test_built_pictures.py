"""The pictures of what is built on AWS are those of the template and of our functions as they are now."""

import pytest
from support.built_pictures import PAGES, built, picture


@pytest.fixture(scope="module")
def there():
    """What is built for each kind of storage."""
    return built()


def test_the_pictures_are_drawn_from_what_there_is_now_else_make_built(there):
    assert {kind: page.read_text() for kind, page in PAGES.items()} == {
        kind: picture(of_kind) for kind, of_kind in there.items()
    }


def test_fleets_volumes_mount_targets_and_file_systems_are_where_the_code_puts_them(there):
    ebs, efs, fsx = (there[kind] for kind in ("ebs", "efs", "fsx-openzfs"))

    assert (ebs.instances, ebs.volumes, ebs.targets) == ([67, 67, 66], 1, [])
    assert efs.targets == efs.zones
    # A Single-AZ file system and its fleet meet in the first zone.
    assert (fsx.homes, fsx.instances) == (fsx.zones[:1], [200, 0, 0])
