"""End an answer that does not end by itself: in a notebook its check would never end."""

import ctypes
import signal
import sys
import threading
import time
from traceback import walk_stack
from types import FunctionType

from helpers.notebook.stop import would_be_lost

# A right answer needs at most 7 s of processor time (12.2, which trains). A busy machine
# changes that little, and an answer that computes gets more than a twentieth of a core even
# there.
LIMIT_SECONDS = 20
ASLEEP = 0.05
MOST_SECONDS = 100  # on the clock, however busy the machine is
PAUSE_SECONDS = 0.05
CAUGHT = 3  # tries, after which the answer seems to catch whatever is raised
TRIES = 100  # then it is ended wherever it is, and after twice as many it cannot be
STUCK = (
    "This check does not end, and cannot be stopped: a library computes without a pause.\n"
    "In the menu: Kernel, Restart Kernel. Then look for a loop that does not end."
)
CAN_SIGNAL = hasattr(signal, "pthread_kill") and hasattr(signal, "SIGURG")


class EndlessError(BaseException):
    """The answer was ended. No Exception, because answers catch those."""


def within_limit(call: FunctionType) -> object:
    """Call a function, and end it if it computes, or sleeps, for longer than the limit.

    The interrupt comes by a signal that nothing else uses, so that the stop button works
    as usual, and a sleep or a wait ends, too. Outside of the main thread, and on Windows,
    there is only the exception that Python raises in a thread.

    Parameters
    ----------
    call : function
        Without arguments.

    Returns
    -------
    object
        What it returned.

    Raises
    ------
    EndlessError
        If it was ended, whatever it did then. Its `args` are errors: their tracebacks
        say where it was, the first time first.
    """
    over, ended, others = threading.Event(), threading.Event(), threading.enumerate()
    in_main = threading.current_thread() is threading.main_thread()
    interrupt = _signal if in_main and CAN_SIGNAL else _raise_in_thread
    arguments = over, ended, interrupt, threading.get_ident()
    watcher = threading.Thread(target=_watch, args=arguments, daemon=True)
    watcher.start()
    raised, error = [], None
    if interrupt is _signal:
        handler = signal.signal(signal.SIGURG, _handler(call, over, raised))
        trace = sys.gettrace()
    try:
        result = call()
    except KeyboardInterrupt:
        raise
    except BaseException as caught:
        error = caught
    finally:
        _finish(over, watcher)
        if interrupt is _signal:
            signal.signal(signal.SIGURG, handler)
            sys.settrace(trace)
    if ended.is_set():
        _end_others([*others, watcher])
        raise EndlessError(*raised, *([error] if error else []))
    if error:
        raise error
    return result


def _watch(over, ended, interrupt, thread):
    """Interrupt a thread again and again once its call has had its time, until it ends."""
    began, computed = time.monotonic(), time.process_time()
    pause, tries = LIMIT_SECONDS, 0
    while not over.wait(pause):
        pause = PAUSE_SECONDS
        if _is_endless(time.monotonic() - began, time.process_time() - computed):
            ended.set()
            interrupt(thread)
            tries += 1
            if tries == 2 * TRIES:
                print(STUCK, flush=True)


def _is_endless(seconds, computed):
    return (
        computed > LIMIT_SECONDS
        or (seconds > LIMIT_SECONDS and computed < ASLEEP * seconds)
        or seconds > MOST_SECONDS
    )


def _signal(thread):
    signal.pthread_kill(thread, signal.SIGURG)


def _handler(call, over, raised):
    """What the signal does: raise, but only in the call, and where it is not lost.

    What it raises it keeps in `raised`, because an answer may catch it.
    """
    tries = 0

    def interrupted(number, frame):
        nonlocal tries
        callers = [caller for caller, _ in walk_stack(frame)]
        codes = [caller.f_code for caller in callers]
        if over.is_set() or call.__code__ not in codes:
            return
        tries += 1
        if tries > CAUGHT:
            _raise_in_the_next_line(callers[: codes.index(call.__code__)])
        if tries > TRIES or not would_be_lost(frame):
            raised.append(EndlessError())
            raise raised[-1]

    return interrupted


def _raise_in_the_next_line(frames):
    """Raise once more, in the line that comes next: an `except:` does not catch that."""

    def trace(frame, event, argument):
        if event == "line":
            raise EndlessError  # and Python forgets this function
        return trace

    for frame in frames:
        frame.f_trace = trace
    sys.settrace(lambda *_: None)


def _raise_in_thread(thread, error=EndlessError):
    error = ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def _finish(over, watcher):
    """No interrupt comes after this."""
    while True:
        try:
            over.set()
            watcher.join()
            for _ in range(2):
                pass  # one that is waiting is raised here
            return
        except EndlessError:
            continue


def _end_others(threads):
    """End what the answer has started and left behind; Python says nothing of these."""
    for thread in threading.enumerate():
        if thread not in threads:
            _raise_in_thread(thread.ident, SystemExit)
