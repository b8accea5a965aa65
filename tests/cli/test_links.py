"""On AWS `matrix watch` says where the Step Functions console shows the run and each file system."""

import pytest

from cli.commands.watch import Linked
from cli.follow.progress import FileSystemProgress, RunProgress
from cli.target.service import Execution
from matrix.terms.consoles import execution_address

ARN = "arn:aws:states:eu-central-1:123456789012:execution:storage-matrix-run:builds"
CHILD = "arn:aws:states:eu-central-1:123456789012:execution:storage-matrix-run/EachFileSystem:"


class Lines:
    """Keeps what is said."""

    def __init__(self):
        self.lines = []

    def show(self, now):
        self.lines.append("shown")

    def say(self, line):
        self.lines.append(line)


class Children:
    """Iterations that have begun."""

    def __init__(self, *items):
        self.items = {f"{CHILD}{number}": item for number, item in enumerate(items)}
        self.asked = 0

    def children(self, run):
        self.asked += 1
        yield from ((arn, "RUNNING") for arn in self.items)

    def item(self, child):
        return {"run": "builds", "file_system": self.items[child]}


def moment(**states):
    """A run whose file systems are in these states."""
    systems = tuple(FileSystemProgress(name, state) for name, state in states.items())
    return RunProgress(Execution("builds", "RUNNING", 0.0, arn=ARN), (), systems)


def test_the_run_and_each_file_system_are_linked_once_as_soon_as_they_begin():
    lines, children = Lines(), Children("efs")
    view = Linked(lines, children)

    view.show(moment(efs="planned", ebs="planned"))
    assert lines.lines == [
        "builds in the AWS console: https://eu-central-1.console.aws.amazon.com/states/home?region=eu-central-1"
        f"#/v2/executions/details/{ARN}",
        "shown",
    ]
    assert children.asked == 0
    view.show(moment(efs="creating", ebs="planned"))
    view.show(moment(efs="measuring", ebs="planned"))
    children.items[f"{CHILD}1"] = "ebs"
    view.show(moment(efs="gone", ebs="creating"))

    said = [line for line in lines.lines if "console" in line][1:]
    assert [line.split(" ")[0] for line in said] == ["efs", "ebs"]
    assert said[1].endswith(f"#/v2/executions/details/{CHILD}1")
    assert children.asked == 2


@pytest.mark.parametrize(
    ("region", "domain"),
    [
        ("cn-north-1", "amazonaws.cn"),
        ("us-gov-west-1", "amazonaws-us-gov.com"),
        ("eusc-de-east-1", "amazonaws-eusc.eu"),
        ("eu-central-1", "aws.amazon.com"),
    ],
)
def test_an_execution_is_shown_by_the_console_of_its_partition(region, domain):
    address = execution_address(ARN.replace("eu-central-1", region))

    assert address.startswith(f"https://{region}.console.{domain}/states/home?region={region}#")


def test_without_the_right_to_list_the_run_is_shown_all_the_same():
    lines, children = Lines(), Children()
    children.children = None

    Linked(lines, children).show(moment(efs="creating"))

    assert lines.lines[-1] == "shown"
    assert lines.lines[1].startswith("no links to file systems: ")
