# Each target sets itself up: a virtual environment with the pinned packages.
LABS = .venv/bin/labs
# Five workers for two cores, because many tests wait for a browser, a box or a clock.
# Compiled files are kept, so that not every kernel and command compiles the kit again.
PYTEST = PYTHONDONTWRITEBYTECODE= .venv/bin/pytest -n 5 --dist loadgroup

# With hashes, and without the address of an index.
COMPILE = .venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
  --fork-strategy fewest --no-emit-index-url --no-emit-find-links --no-annotate --no-header

SUBMISSIONS ?= submissions
GRADES ?= grades
LAB ?=

.PHONY: setup setup-grading setup-dev setup-tests run test test-fast test-changed test-all lab hub build outputs verify grade bench site contact-sheet release requirements upgrade help

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | awk -F '\t' '{printf "make %-16s %s\n", $$1, $$2}'
run: setup ## execute every solved lab and write reports/index.html
	$(LABS) run
test: setup-tests ## the test suite
	$(PYTEST) -m "not weekly"
test-all: setup-tests ## all tests, including those that `make test` leaves out as too long
	$(PYTEST)
test-fast: setup-dev ## the tests without notebooks, browser and sandbox: four minutes on two quiet cores
	$(PYTEST) -m "not slow and not weekly"
test-changed: setup-tests ## those of `make test` that changes since their last pass can affect
	$(PYTEST) -m "not weekly" --changed
lab: setup ## JupyterLab on the start page
	$(LABS) lab
hub: setup ## JupyterHub for a class on this machine: make hub HUB_ADDRESS=http://127.0.0.1:8000
	@sh kit/place/hub.sh
build: setup-dev ## generate notebooks, references and the README's table from labs/*.py
	$(LABS) build
outputs: setup-dev ## execute the solutions at laptop scale and store what they print
	$(LABS) outputs
verify: setup-dev ## nbval: do the solutions still print what is stored?
	$(LABS) verify
grade: setup-grading ## grade a folder: make grade SUBMISSIONS=class LAB=02 GRADES=grades
	$(LABS) grade "$(SUBMISSIONS)" $(if $(LAB),--lab "$(LAB)") --out "$(GRADES)"
bench: setup-dev ## measure training, the dashboard, checks and grading
	$(LABS) bench
site: setup-dev ## the course as web pages: build/site/index.html
	@.venv/bin/python -m pip install --quiet --constraint .venv/constraints.txt --editable ".[site]"
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
contact-sheet: setup-tests ## screenshots of every kind of page: build/contact_sheet/index.html
	$(LABS) contact-sheet
release: setup-dev ## make release VERSION=0.2.0: version, notes, hand-out and site in build/release
	$(LABS) new-version "$(VERSION)"
	@$(MAKE) site
	@rm -rf build/release && mkdir -p build/release
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  $(LABS) release "$$folder/scaling-labs-$(VERSION)" > /dev/null && \
	  tar -C "$$folder" -czf build/release/scaling-labs-$(VERSION).tar.gz scaling-labs-$(VERSION)
	@tar -C build -czf build/release/site-$(VERSION).tar.gz site
	@sed '1,/^## \[$(VERSION)\]/d; /^## \[/,$$d' CHANGELOG.md > build/release/notes.md
	@ls -d build/release/*
	@echo "Commit pyproject.toml and CHANGELOG.md: a push to main tags the version."
setup: ## .venv with the pinned packages; repaired if it does not start
	@sh kit/place/setup.sh student
setup-grading: ## .venv with the packages for grading, too
	@sh kit/place/setup.sh grading
setup-dev: ## .venv with the packages for authors and tests, too
	@sh kit/place/setup.sh dev
setup-tests: ## the same, and the programs that the tests need, at the same time
	@sh kit/place/setup_tests.sh & sh kit/place/setup.sh dev; made=$$?; wait; exit $$made
upgrade: COMPILE += --upgrade
upgrade: requirements ## pin the newest version of every dependency that pyproject.toml allows
requirements: setup ## pin again after a change of pyproject.toml; the other pins stay
	.venv/bin/python -m pip install --quiet uv
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --group grading --constraint requirements.txt -o requirements-grading.txt
	$(COMPILE) --group dev --constraint requirements.txt --constraint requirements-grading.txt \
	  -o requirements-dev.txt
	$(COMPILE) --group hub --constraint requirements.txt -o requirements-hub.txt
