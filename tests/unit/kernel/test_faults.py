import pickle

import pytest

from memvault.errors.v1 import error_reason_pb2
from memvault.faults import Fault, Reason
from memvault.rpc.errors import TABLE, problem_details, to_status


def test_reasons_are_those_of_the_contract() -> None:
    names = {name.removeprefix("ERROR_REASON_") for name in error_reason_pb2.ErrorReason.keys()}  # noqa: SIM118
    assert names - {"UNSPECIFIED"} == {reason.value for reason in Reason}


def test_every_reason_has_a_face() -> None:
    assert set(TABLE) == set(Reason)


@pytest.mark.parametrize("reason", Reason)
def test_the_comment_of_the_contract_tells_the_codes_of_the_table(reason: Reason, contract_comments) -> None:
    face = TABLE[reason]
    assert contract_comments[reason].startswith(f"{face.code.name}, {face.http}: ")


@pytest.fixture(scope="module")
def contract_comments() -> dict[Reason, str]:
    from pathlib import Path  # noqa: PLC0415

    root = Path(__file__).parents[3]
    comments: dict[Reason, str] = {}
    comment = ""
    for line in (root / "proto/memvault/errors/v1/error_reason.proto").read_text(encoding="utf-8").splitlines():
        text = line.strip()
        if text.startswith("//"):
            comment = f"{comment} {text.removeprefix('//').strip()}".strip()
            continue
        name = text.removeprefix("ERROR_REASON_").split(" ")[0]
        if name in Reason.__members__:
            comments[Reason[name]] = comment
        comment = ""
    return comments


def test_a_fault_survives_being_sent_to_another_process() -> None:
    fault = Fault(Reason.NOT_FOUND, "no such block: check the id", block_id="b1", message="told twice")
    again = pickle.loads(pickle.dumps(fault))  # noqa: S301 - made one line above
    assert (again.reason, again.message, again.metadata) == (fault.reason, fault.message, fault.metadata)


def test_the_http_face_is_problem_details_of_the_same_table() -> None:
    body = problem_details(Fault(Reason.UNSAFE_CONTENT, "rule override fired: rewrite the text", rule="override"))
    assert body == {
        "type": "urn:memvault:error:unsafe-content",
        "title": "The text holds injected instructions",
        "status": 422,
        "detail": "rule override fired: rewrite the text",
        "reason": "UNSAFE_CONTENT",
        "metadata": {"rule": "override"},
    }


def test_the_grpc_face_carries_one_error_info() -> None:
    status = to_status(Fault(Reason.USER_REQUIRED, "name a user", field="user_id"))
    assert status.code == 3
    assert len(status.details) == 1
