# Everything runs in .venv, made on first use and made anew when the dependencies change.
PYTHON ?= python3
BIN := .venv/bin
RUNS := .venv/.runs
STAMP := .venv/.installed
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo serve test quick check bench docs browser clean

# What running needs, and no more: the tools of developers come with the first test or check.
demo: export PYTHONDONTWRITEBYTECODE =
demo: $(RUNS)
	$(BIN)/assay demo -o demo

# A campaign of 18 sentences to try the raters' pages; prints everybody's link, Ctrl-C stops it.
serve: $(RUNS)
	@test -f demo-campaign/campaign.json || $(BIN)/assay campaign new docs/examples/news.tsv \
	  --protocol esa --languages de,en --outputs 3 --raters 3 -o demo-campaign --json >/dev/null
	$(BIN)/assay campaign serve demo-campaign

# Compiled modules are kept, as the tests start Assay in many processes. One worker more than there
# are cores: tests of servers and browsers wait a good deal. Coverage is measured by the rooms' own
# tests, as measuring all of them takes a third longer.
COVERED = tests/stats tests/tables src/assay/stats src/assay/tables
PYTEST = $(BIN)/pytest -n $$($(BIN)/python -c 'import os; print(os.cpu_count() + 1)') --dist worksteal
test: export PYTHONDONTWRITEBYTECODE =
test: $(STAMP) browser
	$(PYTEST) $(COVERED) --cov --cov-report=term:skip-covered --cov-fail-under=95
	$(PYTEST) $(addprefix --ignore=,$(COVERED))

HAVE_CHROMIUM = { command -v chromium-headless-shell || command -v chromium || command -v chromium-browser; } >/dev/null
FONTS = fonts-dejavu-core fonts-noto-core fonts-noto-cjk fonts-noto-color-emoji
INSTALL = apt-get install -y -qq --no-install-recommends $(FONTS)

# Pages are tested in a real browser where there is one or where one can be installed; the shell
# without windows is smaller, and shows a page with a quarter of the work.
browser:
	@$(HAVE_CHROMIUM) || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "installing chromium for the tests of pages"; \
	    apt-get update -qq && { $(INSTALL) chromium-headless-shell || $(INSTALL) chromium; } >/dev/null; \
	  fi; }
	@$(HAVE_CHROMIUM) || echo "SKIPPED: no chromium and no way to install it, so pages are not tested in a browser"

quick: $(STAMP)
	$(BIN)/pytest -n auto -m "not slow"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every claim measured, peers beside; writes docs/benchmarks.md. Some only: make bench ONLY="kit_search".
bench: $(STAMP)
	$(BIN)/python -m benchmarks $(ONLY)

# The generated pages first; then the site, into site/, every warning an error.
docs: $(STAMP)
	$(BIN)/python docs/generate_cli.py
	$(BIN)/python docs/generate_api.py
	$(BIN)/python docs/make_pictures.py
	$(BIN)/python docs/generate_project.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html (search needs a server: $(BIN)/python -m http.server -d site)"

clean:
	rm -rf .venv .bench demo demo-campaign dist build site .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage coverage.xml

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Assay needs Python 3.11 or newer; say which: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv .venv

# Compiling all modules takes longer than those that run; each is compiled when it is first used.
$(RUNS): pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) --no-compile -e '.[campaign]'
	@touch $(RUNS)

$(STAMP): pyproject.toml constraints.txt | .venv/bin/python
	$(PIP) -e '.[campaign,cluster,dev,docs,kits,postgres]'
	@touch $(STAMP) $(RUNS)
