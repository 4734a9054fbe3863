# Each target sets itself up: a virtual environment with the pinned packages.
LABS = .venv/bin/labs

.PHONY: setup run test lab build outputs verify bench requirements

run: setup ## execute every solved lab and write reports/index.html
	$(LABS) run
test: setup ## the whole test suite
	.venv/bin/pytest
lab: setup ## JupyterLab on the start page
	$(LABS) lab
build: setup ## generate the notebooks from labs/*.py
	$(LABS) build
outputs: setup ## execute the solutions at laptop scale and store what they print
	$(LABS) outputs
verify: setup ## nbval: do the solutions still print what is stored?
	$(LABS) verify
bench: setup ## measure the input pipeline against ImageDataGenerator
	$(LABS) bench
setup: .venv/ready
.venv/ready: requirements.txt pyproject.toml kit/setup.sh
	@sh kit/setup.sh
requirements: ## pin every dependency anew from pyproject.toml
	.venv/bin/pip install --quiet uv
	.venv/bin/uv pip compile --quiet --universal --python-version 3.11 --fork-strategy fewest \
	  --no-emit-index-url --no-emit-find-links --no-annotate --no-header pyproject.toml -o requirements.txt
