# Every target sets up what it needs in .venv, or in a .venv-… of its own; only `make browser` goes beyond. `make` alone lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PEERS := .venv-peers
DOCS := .venv-docs
LOCK := requirements/test.lock
PIP := -m pip install --quiet --disable-pip-version-check
UV := .venv-uv/bin/uv
# One thread for the numerical libraries: repeatable timings, and the tests already run one process a core.
export OMP_NUM_THREADS := 1
export OPENBLAS_NUM_THREADS := 1
export MKL_NUM_THREADS := 1
export NUMBA_NUM_THREADS := 1
# The suite starts hundreds of processes: each would compile the library anew, half a second, where no bytecode is kept.
unexport PYTHONDONTWRITEBYTECODE
# A worker a core, each with a half of the suite in its order: what the tests of a file share is then made once.
WORKERS := -n auto --dist worksteal

.PHONY: help demo demo-mechanisms demo-stream docs test test-all test-lowest test-newest lint types unit fuzz torture browser lock bench bench-noise bench-gaussian bench-transforms bench-recovery bench-shrinkage bench-release bench-errors bench-zcdp bench-accuracy bench-ablation bench-published bench-tables bench-rhythms bench-tables-speed bench-coverage bench-cut bench-means bench-streams bench-stream-speed bench-ingest bench-peers experiments experiments-full paper-page attack study fidelity clean

help:
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 20

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sparsedp needs Python 3.11 or later; say which one: make PYTHON=python3.12 …"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[demo]'
	@touch $@

# Exactly the packages of the lock, checked by their hashes; a Python that is newer than the lock takes what there is.
$(VENV)/.test: pyproject.toml $(LOCK) | $(BIN)/python
	if $(BIN)/python -c 'import sys; sys.exit(sys.version_info >= (3, 15))'; then \
	  $(BIN)/python $(PIP) --require-hashes --requirement $(LOCK) && \
	  $(BIN)/python $(PIP) --no-build-isolation --no-deps --editable .; \
	else $(BIN)/python $(PIP) --editable '.[test,develop]'; fi
	@touch $@

$(VENV)/.bench: pyproject.toml | $(BIN)/python
	$(BIN)/python $(PIP) --editable '.[demo,bench]'
	@touch $@

# A Chromium on the machine, else Playwright's own, in .venv: where it is, for the tests of the report.
$(VENV)/browser-path: tools/find_browser.py | $(VENV)/.test
	$(BIN)/python tools/find_browser.py $@

demo: $(VENV)/.demo  ## publish a year of flights from records to a file and a report, and ask it three questions
	$(BIN)/python examples/demo.py

demo-mechanisms: $(VENV)/.demo  ## publish the hourly departures with every mechanism; table and picture
	$(BIN)/python examples/publish_flights.py

demo-stream: $(VENV)/.demo  ## publish the same hours while they happen: a durable stream, stopped and resumed
	$(BIN)/python examples/stream_flights.py

# First the browser, about which there may be a question.
test: $(VENV)/browser-path lint types unit  ## lint, types and the test suite without its slow tests: minutes

test-all: $(VENV)/browser-path lint types  ## the same with the slow tests, which measure more of what the quick ones promise
	$(BIN)/pytest $(WORKERS) -m ''

# An environment of its own, made anew without the lock: $(1) is its name, $(2) which end of the declared versions it takes.
define suite_with
$(PYTHON) -m venv --clear .venv-$(1)
$(UV) pip compile --quiet --no-header --extra test --python .venv-$(1)/bin/python --resolution $(2) --output-file .venv-$(1)/requirements.txt pyproject.toml
$(UV) pip sync --quiet --python .venv-$(1)/bin/python .venv-$(1)/requirements.txt
$(UV) pip install --quiet --python .venv-$(1)/bin/python --no-deps --editable .
.venv-$(1)/bin/python tools/find_browser.py .venv-$(1)/browser-path
.venv-$(1)/bin/pytest $(WORKERS)
endef

test-lowest: $(UV)  ## the suite with the lowest version of every package that pyproject.toml declares
	$(call suite_with,lowest,lowest-direct)

test-newest: $(UV)  ## the suite with the newest versions of all packages, whatever the lock says
	$(call suite_with,newest,highest)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.test
	$(BIN)/mypy

unit: $(VENV)/.test $(VENV)/browser-path
	$(BIN)/pytest $(WORKERS)

browser: $(VENV)/.test  ## install Debian's Chromium on this machine for the tests of the report, by apt-get
	SPARSEDP_INSTALL_BROWSER=1 $(BIN)/python tools/find_browser.py $(VENV)/browser-path

$(UV):
	$(PYTHON) -m venv .venv-uv
	$(@D)/python $(PIP) 'uv>=0.8'

# The file names no registry: where packages come from is the business of who installs them.
lock: $(UV)  ## the versions and hashes in requirements/test.lock, anew where pyproject.toml asks for it; all of them by RENEW=--upgrade
	$(UV) pip compile --quiet $(RENEW) --universal --python-version 3.11 --generate-hashes --no-annotate \
	  --custom-compile-command 'make lock' --extra test --extra develop --output-file $(LOCK) pyproject.toml

torture: $(VENV)/.test  ## 1,000 kills, full disks, read-only places and races over ledgers, releases and streams; minutes
	$(BIN)/python -m torture

$(DOCS)/.done: pyproject.toml
	$(PYTHON) -m venv $(DOCS)
	$(DOCS)/bin/python $(PIP) --editable '.[docs]'
	@touch $@

docs: $(DOCS)/.done  ## the documents, the proofs and the reference of all public names as a site, in out/site
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/mkdocs build --strict
	@echo 'Open out/site/index.html; to search it, too: python3 -m http.server --directory out/site'

bench: bench-noise bench-gaussian bench-transforms bench-recovery bench-shrinkage bench-release bench-stream-speed bench-ingest  ## every benchmark of speed, side by side with its peers

bench-noise: $(VENV)/.bench  ## exact noise against OpenDP's
	$(BIN)/python benchmarks/bench_noise.py

bench-gaussian: $(VENV)/.bench  ## exact discrete Gaussian noise against OpenDP's
	$(BIN)/python benchmarks/bench_gaussian.py

bench-transforms: $(VENV)/.bench  ## Hadamard and Haar against scipy's cosine transform, and how they grow
	$(BIN)/python benchmarks/bench_transforms.py

bench-recovery: $(VENV)/.bench  ## decoders against PyLops, scikit-learn and spgl1
	$(BIN)/python benchmarks/bench_recovery.py

bench-shrinkage: $(VENV)/.bench  ## shrinkage against scipy's cosine transform, and how it grows
	$(BIN)/python benchmarks/bench_shrinkage.py

bench-errors: $(VENV)/.bench  ## mean errors of every mechanism on the flights, at three ε
	$(BIN)/python benchmarks/bench_errors.py

bench-accuracy: $(VENV)/.bench  ## errors on the public family of inputs, and our ratios to the best of the others
	$(BIN)/python benchmarks/bench_accuracy.py

bench-ablation: $(VENV)/.bench  ## what each stage of Adaptive is worth: errors without it over those with it
	$(BIN)/python benchmarks/bench_ablation.py

bench-published: $(VENV)/.bench  ## Adaptive beside the best of seven published mechanisms in each case: ratios of errors
	$(BIN)/python benchmarks/bench_published.py

bench-coverage: $(VENV)/.bench  ## do 95 % intervals hold the truth, whatever is asked: family by family of questions, on every input
	$(BIN)/python benchmarks/bench_coverage.py

bench-means: $(VENV)/.bench  ## do 95 % intervals of means hold the mean of what was counted, on skewed costs
	$(BIN)/python benchmarks/bench_means.py --cases

bench-zcdp: $(VENV)/.bench  ## pure ε beside (ε, δ) by ρ-zCDP: mean errors on the flights
	$(BIN)/python benchmarks/bench_zcdp.py

bench-release: $(VENV)/.bench  ## whole releases up to 2²⁴ cells: time and peak memory
	$(BIN)/python benchmarks/bench_release.py

bench-cut: $(VENV)/.bench  ## what a bound cuts, and which bound is chosen: how often that holds, and how good it is
	$(BIN)/python benchmarks/bench_cut.py --write

bench-streams: $(VENV)/.bench  ## errors of every stream on the flights and on a synthetic stream, at three ε
	$(BIN)/python benchmarks/bench_streams.py

bench-stream-speed: $(VENV)/.bench  ## streams against the noise they draw and against a bare SQLite loop
	$(BIN)/python benchmarks/bench_stream_speed.py

bench-ingest: $(VENV)/.bench  ## counting twenty million records against the same bound written in plain SQL
	$(BIN)/python benchmarks/bench_ingest.py

fuzz: $(VENV)/.test  ## 100,000 mutated files and command lines: raw errors, hangs, leaks, spends; twenty minutes on two cores
	$(BIN)/python -m fuzz

$(PEERS)/.done: pyproject.toml
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python $(PIP) --editable '.[peers]'
	@touch $@

bench-peers: $(PEERS)/.done  ## the same releases by OpenDP, diffprivlib, Google DP, PipelineDP and JAX Privacy: error, time, growth
	$(PEERS)/bin/python benchmarks/bench_peers.py

bench-tables: $(PEERS)/.done  ## Adaptive on tables of many axes beside mbi, AIM, ResidualPlanner and plain noise: ratios of errors; hours with all tables
	$(PEERS)/bin/python benchmarks/bench_tables.py --cases

bench-rhythms: $(VENV)/.bench  ## weekdays and hours of a year of flights: the default beside Adaptive("marginals")
	$(BIN)/python benchmarks/bench_rhythms.py

bench-tables-speed: $(PEERS)/.done  ## a table of seven axes beside mbi: time, memory, growth
	$(PEERS)/bin/python benchmarks/bench_tables_speed.py

experiments: $(VENV)/.demo  ## every table and figure of the paper, and what became of its claims: minutes
	$(BIN)/python -m studies

experiments-full: $(VENV)/.demo  ## the same with more runs and larger sizes
	$(BIN)/python -m studies --full

paper-page: $(VENV)/.demo  ## docs/paper.md and its figures, from the results in docs/paper
	$(BIN)/python -m studies --results docs/paper --page docs/paper.md

attack: $(VENV)/.bench  ## what an intruder learns from the paper's calibration of CMCO, and from the correct one
	$(BIN)/python benchmarks/attack_streams.py

study: $(VENV)/.bench  ## the experiment behind the constants of the sparsity's choice
	$(BIN)/python benchmarks/study_constants.py
	$(BIN)/python benchmarks/study_constants.py --noise gaussian

fidelity: $(VENV)/.bench  ## the paper's own files, which `sparsedp datasets fetch` gets
	$(BIN)/python benchmarks/fidelity.py

clean:  ## remove the virtual environment and everything generated
	rm -rf $(VENV) $(PEERS) $(DOCS) .venv-uv .venv-lowest .venv-newest out .mypy_cache .ruff_cache .hypothesis
