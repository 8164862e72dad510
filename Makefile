# Everything a newcomer or a push needs. Only Python >= 3.11 and make are expected; the rest installs itself.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test check lint bench soak openapi lock clean

.venv/.runtime: requirements.lock pyproject.toml sdk/pyproject.toml
	@test -d .venv || $(PYTHON) -m venv .venv
	@echo "installing pinned dependencies into .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e sdk -e .
	@$(BIN)/python -m compileall -q src sdk/src
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.runtime
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@touch $@

demo: .venv/.runtime
	@$(BIN)/carrel demo $(if $(DOCS),--docs "$(DOCS)")

check: lint test

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: .venv/.dev
	$(BIN)/python -m pytest

bench: .venv/.dev
	$(BIN)/python -m benchmarks

soak: .venv/.dev
	$(BIN)/python -m pytest -m soak

openapi: .venv/.runtime
	@$(BIN)/carrel openapi > openapi.json

lock:
	$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-package carrel-sdk --no-header pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile --quiet --generate-hashes --no-emit-package carrel-sdk --no-header pyproject.toml --group build --group dev --group bench -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf .venv demo-out
