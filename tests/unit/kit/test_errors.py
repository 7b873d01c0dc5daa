import inspect

import grpc
import pytest
from quelea_kit import errors
from quelea_kit.errors import Overloaded, QueleaError, error_class
from quelea_kit.rpc.wire_errors import from_rpc_error, to_status


def all_classes() -> list[type[QueleaError]]:
    return [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, QueleaError)]


def test_every_error_is_exported_and_drawn_in_the_tree() -> None:
    for cls in all_classes():
        assert cls.__name__ in errors.__all__
        assert cls.__name__ in (errors.__doc__ or "")
        assert hasattr(grpc.StatusCode, cls.grpc_code)
        line = next(x for x in (errors.__doc__ or "").splitlines() if f" {cls.__name__} " in f" {x.strip('├└─│ ')} ")
        assert cls.grpc_code in line
        assert str(cls.http_status) in line


@pytest.mark.parametrize("cls", all_classes())
def test_reason_leads_back_to_the_class(cls: type[QueleaError]) -> None:
    assert error_class(cls.reason, "UNKNOWN") is cls


def test_an_unknown_reason_falls_back_to_the_code() -> None:
    assert error_class("SOMETHING_NEW", "RESOURCE_EXHAUSTED") is Overloaded
    assert error_class("SOMETHING_NEW", "DATA_LOSS") is QueleaError


def test_the_wire_keeps_message_details_and_retry() -> None:
    error = Overloaded("The queue is full.", details={"limit": "64"}, retry_after=1.5)
    status = to_status(error)

    class Rpc(grpc.RpcError):
        def code(self) -> grpc.StatusCode:
            return grpc.StatusCode.RESOURCE_EXHAUSTED

        def details(self) -> str:
            return error.message

        def trailing_metadata(self) -> tuple[tuple[str, bytes], ...]:
            return (("grpc-status-details-bin", status.SerializeToString()),)

    back = from_rpc_error(Rpc())
    assert type(back) is Overloaded
    assert (back.message, back.details, back.retry_after) == ("The queue is full.", {"limit": "64"}, 1.5)
