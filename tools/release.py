"""Write a release: the folder from which a stack is deployed without a clone, SAM or Docker (`make release`).

It is built from the last commit by `sam build`; two releases of one commit for one runtime have the same bytes. The
names of artefacts are hashes of their content, so CloudFormation sees which of them a new release has changed. The
template refers to them by two parameters, bucket and prefix: SAM accepts functions as `{Bucket: !Ref …, Key: !Sub …}`
for CodeUri, ContentUri and DefinitionUri, but it cannot parse a `s3://` address with a parameter. So one template is
valid for every bucket, and need not be written again for each, as with `sam package`.
"""

import argparse
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping
from pathlib import Path

from cli.verify.deployed import RELEASE_PARAMETERS

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent
ARCHITECTURES = {"arm64": "aarch64", "x86_64": "x86_64"}
# The earliest time that a zip can store, and the system of its modes: Unix.
EPOCH, UNIX = (1980, 1, 1, 0, 0, 0), 3
# The path in template.yaml, the name of its artefact, and the output of `sam build`. All functions share one package.
FUNCTIONS, AGENT, CLIENT = "CodeUri: functions/", "ContentUri: agent/", "ContentUri: agent_client/"
DEPENDENCIES, DEFINITION = "ContentUri: dependencies/", "DefinitionUri: statemachine/run.asl.yaml"
FOLDERS = {
    FUNCTIONS: ("functions", ".aws-sam/build/PlanMatrixFunction"),
    AGENT: ("agent", "agent"),
    CLIENT: ("agent-client", ".aws-sam/build/AgentClientLayer"),
    DEPENDENCIES: ("dependencies", ".aws-sam/build/DependenciesLayer"),
}
# Texts of the template where a release writes the place of its artefacts, and its only runtime and architecture.
GROUPS, PARAMETERS = "    ParameterGroups:\n", "\nParameters:\n"
ANY_ARCHITECTURE = "    Default: arm64\n    AllowedValues: [arm64, x86_64]\n"
ANY_RUNTIME = "    Default: python3.13\n    AllowedValues: [python3.11, python3.12, python3.13, python3.14]\n"
# Copied unchanged: the files in the template's metadata, those for Terraform and the CDK, and policies for companies.
BESIDE = (
    "LICENSE",
    "README.md",
    *(f"docs/deploy/{name}" for name in ("main.tf", "app.py", "boundary.json", "key-policy.json", "tag-policy.json")),
)
BILLS = ("sbom.cdx.json", "sbom-layer.cdx.json", "sbom-agent.cdx.json")
SUMS = "SHA256SUMS"


class NotReleased(Exception):
    """No release can be made; the message has the reason and the fix."""


def platforms(runtime: str, architecture: str) -> str:
    """Return the platforms whose wheels a runtime can load, in pip's form (PIP_PLATFORM).

    Lambda's python3.11 is Amazon Linux 2 with glibc 2.26; from python3.12 on it is Amazon Linux 2023 with 2.34.
    """
    machine = ARCHITECTURES[architecture]
    older = f"manylinux2014_{machine}"
    return older if runtime == "python3.11" else f"manylinux_2_28_{machine} {older}"


def run(*command: str | Path, cwd: Path, **environment: str) -> None:
    """Run a program; raise NotReleased with its output if it fails."""
    ended = subprocess.run(  # noqa: S603
        command, cwd=cwd, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    if ended.returncode:
        words = " ".join(map(str, command))
        raise NotReleased(f"{words} ended with {ended.returncode}:\n{ended.stdout}{ended.stderr}".rstrip())


def export(source: Path) -> None:
    """Write the files of the last commit to a folder."""
    archived = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=False)  # noqa: S607
    if archived.returncode:
        raise NotReleased(f"{ROOT} is not a clone: {archived.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        archive.extractall(source, filter="data")


def uncommitted() -> list[str]:
    """Return the tracked files that differ from the last commit."""
    command = ["git", "diff", "--name-only", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()  # noqa: S603


def build(source: Path, runtime: str, architecture: str) -> None:
    """Run `sam build` for a runtime and an architecture, independent of this machine's."""
    try:
        subprocess.run([runtime, "--version"], capture_output=True, check=True)  # noqa: S603
    except (OSError, subprocess.CalledProcessError) as error:
        raise NotReleased(
            f"{runtime} is not on the PATH, and `sam build` installs the packages of the layer by it: put it there, or "
            "make the release for another version: make release RUNTIME=python3.12"
        ) from error
    parameters = [f"FunctionRuntime={runtime}", f"FunctionArchitecture={architecture}"]
    with tempfile.TemporaryDirectory() as left:
        run(
            PROGRAMS / "sam", "build", "--no-cached", "--parameter-overrides", *parameters, cwd=source,
            PATH=f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}", TMPDIR=left, __SAM_CLI_APP_DIR=left,
            SAM_CLI_TELEMETRY="0", AWS_DEFAULT_REGION="us-east-1",
            PIP_PLATFORM=platforms(runtime, architecture), PIP_ONLY_BINARY=":all:",
        )  # fmt: skip


def zipped(folder: Path) -> bytes:
    """Return an archive of a folder: sorted entries, one time for all, and modes by executability."""
    # Compiled files are for one version of Python, and some wheels contain them.
    files = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    paths = {path.relative_to(folder).as_posix(): path for path in files}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, path in sorted(paths.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.create_system = UNIX
            mode = 0o755 if path.stat().st_mode & stat.S_IXUSR else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16
            archive.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def artefacts(source: Path) -> dict[str, tuple[str, bytes]]:
    """Return name and content of each artefact of a built tree, by the line of template.yaml that refers to it."""
    contents = {line: (name, "zip", zipped(source / folder)) for line, (name, folder) in FOLDERS.items()}
    contents[DEFINITION] = ("statemachine", "yaml", (source / "statemachine/run.asl.yaml").read_bytes())
    return {
        line: (f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.{ending}", content)
        for line, (name, ending, content) in contents.items()
    }


def template(text: str, names: Mapping[str, str], version: str, runtime: str, architecture: str) -> str:
    """Return the released template.yaml: with the names of its artefacts, version, runtime and architecture."""
    bucket, prefix = RELEASE_PARAMETERS
    edits = {line: _located(line, name, bucket, prefix) for line, name in names.items()}
    edits |= {
        GROUPS: f"{GROUPS}      - Label: {{default: Where the files of this release are}}\n"
        f"        Parameters: [{bucket}, {prefix}]\n",
        PARAMETERS: f"""{PARAMETERS}  {bucket}:
    Type: String
    AllowedPattern: '^[a-z0-9][a-z0-9.-]{{1,61}}[a-z0-9]$'
    Description: The bucket, in this region, that has the files of this release. Who deploys must be allowed to read it.
  {prefix}:
    Type: String
    Default: storage-matrix/{version}/
    AllowedPattern: '^([A-Za-z0-9._=-]+/)*$'
    Description: What the keys of these files begin with, up to a slash; empty if they begin with nothing.
""",
        ANY_ARCHITECTURE: f"    Default: {architecture}\n    AllowedValues: [{architecture}]\n",
        ANY_RUNTIME: f"    Default: {runtime}\n    AllowedValues: [{runtime}]\n",
    }
    for old, new in edits.items():
        if (count := text.count(old)) != 1:
            raise NotReleased(f"template.yaml has {count} times what a release replaces once: {old.strip()!r}")
        text = text.replace(old, new)
    return text


def _located(line: str, name: str, bucket: str, prefix: str) -> str:
    return f"{line.partition(':')[0]}: {{Bucket: !Ref {bucket}, Key: !Sub '${{{prefix}}}{name}'}}"


def release(into: Path, runtime: str, architecture: str) -> Path:
    """Write a release of the last commit into a folder named by its version; return that folder."""
    with tempfile.TemporaryDirectory() as temporary:
        source, made = Path(temporary, "source"), Path(temporary, "made")
        made.mkdir()
        export(source)
        version = tomllib.loads((source / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
        # Before the build, which writes its own folders there.
        run(
            PROGRAMS / "uv", "build", "--quiet", "--wheel", "--no-build-isolation", "--python", sys.executable,
            "--out-dir", made, source, cwd=source,
        )  # fmt: skip
        # uv writes it, for builds into a source tree.
        (made / ".gitignore").unlink(missing_ok=True)
        # The environment is this one's: make must not check whether it is older than the files of the commit.
        run("make", "--assume-old", PROGRAMS.parent / ".dev", "sbom", f"VENV={PROGRAMS.parent}", cwd=source)
        for name in BILLS:
            shutil.copy(source / "dist" / name, made)
        for name in BESIDE:
            shutil.copy(source / name, made)
        build(source, runtime, architecture)
        parts = artefacts(source)
        for name, content in parts.values():
            (made / name).write_bytes(content)
        names = {line: name for line, (name, _) in parts.items()}
        text = template((source / "template.yaml").read_text(encoding="utf-8"), names, version, runtime, architecture)
        (made / "template.yaml").write_text(text, encoding="utf-8")
        sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(made.iterdir())}
        (made / SUMS).write_text("".join(f"{digest}  {name}\n" for name, digest in sums.items()), encoding="utf-8")
        folder = into / version
        shutil.rmtree(folder, ignore_errors=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(made, folder, copy_function=shutil.copyfile)
    return folder


def main() -> None:
    """Read the command line, write the release, and list it."""
    parser = argparse.ArgumentParser(description="Write a release of the last commit.")
    parser.add_argument("--runtime", default="python3.13", help="Python version of the functions, which is on the PATH")
    parser.add_argument("--architecture", default="arm64", choices=ARCHITECTURES)
    parser.add_argument("--into", type=Path, default=ROOT / "dist/release", help="the folder that has all releases")
    arguments = parser.parse_args()
    if not re.fullmatch(r"python3\.\d+", arguments.runtime):
        parser.error(f"--runtime {arguments.runtime} is not a Python of Lambda, such as python3.13")
    try:
        if changed := uncommitted():
            print(f"Not in the release, as they are not committed: {', '.join(changed)}", file=sys.stderr)
        folder = release(arguments.into, arguments.runtime, arguments.architecture)
    except NotReleased as error:
        sys.exit(f"release: {error}")
    for path in sorted(folder.iterdir()):
        print(f"{path.stat().st_size:>11,}  {path.name}")
    print(f"{folder}: for {arguments.runtime} on {arguments.architecture}. How to deploy it: docs/aws.md")


if __name__ == "__main__":
    main()
