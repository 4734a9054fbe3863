"""Mend what makes notebooks stop for no reason in the kernel that they run in."""

from callbacks.dashboard_views import current_shell


def answer_by_the_stream():
    """Have ipykernel send its answers through the stream that hears the requests.

    ipykernel 7.3 writes answers on the socket itself. Whatever arrives just then is
    not noticed before something else comes: after "Run All Cells" figures stay blank,
    or a cell waits for ever (ipykernel's issue 1554, mended in 7.4, in which sliders
    are dead while a cell runs).
    """
    kernel = getattr(current_shell(), "kernel", None)
    thread = getattr(kernel, "shell_channel_thread", None)
    if thread and hasattr(thread.manager, "_shell_socket"):
        thread.manager._shell_socket = kernel.shell_stream
