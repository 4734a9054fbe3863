# Each target sets itself up: a virtual environment with the pinned packages.
LABS = .venv/bin/labs
# Five workers for two cores: many tests wait, for a browser, a box or a clock.
# What is compiled is kept: else each kernel and command compiles the kit again.
PYTEST = PYTHONDONTWRITEBYTECODE= .venv/bin/pytest -n 5 --dist loadgroup

# With hashes, and without the address of an index.
COMPILE = .venv/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 \
  --fork-strategy fewest --no-emit-index-url --no-emit-find-links --no-annotate --no-header

SUBMISSIONS ?= submissions
GRADES ?= grades
LAB ?= all

.PHONY: setup setup-grading setup-dev setup-tests run test test-fast test-changed test-all lab build outputs verify grade bench site requirements

run: setup ## execute every solved lab and write reports/index.html
	$(LABS) run
test: setup-tests ## the test suite
	$(PYTEST) -m "not weekly"
test-all: setup-tests ## what `make test` leaves out for its length, too
	$(PYTEST)
test-fast: setup-dev ## the tests without notebooks, browser and sandbox: under three minutes
	$(PYTEST) -m "not slow and not weekly"
test-changed: setup-tests ## what `make test` asks, but for what passed and has not changed since
	$(PYTEST) -m "not weekly" --changed
lab: setup ## JupyterLab on the start page
	$(LABS) lab
build: setup-dev ## generate notebooks, references and the README's table from labs/*.py
	$(LABS) build
outputs: setup-dev ## execute the solutions at laptop scale and store what they print
	$(LABS) outputs
verify: setup-dev ## nbval: do the solutions still print what is stored?
	$(LABS) verify
grade: setup-grading ## grade a folder: make grade SUBMISSIONS=class LAB=02 GRADES=grades
	$(LABS) grade "$(SUBMISSIONS)" --lab "$(LAB)" --out "$(GRADES)"
bench: setup-dev ## measure training, the dashboard, checks and grading
	$(LABS) bench
site: setup-dev ## the course as web pages: build/site/index.html
	@.venv/bin/python -m pip install --quiet --constraint .venv/constraints.txt --editable ".[site]"
	.venv/bin/sphinx-build --quiet --fail-on-warning --keep-going -c docs . build/site
setup: ## .venv with the pinned packages, repaired where it does not start
	@sh kit/place/setup.sh student
setup-grading: ## what grading needs besides
	@sh kit/place/setup.sh grading
setup-dev: ## what authors and tests need besides
	@sh kit/place/setup.sh dev
setup-tests: ## what the tests need besides, at the same time
	@sh kit/place/setup_tests.sh & sh kit/place/setup.sh dev; made=$$?; wait; exit $$made
requirements: setup ## pin every dependency again from pyproject.toml
	.venv/bin/python -m pip install --quiet uv
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --group grading --constraint requirements.txt -o requirements-grading.txt
	$(COMPILE) --group dev --constraint requirements.txt --constraint requirements-grading.txt \
	  -o requirements-dev.txt
