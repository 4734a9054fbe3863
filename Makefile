# Each target sets itself up: a virtual environment with the pinned packages.
LABS = .venv/bin/labs
# Five workers for two cores: many tests wait, for a browser, a box or a clock.
# What is compiled is kept: else each kernel and command compiles the kit again.
PYTEST = PYTHONDONTWRITEBYTECODE= .venv/bin/pytest -n 5 --dist loadgroup

SUBMISSIONS ?= submissions
GRADES ?= grades
LAB ?= all

.PHONY: setup setup-tests run test test-fast test-all lab build outputs verify grade bench site requirements

run: setup ## execute every solved lab and write reports/index.html
	$(LABS) run
test: setup-tests ## the test suite
	$(PYTEST) -m "not weekly"
test-all: setup-tests ## what `make test` leaves out for its length, too
	$(PYTEST)
test-fast: setup ## the tests without notebooks, browser and sandbox: under three minutes
	$(PYTEST) -m "not slow and not weekly"
lab: setup ## JupyterLab on the start page
	$(LABS) lab
build: setup ## generate notebooks, references and the README's table from labs/*.py
	$(LABS) build
outputs: setup ## execute the solutions at laptop scale and store what they print
	$(LABS) outputs
verify: setup ## nbval: do the solutions still print what is stored?
	$(LABS) verify
grade: setup ## grade a folder: make grade SUBMISSIONS=class LAB=02 GRADES=grades
	$(LABS) grade "$(SUBMISSIONS)" --lab "$(LAB)" --out "$(GRADES)"
bench: setup ## measure training, the dashboard, checks and grading
	$(LABS) bench
site: setup ## the course as web pages: build/site/index.html
	@.venv/bin/python -m pip install --quiet --constraint requirements.txt --editable ".[site]"
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
setup: ## .venv with the pinned packages, repaired where it does not start
	@sh kit/place/setup.sh
setup-tests: ## what the tests need besides, at the same time
	@sh kit/place/setup_tests.sh & sh kit/place/setup.sh; made=$$?; wait; exit $$made
requirements: ## pin every dependency again from pyproject.toml
	.venv/bin/pip install --quiet uv
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header pyproject.toml -o requirements.txt
