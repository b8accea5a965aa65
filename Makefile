# Everything a newcomer or a CI job needs. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What failed tests have written is kept here until the next run of the same target; nothing is left in /tmp.
PYTEST = $(BIN)/python -m pytest -rs --basetemp=.pytest-$@
.DEFAULT_GOAL := help

# uv brings certificates of its own, and a company's proxy has one that only the machine knows. Where a machine has no
# bundle of certificates, uv keeps to its own: it would trust nobody else.
ifneq ($(wildcard /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem),)
export UV_SYSTEM_CERTS ?= 1
endif

# Images of containers set it, and each of some thousand processes would compile what it imports anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help install demo quick test test-all test-old faults check lint lint-secrets lint-template lint-code lint-judge lint-audit types format schema snapshots published fio instances boundary calls mutants agent lock sbom release bench vm bare clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# The stamp is newer than the lock file once the environment matches it.
$(VENV)/.run: requirements/run.txt requirements/bootstrap.txt agent_client/requirements.txt agent_client/carry.py pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Storage Matrix needs Python 3.11 or newer, this is %s; try make PYTHON=python3.12" % sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bootstrap.txt
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/run.txt
	@TMPDIR="$(CURDIR)/$(VENV)" $(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@$(BIN)/python agent_client/carry.py $(VENV)/agent-client
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements/dev.txt
	@echo "Installing the test tools ..."
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m compileall -q -j0 $(VENV)/lib >/dev/null || true
	@touch $@

install: $(VENV)/.run  ## Make .venv/bin/matrix

demo: install  ## Run a small matrix on a local cloud: real state machine, real I/O on this disk, no AWS account
	@$(BIN)/matrix demo

# A file's tests stay with one worker, which has one cloud for all whole runs. A worker for each of two cores; one more
# where most of the time is waiting, as in whole runs: 4,390 tests took 1,570 s of CPU and 2,800 s of two workers.
DEALT := --dist loadfile --no-loadscope-reorder
CHEAP := -m 'not slow and not system'
WORKERS ?= 3

quick: $(VENV)/.dev  ## Check format, lint, types and units: before each commit (a minute)
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(PYTEST) -n 2 $(DEALT) $(CHEAP) tests/house tests/matrix && rm -rf .pytest-$@

test: $(VENV)/.dev  ## Test all but whole runs, of which there is one: the demo (4 minutes)
	@$(PYTEST) -n 2 $(DEALT) $(CHEAP) && rm -rf .pytest-$@

test-all: $(VENV)/.dev  ## Run all tests, as CI does (25 minutes)
	@$(PYTEST) -n $(WORKERS) $(DEALT) && rm -rf .pytest-$@

# Debian 11 has the Python of Amazon Linux 2023, and most programs older than both images. It is made once, in
# ~/.cache/storage-matrix. OLD=tests/agent runs all that starts agents; these take less than a minute on two idle cores.
OLD ?= $(patsubst %,tests/agent/test_%.py,delivered barrier workloads command)
test-old: $(VENV)/.dev  ## Test how a fleet boots, meets and measures on the programs of Debian 11 (root on Debian)
	@python=$$(PYTHONPATH=functions:tests:. $(BIN)/python -m support.debian11) || exit 1; \
	if [ -n "$$python" ]; then STORAGE_MATRIX_AGENT_PYTHON=$$python $(PYTEST) -n 3 $(DEALT) $(OLD) && rm -rf .pytest-$@; fi

# Each part is also a command with options of its own: .venv/bin/python -m bench.engines --help
PARTS ?= engines demo waiting scale
bench: $(VENV)/.dev  ## How quick it is: engines beside C, dd and fio, the demo, commands, fleets of 1,000 (about 12 idle minutes; PARTS=waiting for some)
	@for part in $(PARTS); do echo "── bench.$$part"; $(BIN)/python -m bench.$$part || echo "bench.$$part failed or missed a goal"; done

vm: $(VENV)/.dev  ## Send fleets of emulated machines through a run: each storage, each release of Debian (root on Debian, about 25 idle minutes)
	@STORAGE_MATRIX_VM_TESTS=all $(PYTEST) tests/system/test_vm_fleet.py && rm -rf .pytest-$@

faults: $(VENV)/.dev  ## Fail every AWS call of a run, each in each way (80 minutes on two cores; resumes where it stopped)
	@PYTHONPATH=functions:tests $(BIN)/python -u -m faults.harness

SBOM := $(BIN)/cyclonedx-py requirements --spec-version 1.6 --output-format JSON --output-reproducible
check: $(VENV)/.dev lint test-all test-old  ## The whole gate: format, lint, types, template, state machine, tests

# A false alarm of the search for secrets is marked where it stands: `pragma: allowlist secret`.
# CI sets JUDGE to nothing: test-all has the judge's tests too.
JUDGE ?= lint-judge
lint: $(VENV)/.dev  ## Format, lint and types; validate template, policies and state machine; search for secrets and known weaknesses
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target lint-secrets types lint-template lint-code $(JUDGE) lint-audit

# urllib3 2.6.3 is the last version for Python 3.9, so the agent has it. Its two known weaknesses are in redirects and in
# the decoding of responses, and botocore (httpsession.py) switches both off.
UNREACHED := CVE-2026-44431 CVE-2026-44432
AUDITED := requirements/dev.txt dependencies/requirements.txt agent_client/requirements.txt

# What takes longest comes first.
lint-secrets:
	@git ls-files -z | xargs -0 -n 100 -P 2 $(BIN)/detect-secrets-hook --no-verify --exclude-files '^(requirements|dependencies)/'
lint-template:
	@SAM_CLI_TELEMETRY=0 __SAM_CLI_APP_DIR=.aws-sam AWS_DEFAULT_REGION=us-east-1 $(BIN)/sam validate --lint
lint-code:
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/shellcheck .ci/run tools/bare.sh
	@$(BIN)/lint-imports --no-cache
lint-judge:
	@$(PYTEST) $(CHEAP) tests/template/test_policies.py tests/judge && rm -rf .pytest-$@
lint-audit:
	@$(BIN)/python -c 'import requests; requests.head("https://pypi.org", timeout=10)' 2>/dev/null || \
	  { echo "lint-audit: the advisories of pypi.org cannot be reached from here, so no package was audited"; exit 0; }; \
	for file in $(AUDITED); do \
	  found=$$($(BIN)/pip-audit --disable-pip --progress-spinner off $(UNREACHED:%=--ignore-vuln %) -r $$file 2>&1) || { echo "$$found"; exit 1; }; \
	  echo "$$file: $$found" | head -n 1; \
	done

sbom: $(VENV)/.dev  ## Write dist/sbom.cdx.json: what a release is made of, with hashes (CycloneDX), and those of the layer and of the agent's client
	@mkdir -p dist
	@$(SBOM) --pyproject pyproject.toml --output-file dist/sbom.cdx.json requirements/run.txt
	@$(SBOM) --output-file dist/sbom-layer.cdx.json dependencies/requirements.txt
	@$(SBOM) --output-file dist/sbom-agent.cdx.json agent_client/requirements.txt

# For one runtime and one architecture of the functions, as their packages have native code.
RUNTIME ?= python3.13
ARCHITECTURE ?= arm64
release: $(VENV)/.dev  ## Write dist/release/VERSION of the last commit: what a stack is deployed from without a clone (docs/aws.md)
	@PYTHONPATH=functions:. $(BIN)/python tools/release.py --runtime $(RUNTIME) --architecture $(ARCHITECTURE)

agent: install  ## Write dist/agent.pyz: the zip that instances run, with its own AWS client
	@PYTHONPATH=functions:. $(BIN)/python tools/agent_zip.py dist/agent.pyz

types: $(VENV)/.dev  ## Check types
	@$(BIN)/mypy

format: $(VENV)/.dev  ## Format the sources
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

schema: install  ## Write docs/matrix.schema.json, the tables of fields in docs/, and the schemas of all documents into dist/schemas
	@$(BIN)/python -m matrix.check.schema > docs/matrix.schema.json
	@$(BIN)/python tools/field_tables.py
	@$(BIN)/python -m matrix.terms.documents.schema dist/schemas

snapshots: $(VENV)/.dev  ## Write tests/sentences.md: all sentences that the product makes of codes
	@PYTHONPATH=functions:tests $(BIN)/python tests/test_sentences.py

published: install  ## Write docs/published.csv and docs/published.md: which matrix measures each published row again
	@PYTHONPATH=functions $(BIN)/python tools/published_rows.py events/published docs

fio: install  ## Write names, aliases, types and values of the options that the installed fio has
	@$(BIN)/python tools/fio_options.py

instances: $(VENV)/.dev  ## Write what EC2 says of each instance type, limits to EBS and disks, from moto's copy (PRICES=FILE for prices)
	@PYTHONPATH=functions:tests $(BIN)/python -m support.instance_tables $(PRICES)

# mutmut needs a newer click than aws-sam-cli, so it has an environment of its own, which sees the packages of the other.
# It takes the name of a module from its path below src/, so it works on a copy of what is committed or staged.
# *__mutmut_*3 is a tenth of all changes; MUTANTS='matrix.price.*' is all changes of one package. Ctrl-C lists what is known so
# far. To see a change: cd .local/mutants && ../../.venv-mutants/bin/mutmut show NAME
MUTANTS ?= *__mutmut_*3
mutants: $(VENV)/.dev  ## Change code about money and verdicts in small ways and see which tests notice (MUTANTS='matrix.price.*' for one part)
	@$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python $(VENV)-mutants
	@$(BIN)/uv pip install --quiet --python $(VENV)-mutants/bin/python --require-hashes -r requirements/mutants.txt
	@echo "$$PWD"/$(VENV)/lib/python*/site-packages > $$(echo $(VENV)-mutants/lib/python*/site-packages)/development.pth
	@rm -rf .local/mutants && git checkout-index --all --prefix=.local/mutants/ && mv .local/mutants/functions .local/mutants/src
	@cd .local/mutants && "$(CURDIR)/$(VENV)-mutants/bin/mutmut" run '$(MUTANTS)'

boundary: $(VENV)/.dev  ## Write docs/deploy/boundary.json, the permissions boundary that allows what the template's roles do
	@PYTHONPATH=functions:tests:. $(BIN)/python -m support.company

calls: $(VENV)/.dev  ## Write the calls that `matrix verify` asks AWS about, from runs on the local cloud (3 minutes)
	@PYTHONPATH=functions:tests $(BIN)/python -m support.role_calls

# Of the steps demo, test, wheel and ci, and of the accounts user and root: make bare STEPS="demo wheel" AS=user
bare:  ## Prove that a fresh clone works in a minimal Debian, as an ordinary user and as root (started by root on Debian)
	@tools/bare.sh $(AS:%=--as %) $(STEPS)

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-emit-find-links --no-annotate
lock:  ## Pin every package with its hash
	@$(COMPILE) --extra local --extra dev pyproject.toml -o requirements/dev.txt
	@$(COMPILE) --constraint requirements/dev.txt --extra local pyproject.toml -o requirements/run.txt
	@$(COMPILE) --constraint requirements/dev.txt requirements/bootstrap.in -o requirements/bootstrap.txt
	@$(COMPILE) requirements/deploy.in -o requirements/deploy.txt
	@$(COMPILE) requirements/mutants.in -o requirements/mutants.txt
	@$(COMPILE) dependencies/requirements.in -o dependencies/requirements.txt
	@$(subst 3.11,3.9,$(COMPILE)) --no-deps agent_client/requirements.in -o agent_client/requirements.txt

clean:  ## Remove what make and local runs have left
	@rm -rf $(VENV) $(VENV)-mutants .local .aws-sam .pytest-* .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
