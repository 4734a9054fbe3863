"""A join code: both sides prove that they know it, and it is never sent."""

import socket
from concurrent.futures import ThreadPoolExecutor

import pytest

from helpers.errors import LabError
from kit.class_ring import join_code
from kit.class_ring.frames import FrameError, receive_json, send_json

SALT = bytes(16)
CODE = "K7QF-M2XP"
KEY = join_code.key_of(CODE, SALT)


@pytest.fixture
def pair():
    """The host's end of a connection, and the guest's."""
    ours, its = socket.socketpair()
    with ours, its:
        yield ours, its


def met(pair, guest_code, host_purpose="a", guest_purpose="a"):
    """What `admit` and `enter` did: returned, or raised."""
    with ThreadPoolExecutor(1) as other:
        guest = other.submit(
            join_code.enter, pair[1], lambda salt: join_code.key_of(guest_code, salt),
            guest_purpose,
        )  # fmt: skip
        host_error = None
        try:
            join_code.admit(pair[0], KEY, SALT, host_purpose)
        except LabError as error:
            host_error = error
        return host_error, guest.exception(), None if guest.exception() else guest.result()


def test_codes_are_random_and_easy_to_read():
    codes = {join_code.new_code() for _ in range(100)}
    assert len(codes) == 100
    assert not set("ILO01") & set("".join(codes))


@pytest.mark.parametrize("typed", [CODE, CODE.lower(), CODE.replace("-", "")])
def test_who_has_the_code_enters_and_both_have_the_key(pair, typed):
    assert met(pair, typed) == (None, None, KEY)


def test_a_wrong_code_is_refused_with_one_line_on_both_sides(pair):
    host, guest, _ = met(pair, "AAAA-AAAA")
    assert str(host) == "the join code is wrong"
    assert "compare it with the one" in str(guest)


def test_a_proof_for_a_link_opens_no_control_connection(pair):
    host, _, _ = met(pair, CODE, "control", "link")
    assert isinstance(host, join_code.JoinError)


def test_a_recorded_proof_is_worth_nothing(pair):
    """The challenge is another one each time."""
    proofs = []
    for _ in range(2):
        ours, its = socket.socketpair()
        with ours, its, ThreadPoolExecutor(1) as other:
            send_json(ours, {"salt": SALT.hex(), "challenge": bytes(16).hex()})
            guest = other.submit(join_code.enter, its, lambda salt: KEY, "a")
            proofs.append(receive_json(ours, 5))
            send_json(ours, {"refused": "no"})
            assert guest.exception()
    host, guest = pair
    with ThreadPoolExecutor(1) as other:
        admitted = other.submit(join_code.admit, host, KEY, SALT, "a")
        receive_json(guest, 5)
        send_json(guest, proofs[0])
        assert isinstance(admitted.exception(), join_code.JoinError)


def test_a_host_that_only_asks_is_not_believed(pair):
    host, guest = pair
    with ThreadPoolExecutor(1) as other:
        entered = other.submit(join_code.enter, guest, lambda salt: KEY, "a")
        send_json(host, {"salt": SALT.hex(), "challenge": bytes(16).hex()})
        reply = receive_json(host, 5)
        send_json(host, {"proof": reply["proof"]})  # the guest's own, reflected
        assert "does not know the join code" in str(entered.exception())


@pytest.mark.parametrize(
    "answer", [{}, {"challenge": 5, "proof": "00"},
               {"challenge": "00" * 16, "proof": "xyz"},
               {"challenge": "00" * 16, "proof": "00" * 31}],
)  # fmt: skip
def test_an_answer_of_another_form_is_refused(pair, answer):
    with ThreadPoolExecutor(1) as other:
        admitted = other.submit(join_code.admit, pair[0], KEY, SALT, "a")
        receive_json(pair[1], 5)
        send_json(pair[1], answer)
        assert isinstance(admitted.exception(), FrameError)


@pytest.mark.parametrize("text", ["", "ABCD-EFGH", "ABCD-EFGH@host", "A@h:0", "A@h:x"])
def test_a_code_without_an_address_is_named(text):
    with pytest.raises(LabError, match="is no join code"):
        join_code.parsed(text)
    assert join_code.parsed(" ABCD-EFGH@10.0.0.5:80 ") == ("ABCD-EFGH", "10.0.0.5", 80)
