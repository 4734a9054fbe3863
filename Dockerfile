# The course in one image: docker build -t scaling-labs . (docs/places.md says how to run it)
FROM debian:bookworm-slim

# --build-arg CUDA=1 adds TensorFlow's CUDA libraries; the host brings the driver.
ARG CUDA=""
# --build-arg HUB=5.4.0 adds this version of JupyterHub, so that a hub can start the image.
ARG HUB=""

RUN apt-get update \
 && apt-get install -y --no-install-recommends \
      ca-certificates dataset-fashion-mnist git make python3 python3-venv \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 --shell /bin/bash student
USER student
WORKDIR /home/student/scaling-labs

# First what the packages depend on: a changed text does not install TensorFlow again.
COPY --chown=student Makefile pyproject.toml requirements.txt ./
COPY --chown=student kit/__init__.py kit/
COPY --chown=student kit/place/setup.sh kit/place/__init__.py kit/place/
RUN make setup \
 && if [ -n "$CUDA" ]; then .venv/bin/python -m pip install --quiet \
      --constraint .venv/constraints.txt "tensorflow[and-cuda]"; fi \
 && if [ -n "$HUB" ]; then .venv/bin/python -m pip install --quiet \
      "jupyterhub==$HUB" nbgitpuller; fi
COPY --chown=student . .
# Again, now that all of the kit's packages are there to be found.
RUN .venv/bin/python -m pip install --quiet --no-deps --editable .

ENV PATH=/home/student/scaling-labs/.venv/bin:$PATH
EXPOSE 8888
CMD ["labs", "lab", "--ip=0.0.0.0", "--no-browser"]
