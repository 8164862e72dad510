# Everything a newcomer or a push needs. Only Python >= 3.11 and make are expected; the rest installs itself.
PYTHON ?= python3
BIN := .venv/bin
# Compiled once: without this setting of some images every start of Python compiles a thousand files again.
unexport PYTHONDONTWRITEBYTECODE
FAST := -n auto -m "not slow and not soak and not proxy"

NPM := $(shell command -v npm 2>/dev/null)

.PHONY: demo start app app-check client-types test test-fast test-slow test-browser coverage check lint style types imports bench soak proxy screenshots openapi client lock wheel release plugin site seed profile clean

.venv/.runtime: requirements.lock pyproject.toml sdk/pyproject.toml
	@test -d .venv || $(PYTHON) -m venv .venv
	@echo "installing pinned dependencies into .venv"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e sdk -e .
	@$(BIN)/python -m compileall -q src sdk/src
	@touch $@

.venv/.demo: requirements-demo.lock .venv/.runtime
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-demo.lock
	@touch $@

.venv/.dev: requirements-dev.lock .venv/.runtime
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m compileall -q tests benchmarks
# pytest has a form of its own of each file of tests, with asserts that explain themselves. Made here once, by two
# processes, and not by each worker of the first run at the same time.
	@for files in 'tests/[a-d]*' 'tests/[!a-d]*'; do $(BIN)/python -m pytest -n 0 -qq --collect-only $$files >/dev/null & done; wait
	@touch $@

demo: .venv/.runtime
	@$(BIN)/carrel demo $(if $(DOCS),--docs "$(DOCS)")

# The browser app. Everything else works without Node, so where there is none this says so and goes on.
ifdef NPM
web/node_modules/.installed: web/package.json web/package-lock.json
	@echo "installing the browser app's pinned dependencies into web/node_modules"
	@cd web && npm ci --silent --no-audit --no-fund
	@touch $@

web/dist/carrel.js: web/node_modules/.installed openapi.json web/vite.config.ts web/index.html $(shell find web/src web/scripts sdk/typescript/src -type f ! -name schema.ts 2>/dev/null)
	@cd web && npm run -s build
	@touch $@

app: web/dist/carrel.js

app-check: web/node_modules/.installed
	cd web && npm run -s check

# The types of the SDK once more, as programs see them whose checker is Pyright.
client-types: web/node_modules/.installed .venv/.dev
	cd sdk && ../web/node_modules/.bin/pyright
else
app app-check client-types:
	@echo "npm is not here: the browser app is neither built nor checked. Install Node 20.19 or later to have it."
endif

# All packages as wheels in `dist`; the service's holds the browser app, so this one needs Node.
wheel: .venv/.runtime app
	@test -f web/dist/carrel.js || { echo "the wheel needs the browser app, and that needs npm"; exit 1; }
	@rm -rf dist
	@$(BIN)/python -m hatchling build -t wheel -d dist
	@cd sdk && ../$(BIN)/python -m hatchling build -t wheel -d ../dist
	@cd cli && ../$(BIN)/python -m hatchling build -t wheel -d ../dist

# Brings twenty packages along that no test may see: in an environment of its own.
.venv-release/.installed: requirements-release.lock
	@test -d .venv-release || $(PYTHON) -m venv .venv-release
	@.venv-release/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-release.lock
	@touch $@

# What a version consists of, in `dist`. CHECKS=no leaves out `make check`.
release: .venv/.dev .venv-release/.installed app
	@test -f web/dist/carrel.js || { echo "a release needs the browser app, and that needs npm"; exit 1; }
ifneq ($(CHECKS),no)
	@$(MAKE) --no-print-directory check
endif
	@$(BIN)/python release.py

# The pages of docs as a site with a search, in `site`; a link that leads nowhere is an error.
.venv-site/.installed: requirements-site.lock .venv/.runtime
	@test -d .venv-site || $(PYTHON) -m venv .venv-site
	@.venv-site/bin/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-site.lock
	@touch $@

site: .venv-site/.installed
	@rm -rf site-pages site .cache
	@mkdir site-pages
	@git ls-files -z '*.md' docs LICENSE deploy src/carrel sdk/src | xargs -0 cp --parents -t site-pages
	@$(BIN)/carrel openapi --page > site-pages/api.html
	@printf '# The client for Python\n\n::: carrel_sdk.Host\n\n::: carrel_sdk.Workspace\n\n::: carrel_sdk.admin.Admin\n' > site-pages/python-client.md
	@.venv-site/bin/zensical build --strict

# The plugin for WordPress, as WordPress installs it: the same bytes from the same commit.
plugin:
	@mkdir -p dist
	@git archive --format=zip -o dist/carrel-wordpress.zip HEAD:integrations/wordpress carrel

start: .venv/.demo
	-@$(MAKE) --no-print-directory app
	@$(BIN)/carrel start --folder demo-data --no-browser --end-with-parent

# What looks at the sources uses one core each, so two of them run side by side; the tests take all cores.
check:
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target lint app-check client-types
	@$(MAKE) --no-print-directory test

lint: style types imports

style: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.dev
	$(BIN)/mypy

imports: .venv/.dev
	$(BIN)/lint-imports

test: .venv/.dev
	-@$(MAKE) --no-print-directory app
	$(BIN)/python -m pytest

# What takes seconds is left out: tests/support/slow.py lists it.
test-fast: .venv/.dev
	$(BIN)/python -m pytest $(FAST)

test-slow: .venv/.dev
	$(BIN)/python -m pytest -m "slow and not browser and not soak and not proxy"

test-browser: .venv/.dev app
	$(BIN)/python -m pytest -m "browser and not soak"

# The fast tests, and which branches they take; fails below the figure of pyproject.toml.
coverage: .venv/.dev
	@rm -f .coverage .coverage.*
	$(BIN)/coverage run -m pytest $(FAST)
	@$(BIN)/coverage combine -q
	$(BIN)/coverage report

# AGAINST is the folder of another checkout, installed: both are compared request by request.
bench: .venv/.dev
	$(BIN)/python -m benchmarks$(if $(AGAINST),.against "$(AGAINST)")

# WHAT is read, write or run.
profile: .venv/.dev
	@$(BIN)/python -m benchmarks.profile $(WHAT)

# CAMPAIGN runs one of those that docs/security.md names, SHARE does only so much of it, such as 0.01.
soak: .venv/.dev $(if $(CAMPAIGN),,proxy)
	CARREL_SOAK_SHARE=$(or $(SHARE),1) $(BIN)/python -m pytest -m "soak$(if $(CAMPAIGN),(campaign='$(CAMPAIGN)'))"

# Somebody else's server, large and with dependencies that are not ours: in an environment of its own.
.venv-proxy/.installed: tests/proxy/requirements.lock
	@test -d .venv-proxy || $(PYTHON) -m venv .venv-proxy
	@echo "installing LiteLLM's proxy, pinned, into .venv-proxy: 740 MB"
	@.venv-proxy/bin/python -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r tests/proxy/requirements.lock
	@touch $@

proxy: .venv/.dev .venv-proxy/.installed
	$(BIN)/python -m pytest -n 0 -s -m proxy tests/proxy

# Fills a workspace of the website that `make start` runs in another terminal.
seed: .venv/.demo
	@$(BIN)/python -m carrel_website.seed $(if $(WEBSITE),--website "$(WEBSITE)")

screenshots: .venv/.dev app
	@$(BIN)/python -m tests.browser.screenshots

# The SDK's structs, from `openapi.json`, and its asynchronous client, from the synchronous one.
client: .venv/.dev
	@$(BIN)/python -m sdk.generate

openapi: .venv/.runtime
	@$(BIN)/carrel openapi > openapi.json

lock:
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-package carrel-sdk --no-header pyproject.toml --group build -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-package carrel-sdk --no-header cli/pyproject.toml -c requirements.lock -o requirements-cli.lock
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --group pyproject.toml:demo -c requirements.lock -o requirements-demo.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --group pyproject.toml:otel -c requirements.lock -o requirements-otel.lock
	$(BIN)/uv pip compile --quiet --universal --generate-hashes --no-emit-package carrel-sdk --no-header pyproject.toml --group build --group demo --group dev --group bench --group otel -c requirements.lock -o requirements-dev.lock
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --group pyproject.toml:release -o requirements-release.lock
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header --group pyproject.toml:site -o requirements-site.lock
	$(BIN)/uv pip compile --quiet --generate-hashes --no-header tests/proxy/requirements.in -o tests/proxy/requirements.lock

clean:
	rm -rf .venv .venv-proxy .venv-release .venv-site site site-pages .cache demo-out profile-out dist
