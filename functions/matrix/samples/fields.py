"""Claims of a samples file about its agent, host, mount and tool: untrusted texts, cut to a safe length."""

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LONGEST = 300
# A fleet boots one image with one agent, so it has far fewer different values; more come from a fuzzer.
MOST_VALUES = 10


def _text(value: object) -> str | None:
    return None if value is None else " ".join(str(value).split())[:LONGEST]


def _mapping(value: object) -> object:
    return value if isinstance(value, dict) else {}


Text = Annotated[str | None, BeforeValidator(_text)]


class Claims(BaseModel):
    """Claims of an agent; fields that this version does not know are ignored."""

    model_config = ConfigDict(extra="ignore")


class Agent(Claims):
    """The agent itself."""

    version: Text = None
    sha256: Text = None


class Host(Claims):
    """The machine."""

    boot_id: Text = None
    kernel: Text = None
    os: Text = None
    architecture: Text = None
    cpus: Text = None
    memory_mib: Text = None
    python: Text = None


class Mount(Claims):
    """The mount of the storage."""

    kind: Text = None
    fstype: Text = None
    options: Text = None


class Tool(Claims):
    """The program that did the work of a step; `mode` is whether an engine's workers were threads or processes."""

    name: Text = None
    version: Text = None
    mode: Text = None


AgentField = Annotated[Agent, BeforeValidator(_mapping), Field(default_factory=Agent)]
HostField = Annotated[Host, BeforeValidator(_mapping), Field(default_factory=Host)]
MountField = Annotated[Mount, BeforeValidator(_mapping), Field(default_factory=Mount)]
ToolField = Annotated[Tool, BeforeValidator(_mapping), Field(default_factory=Tool)]
