# Everything runs in .venv, made on first use and made anew when the dependencies change.
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed

.PHONY: demo test quick check bench clean

demo: $(STAMP)
	$(BIN)/assay demo -o demo

test: $(STAMP)
	$(BIN)/pytest -n auto --dist loadgroup --cov --cov-report=term:skip-covered --cov-report=xml

quick: $(STAMP)
	$(BIN)/pytest -n auto -m "not slow"

check: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)
	$(BIN)/python -m benchmarks

clean:
	rm -rf .venv demo dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis .coverage coverage.xml

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Assay needs Python 3.11 or newer; say which: make PYTHON=python3.12"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $(STAMP)
