"""The first and the last line of a lab: set it up, and report the result."""

import inspect
import os
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from helpers.files import REPOSITORY, WORK
from helpers.machine import other_load
from helpers.machine.own_keras import use_own_keras
from helpers.machine.quiet_tensorflow import silence_tensorflow
from helpers.notebook import end_message, estimate, messages, prediction_form
from helpers.notebook.kernel_patch import patch_this_kernel
from helpers.notebook.notebooks import about_the_original, note_run
from helpers.parameters import (
    assigned_names,
    at_scale,
    check_given,
    check_parameters,
    own_parameters,
    scale_asked_for,
    sizes_of,
)
from helpers.run_card import documents, predictions, progress
from helpers.run_card.progress import Progress
from helpers.texts import read_texts

# In the environment of the kernels of a server with kit/jupyter/jupyter_server.py: the
# address of its start page.
SERVED = "LABS_SERVER"
NOT_STARTED = "session.start comes first"
_current: SimpleNamespace | None = None
_claimed = None
_end = None  # the run card whose last message is shown, and what changes that


def start(
    lab: str,
    namespace: dict,
    *,
    devices: str = "one",
    simulated_replicas: int | None = None,
) -> SimpleNamespace:
    """Check the parameters, make the devices ready, seed everything, open the run card.

    Parameters
    ----------
    lab : str
        The lab's name, ``"02_throughput"``.
    namespace : dict
        ``globals()`` of the notebook, which holds the parameters.
    devices : str
        "one": take the first GPU with memory growth, where there is one; "all":
        every device for a strategy, or as many as the parameters `replicas` and
        `gpu_indices` say; "simulated": the same, on logical CPUs where there is no
        TPU; "none": take nothing.
    simulated_replicas : int, optional
        For "all": how many logical CPUs to use where there is no accelerator and
        `replicas` is None; None: one for each core.

    Returns
    -------
    SimpleNamespace
        Every parameter by its name, `scale` and `device` as found, the
        run card as `card`.

    Raises
    ------
    ParameterError, RunCardError
        One line each.
    """
    global _current
    given, sizes = own_parameters(namespace, lab), sizes_of(lab)
    # Before TensorFlow, which takes seconds to import.
    check_given(given, lab, sizes, _injected_names(namespace) - set(given))
    for line in use_own_keras():
        print(line)
    patch_this_kernel()
    silence_tensorflow()
    chosen = _at_the_scale_of_this_machine(given, lab, sizes, devices)
    _warn_of_a_long_run(lab, chosen, sizes, devices)
    device = _take_devices(chosen, devices, simulated_replicas)
    _prepare_keras(chosen)
    environment = {"device": device, "versions": documents.versions()}
    tell, confirm = messages.show_prediction, messages.confirm_prediction
    card = documents.open_card(lab, chosen, environment, tell, confirm, _ask)
    note_run(lab)
    everything = sizes[chosen["scale"]] | chosen
    _current = SimpleNamespace(**everything, device=device, card=card)
    print(f"Running at {chosen['scale']} scale on {device['name']}{_replicas(device)}")
    if _in_jupyterlab() and (line := about_the_original(lab)):
        print(line)
    if _in_jupyterlab() and SERVED not in os.environ:
        print(
            "This JupyterLab is not the course's: it has no start page, and a stored "
            "notebook loses its live figures. Close it, and type `make lab`."
        )
    # At smoke scale no time means anything.
    other_load.watch(card.note_other_load if chosen["scale"] != "smoke" else None)
    if any(card.content["measurements"].values()):
        print(f"Resuming the interrupted run of {_show(card.path)}")
    if _shows_earlier_runs():
        messages.show(*end_message.at_the_start(lab, done_so_far(), _home()))
    return _current


def _in_jupyterlab():
    from callbacks.live.place import in_jupyterlab  # and so TensorFlow

    return in_jupyterlab()


def _at_the_scale_of_this_machine(given, lab, sizes, devices):
    """Every parameter's value; `auto` becomes what this machine can handle."""
    from helpers.machine.devices import describe_device

    scale = scale_asked_for(given, lab)
    if scale == "auto":
        # Simulated replicas compute on the CPU, even where there is a GPU.
        slow = ("cpu", "gpu") if devices == "simulated" else ("cpu",)
        scale = "laptop" if describe_device()["kind"] in slow else "gpu"
    chosen = at_scale(given, sizes, scale)
    return check_parameters(chosen, lab, tuple(given))


def _warn_of_a_long_run(lab, chosen, sizes, devices):
    """Say how long it will take on the CPU; nothing is known of other devices."""
    from helpers.machine.devices import describe_device

    on_cpu = devices == "simulated" or describe_device()["kind"] == "cpu"
    if on_cpu and (line := estimate.warning(lab, [chosen], sizes)):
        print(line)


def _take_devices(chosen, devices, simulated_replicas):
    """Prepare the lab's devices; set `chosen["replicas"]` if the lab uses replicas."""
    from helpers.machine.devices import claim_gpu, describe_device, prepare_devices

    device = describe_device()
    if devices == "one" and device["kind"] == "gpu":
        claim_once(claim_gpu)
    elif devices in ("all", "simulated"):
        replicas = chosen["replicas"]
        if device["kind"] == "cpu":
            replicas = replicas or simulated_replicas
        device = prepare_devices(
            replicas, chosen.get("gpu_indices"), devices == "simulated"
        )
        chosen["replicas"] = device["replicas"]
    return {name: device[name] for name in ("kind", "name", "replicas", "simulated")}


def _prepare_keras(chosen):
    """Seed all random generators; at smoke scale, prepare graphs in less time."""
    import keras

    from helpers.machine.small_graphs import spend_less_on_graphs

    keras.utils.set_random_seed(chosen["seed"])
    if chosen["scale"] == "smoke":
        spend_less_on_graphs()


def claim_once(claim_gpu: Callable, index: int = 0) -> dict:
    """Claim a GPU the first time in this kernel; afterwards only return the result.

    A notebook's first cells are run again and again, and devices are fixed once
    TensorFlow has started.

    Parameters
    ----------
    claim_gpu : callable
        `helpers.machine.devices.claim_gpu`, or the student's instead.
    index : int
        Which GPU.

    Returns
    -------
    dict
        What `claim_gpu` returned.
    """
    global _claimed
    if _claimed is None:
        _claimed = claim_gpu(index)
    return _claimed


def current_card() -> documents.RunCard | None:
    """The run card of the lab in this kernel, or None before `start`."""
    return _current.card if _current else None


def done_so_far() -> Progress:
    """The student's progress in the lab in this kernel.

    In JupyterLab all of the student's runs count. Elsewhere only this run does, because
    what a notebook stores must not depend on earlier ones.

    Returns
    -------
    helpers.run_card.progress.Progress
    """
    assert _current, NOT_STARTED
    content = _current.card.content
    if _shows_earlier_runs():
        return progress.of_student(content["lab"])
    return progress.of_runs(content["lab"], [content])


def _ask(name, kind, value, lock):
    """The form for a prediction, with what an earlier run has of it."""
    assert _current
    said, card = "", _current.card
    if _shows_earlier_runs():
        earlier = progress.of_student(card.content["lab"], left_out=card.path).together
        said = predictions.of_an_earlier_run(earlier["predictions"].get(name))
    bind = prediction_form.names_of_cell(name)

    def lock_and_bind(given):
        line = lock(given)
        if not line:
            bind(given)
        return line

    texts = read_texts(card.content["lab"][:2])
    about = texts["prediction_titles"].get(name, name.replace("_", " "))
    choices = texts["prediction_choices"].get(name, [])
    label = texts["prediction_labels"].get(name, "{}")
    return prediction_form.ask(kind, value, lock_and_bind, said, about, choices, label)


def _shows_earlier_runs():
    assert _current
    return _in_jupyterlab() and not _current.card.content.get("solution")


def _home():
    """The address of the start page, where a server of the course's has one."""
    address = os.environ.get(SERVED, "")
    return address if address.startswith("/") else ""


def caption() -> str:
    """Device, replicas and scale of the lab in this kernel, for a figure."""
    from callbacks.live.picture import SYNTHETIC  # and so TensorFlow

    assert _current, NOT_STARTED
    device = _current.device
    parts = [device["name"]]
    if device["replicas"] > 1:  # a word that labs 00 to 04 do not have yet
        kind = "simulated" if device["simulated"] else "real"
        parts.append(f"{device['replicas']} {kind} replicas")
    parts.append(f"{_current.scale} scale")
    parts.append("Keras {keras}, TensorFlow {tensorflow}".format(**documents.versions()))
    if _current.card.content["measurements"].get("data_source") == "synthetic":
        parts.append(SYNTHETIC)
    return " · ".join(parts)


def load_images(digits: bool = False) -> tuple:
    """Fashion-MNIST cut to the lab's size, with a banner if it is synthetic.

    Parameters
    ----------
    digits : bool
        Load MNIST instead of Fashion-MNIST.

    Returns
    -------
    tuple of uint8 array
        x_train, y_train, x_valid, y_valid: the first `train_images` of the
        training set and the first `valid_images` of the test set.
    """
    from helpers.data.fashion_mnist import fashion_mnist
    from helpers.data.mnist import mnist

    assert _current, NOT_STARTED
    data, name = (mnist(), "MNIST") if digits else (fashion_mnist(), "Fashion-MNIST")
    note_data_source(name, data.source, "Noise patterns")
    n, m = _current.train_images, _current.valid_images
    print(f"{n:,} images to train on, {m:,} to validate")
    return data.x_train[:n], data.y_train[:n], data.x_test[:m], data.y_test[:m]


def note_data_source(name: str, source: str, used_instead: str) -> None:
    """Note on the run card where the data are from; print a banner if synthetic.

    Parameters
    ----------
    name : str
        The data set's, "Fashion-MNIST".
    source : str
        A folder, or "synthetic".
    used_instead : str
        What the synthetic set is made of.
    """
    assert _current, NOT_STARTED
    synthetic = source == "synthetic"
    _current.card.measure("data_source", "synthetic" if synthetic else name.lower())
    if synthetic:
        print(
            f"SYNTHETIC DATA: {name} is not on this machine and could not be\n"
            f"downloaded. {used_instead} are used instead; see `labs doctor`."
        )


def show_source(*functions: Callable) -> None:
    """Print the source of functions, without their docstrings."""
    for function in functions:
        source = inspect.getsource(function)
        print(re.sub(r'\n    """.*?"""', "", source, count=1, flags=re.DOTALL))


def finish() -> None:
    """Close the run card; show what is done, what is left and where, and the next lab."""
    global _end
    assert _current, NOT_STARTED
    _current.card.finish()
    if _shows_earlier_runs():
        _end = _current.card, messages.show_changing(*_last_message())
    else:
        messages.show(*_last_message())


def refresh_end() -> None:
    """Let the last message say what was answered since it was shown, if it was."""
    if _current and _end and _end[0] is _current.card:
        _end[1](*_last_message())


def _last_message():
    """As text and as HTML."""
    assert _current
    card, done = _current.card, done_so_far()
    title = f"Checks passed: {len(done.passed)} of {len(done.exercises)}"
    in_this_run = progress.of_runs(card.content["lab"], [card.content]).passed
    if earlier := len(done.passed - in_this_run):
        title += f" ({earlier} in an earlier run)"
    lines = [f"  still open: {exercise}" for exercise in done.open_exercises]
    if score_line := predictions.how_they_went(done.together):
        lines.append(f"Predictions: {score_line}")
    if busy := other_load.report(card.content):
        lines.append(busy)
    lines.append(f"Run card: {_show(card.path)}")
    following = _next_lab(card.content["lab"])
    folder = WORK.name if Path.cwd() == WORK.resolve() else "notebooks"
    text = "\n".join([title, *lines, f"Next: {folder}/{following}.ipynb"])
    way_on = f"../{folder}/{following}.ipynb", f"Next: {_name(following)}"
    page_lines = [*end_message.lines(card.content, done, _home()), lines[-1]]
    return text, end_message.page(title, done, page_lines, way_on)


def _name(notebook):
    return f"Lab {notebook[:2]}" if notebook[:2].isdecimal() else "the start page"


def _next_lab(name):
    """The name of the notebook after this one; after the last, the start page's."""
    folder = REPOSITORY / "notebooks"
    labs = [path.stem for path in folder.glob("[0-9][0-9]_*.ipynb")]
    # Skip copies that a student keeps beside the labs: 02_throughput.kept-20260101.
    later = [lab for lab in labs if lab > name and re.fullmatch(r"\w+", lab)]
    return min(later, default="index")


def _replicas(device):
    if device["replicas"] == 1:
        return ""
    kind = "simulated replicas" if device["simulated"] else "replicas"
    return f", {device['replicas']} {kind}"


def _show(path):
    inside = path.is_relative_to(REPOSITORY)
    return path.relative_to(REPOSITORY) if inside else path


def _injected_names(namespace):
    """Names that papermill's cell assigned: papermill only warns of unknown ones."""
    names = set()
    for source in namespace.get("In", ()):
        if source.startswith("# Parameters\n"):
            names.update(assigned_names(source))
    return names
