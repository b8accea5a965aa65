"""What a samples file says of its agent, host, mount and tool: texts of strangers, cut and made safe."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LONGEST = 300
# A fleet has one agent and one image: more than this is no fleet but a fuzzer.
MOST_VALUES = 10


def _text(value: object) -> str | None:
    return None if value is None else " ".join(str(value).split())[:LONGEST]


def _mapping(value: object) -> object:
    return value if isinstance(value, dict) else {}


Text = Annotated[str | None, BeforeValidator(_text)]


class Claims(BaseModel):
    """What an agent tells, as far as it is known here."""

    model_config = ConfigDict(extra="ignore")


class Agent(Claims):
    """The agent itself."""

    version: Text = None
    sha256: Text = None


class Host(Claims):
    """The machine."""

    kernel: Text = None
    os: Text = None
    architecture: Text = None
    cpus: Text = None
    memory_mib: Text = None
    python: Text = None


class Mount(Claims):
    """How the storage is mounted."""

    kind: Text = None
    fstype: Text = None
    options: Text = None


class Tool(Claims):
    """What did the work of a step."""

    name: Text = None
    version: Text = None


AgentField = Annotated[Agent, BeforeValidator(_mapping), Field(default_factory=Agent)]
HostField = Annotated[Host, BeforeValidator(_mapping), Field(default_factory=Host)]
MountField = Annotated[Mount, BeforeValidator(_mapping), Field(default_factory=Mount)]
ToolField = Annotated[Tool, BeforeValidator(_mapping), Field(default_factory=Tool)]
