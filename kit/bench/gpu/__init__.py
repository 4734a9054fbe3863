"""Measure an NVIDIA GPU by what labs 00, 02, 03 and 08 ask, with Keras on JAX.

    KERAS_BACKEND=jax python -m kit.bench.gpu OUT.json [JOB ...]

It needs JAX with CUDA, Keras, pooch, platformdirs, psutil and tqdm, but no TensorFlow.
Each job has a process of its own, which starts with an empty GPU. Without names, all jobs
are done, except those that OUT.json already has. It has been tried on a CPU only.
"""
