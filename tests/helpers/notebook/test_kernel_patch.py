"""A kernel whose answers go through the stream still answers, to every request."""

from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from jupyter_client.manager import start_new_kernel

from helpers.files import REPOSITORY
from helpers.notebook.kernel_patch import ShowOnce

PATCHED = """
import sys
kernel = get_ipython().kernel
assert kernel.shell_channel_thread.manager._shell_socket is kernel.shell_stream
assert "keras" not in sys.modules
"""


def test_a_kernel_is_patched_before_the_first_cell_and_answers_many_requests_at_once():
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(REPOSITORY))
    try:
        told = client.execute_interactive(PATCHED, timeout=300)["content"]
        assert told["status"] == "ok", told
        asked = {client.execute("1 + 1") for _ in range(200)}
        asked |= {client.comm_info() for _ in range(200)}
        answered = set()
        while answered != asked:
            message = client.get_shell_msg(timeout=120)
            answered.add(message["parent_header"]["msg_id"])
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize(
    ("place", "code", "shown"),
    [
        ("02_throughput.ipynb", "card.predict('share_of_peak', 0.6)", None),
        ("02_throughput.ipynb", "card.predict('share_of_peak', 0.6)\n1 + 1", 2),
        ("", "card.predict('share_of_peak', 0.6)", 0.6),  # as it is stored
    ],
)
def test_in_jupyterlab_a_prediction_in_code_shows_its_message_and_no_value(
    monkeypatch, place, code, shown
):
    if place:
        monkeypatch.setenv("JPY_SESSION_NAME", place)
    else:
        monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    shell = InteractiveShell()
    shell.ast_transformers = [ShowOnce()]
    shell.user_ns["card"] = SimpleNamespace(predict=lambda name, value: value)
    assert shell.run_cell(code).result == shown
