"""A kernel whose answers go through the stream still answers, to every request."""

from jupyter_client.manager import start_new_kernel

from helpers.files import REPOSITORY

MEND = """
from helpers.quiet import silence_tensorflow
silence_tensorflow()
from helpers.kernel import answer_by_the_stream
answer_by_the_stream()
kernel = get_ipython().kernel
assert kernel.shell_channel_thread.manager._shell_socket is kernel.shell_stream
"""


def test_a_mended_kernel_answers_many_requests_at_once():
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(REPOSITORY))
    try:
        assert client.execute_interactive(MEND, timeout=60)["content"]["status"] == "ok"
        asked = {client.execute("1 + 1") for _ in range(200)}
        asked |= {client.comm_info() for _ in range(200)}
        answered = set()
        while answered != asked:
            message = client.get_shell_msg(timeout=30)
            answered.add(message["parent_header"]["msg_id"])
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
