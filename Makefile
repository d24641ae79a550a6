# The work is done by config/launch, which needs Python 3.11 and nothing else.
# `make run PYTHON=/path/to/python3.12` names another Python; `make test ARGS="tests/runs -k seal"` a part of the tests.

IS_NEW_ENOUGH := -c 'import sys; sys.exit(sys.version_info < (3, 11))'
PYTHON ?= $(shell for python in python3.11 python3 python3.12 python3.13 python3.14; do \
	"$$python" $(IS_NEW_ENOUGH) 2>/dev/null && echo "$$python" && exit; done; echo python3)
LAUNCH = $(PYTHON) -m config.launch --with-parent

# Below another make, its remarks on directories would stand among the output.
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help run stop test nightly bench check sbom types lock env manage backup restore lab

help: ## Show these lines
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: ## Set up what is missing, start everything, print the address; Ctrl-C stops it
	@$(LAUNCH) run

stop: ## Stop what `make run` started
	@$(LAUNCH) stop

test: ## Every check and every test on every core, with databases of their own
	@$(LAUNCH) test $(ARGS)

nightly: ## The same with 20 seeds of each fault and 20 times the examples: 7,200 requests of the contract's test; hours
	@HYPOTHESIS_PROFILE=deep $(LAUNCH) test $(ARGS)

bench: ## Speed and size beside named peers, into docs/reference/performance.md; ARGS="q1 ingest" for parts
	@$(LAUNCH) bench $(ARGS)

check: ## Formatting, lint, types, imports, templates, migrations, front end, known vulnerabilities, licences, secrets
	@$(LAUNCH) check

sbom: ## Bills of materials in CycloneDX, of server and pages, into var/sbom
	@$(LAUNCH) sbom

types: ## Renew the types of the API, of the front end and the client
	@$(LAUNCH) types

lock: ## Renew the hashed locks from pyproject.toml
	@$(LAUNCH) lock

env: ## Print the environment of the running programs, to be evaluated by a shell
	@$(LAUNCH) env

manage: ## manage.py with that environment: make manage ARGS="create_token admin laptop"
	@$(LAUNCH) manage $(ARGS)

backup: ## Back up rows and artifacts, running or not: into var/backups, or ARGS="/mnt/backups"
	@$(LAUNCH) backup $(ARGS)

restore: ## Restore a backup into an empty installation: ARGS="/mnt/backups/NAME"; --verify only checks it
	@$(LAUNCH) restore $(ARGS)

lab: ## Systems to measure: single servers, Galera, MHA; ARGS=status, ARGS=down, ARGS="up galera"
	@$(PYTHON) -m lab --install $(or $(ARGS),up)
