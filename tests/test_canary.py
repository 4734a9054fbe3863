"""Every private name of another project that the kit touches; it runs before other tests.

A release may rename any of these. Then this test fails first, and says what is lost.
"""

import ast
import importlib
import re

import pytest

from helpers.files import REPOSITORY

# The feature that is lost; a module; a name in it, or a path of names.
USED = [
    ("labs launch: the hosts of a Slurm job",
     "tensorflow.python.distribute.cluster_resolver.slurm_cluster_resolver",
     "expand_hostlist"),
    ("labs launch: the processes of each host of a Slurm job",
     "tensorflow.python.distribute.cluster_resolver.slurm_cluster_resolver",
     "expand_tasks_per_node"),
    ("labs 05 to 07: the end of an epoch waits for no iterator's tuning",
     "tensorflow.python.data.ops.multi_device_iterator_ops", "_create_device_dataset"),
    ("check of 0.1: a pretended machine with GPUs",
     "tensorflow.python.eager.context", "context"),
    ("check of 0.2: waits for what was queued",
     "tensorflow.python.eager.context", "async_wait"),
    ("check of 0.2: forgets the error of a queued product",
     "tensorflow.python.eager.context", "async_clear_error"),
    ("check of 0.2: products that take their time",
     "tensorflow.python.ops.gen_math_ops", "mat_mul"),
    ("check of 0.2: products that take their time",
     "tensorflow.python.ops.gen_math_ops", "batch_mat_mul_v2"),
    ("check of 0.2: products that take their time",
     "tensorflow.python.ops.gen_linalg_ops", "einsum"),
    ("check of 0.2: products that take their time",
     "tensorflow.python.ops.gen_array_ops", "identity"),
    ("check of 0.2: products that take their time",
     "tensorflow.python.ops.array_ops", "identity"),
    ("`fit` on several workers", "keras.src.backend.tensorflow.trainer",
     "reduce_per_replica"),
    ("`fit` on several workers", "keras", "Model._maybe_symbolic_build"),
    ("smoke scale: `fit` traces a step once", "keras", "Model._maybe_symbolic_build"),
    ("smoke scale: `fit` traces a step once", "keras", "Model._symbolic_build"),
    ("smoke scale: `fit` traces a step once",
     "keras.src.backend.tensorflow.trainer", "TFEpochIterator"),
    ("lab 08 and labs bench: the original's augmentation",
     "keras.src.legacy.preprocessing.image", "ImageDataGenerator"),
    ("the stop button: Keras swallows what is raised in its logs",
     "keras.src.utils.python_utils", "pythonify_logs"),
    ("the stop button: Python ignores what is raised in it", "jax._src.lib",
     "_xla_gc_callback"),
    ("figures with sliders, and the dashboard", "ipympl.backend_nbagg", "Canvas._size"),
    ("figures with sliders, and the dashboard", "ipympl.backend_nbagg", "FigureManager"),
    ("live figures that are never blank", "ipympl.backend_nbagg", "Canvas._handle_msg"),
    ("the line that replaces a long traceback",
     "IPython.core.interactiveshell", "InteractiveShell._showtraceback"),
    ("the line that replaces a long traceback",
     "IPython.core.interactiveshell", "InteractiveShell._get_exc_info"),
    ("grading: IPython's own syntax in an answer",
     "IPython.core.inputtransformer2", "TransformerManager"),
    ("labs verify: messages are compared by their text",
     "nbval.plugin", "transform_streams_for_comparison"),
    ("labs verify: standard error is not compared",
     "nbval.plugin", "IPyNbFile.setup"),
    ("figures that appear at once in a busy notebook (ipykernel issue 1554)",
     "ipykernel.subshell_manager", "SubshellManager"),
]  # fmt: skip
PRIVATE = re.compile(
    r"^(tensorflow\.python|keras\.src|ipympl\.|ipykernel\.|nbval\b|IPython\.core)"
)


@pytest.mark.parametrize(
    ("feature", "module", "name"), USED, ids=[f"{m}.{n}" for _, m, n in USED]
)
def test_a_private_name_is_still_there(feature, module, name):
    lost = f"without {module}.{name} this is lost: {feature}"
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        pytest.fail(f"{lost} ({error})")
    for part in name.split("."):
        assert hasattr(found, part) or part in getattr(found, "__annotations__", {}), lost
        found = getattr(found, part, None)


def test_the_list_has_every_private_module_that_the_kit_imports():
    listed = {module for _, module, _ in USED}
    for folder in ("callbacks", "helpers", "kit"):
        for path in (REPOSITORY / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ImportFrom) and PRIVATE.match(node.module or ""):
                    modules = {f"{node.module}.{alias.name}" for alias in node.names}
                    modules.add(node.module)
                    assert modules & listed, f"{path}: {node.module}"
