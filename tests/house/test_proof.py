"""docs/records/proof.md is that of claims.yaml and programs.yaml; every test and step that it names exists."""

import re

import pytest
from support.proof_table import PAGE, PROOFS, ROOT, claims, page, programs

from agent.programs.tools import TOOLS
from cli.verify.steps import steps_of

CLAIMS = list(claims())
TESTS = sorted({claim["test"] for claim in CLAIMS if "test" in claim})


def test_the_page_is_that_of_the_claims():
    assert PAGE.read_text(encoding="utf-8") == page(), "write it: make proof"


def test_no_claim_is_made_twice_and_each_says_how_it_is_proved_or_that_it_is_not():
    assert len({claim["claim"] for claim in CLAIMS}) == len(CLAIMS)
    assert {claim.get("by") for claim in CLAIMS} <= PROOFS.keys()
    assert [claim["claim"] for claim in CLAIMS if (claim.get("by") == "documentation") != ("source" in claim)] == []
    # A model, another implementation and a machine prove by a test of ours alone, or not at all.
    assert [claim["claim"] for claim in CLAIMS if claim.get("by", "documentation") != "documentation"
            and "test" not in claim] == []  # fmt: skip


@pytest.mark.parametrize("test", TESTS)
def test_every_test_that_the_page_names_exists(test: str):
    file, _, name = test.partition("::")

    assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)


def test_every_step_that_the_page_names_is_one_of_matrix_verify():
    from cli.target.deployment import Deployment
    from cli.verify.stack import Stack

    steps = {step.name for step in steps_of(Stack(Deployment("aws", "x", "us-east-1", None)), with_fsx=True)}
    assert {claim["verify"] for claim in CLAIMS if "verify" in claim} <= steps


# Every machine has these, in whatever version, or the agent itself installs the one that it wants.
WITHOUT_VERSION = {
    *("bash", "touch", "seq", "dd", "cp", "sync", "find", "cpio", "blkid", "blockdev", "mkfs.ext4"),
    *("mount.efs", "mount.s3files", "mount-s3", "awscrt"),
}


def test_every_program_that_an_instance_must_have_is_listed_with_its_versions():
    listed = [tool for each in programs() for tool in each.get("tools", [])]

    assert sorted(listed) == sorted(TOOLS.keys() - WITHOUT_VERSION)
    # 252.20 without quotes would be the number 252.2.
    known = [each.get(where, {}).get("version", "") for each in programs() for where in ("amazon", "ubuntu", "tested")]
    assert {type(version) for version in known} == {str}
