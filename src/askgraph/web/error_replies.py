"""Errors as a server sends them: JSON with one sentence."""

from __future__ import annotations

import json
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException as AnyHTTPException

from askgraph.errors import AskgraphError, BusyError, FullError, LabelError, OutdatedError, ReusedKeyError

LABEL = 'this is not a label: give a class, a list of classes, {"one of": [classes]} or a number'


class Reply(JSONResponse):
    """JSON in which what no text can hold (half of a pair of surrogates) is replaced by a question mark."""

    def render(self, content: Any) -> bytes:
        """Return the bytes to send."""
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(errors="replace")


def add_error_handlers(app: FastAPI) -> None:
    """Send every error as JSON with one sentence."""

    @app.exception_handler(AskgraphError)
    async def askgraph_error(_: Request, error: AskgraphError) -> JSONResponse:
        statuses = {FullError: 507, BusyError: 503, ReusedKeyError: 409, OutdatedError: 409, LabelError: 422}
        status = next((status for kind, status in statuses.items() if isinstance(error, kind)), 400)
        missing = isinstance(error, LabelError) and str(error).startswith("no item")
        return Reply({"error": str(error)}, 404 if missing else status)

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        if sum("label" in one["loc"] for one in error.errors()) > 1:  # an error for each that a label may be
            return Reply({"error": LABEL}, 422)
        where = " ".join(str(part) for part in first["loc"])
        return Reply({"error": f"{where}: {first['msg']}"}, 422)

    @app.exception_handler(AnyHTTPException)
    async def refused(_: Request, error: AnyHTTPException) -> JSONResponse:
        return Reply({"error": error.detail}, error.status_code, headers=error.headers)

    @app.exception_handler(Exception)
    async def failed(_: Request, _error: Exception) -> JSONResponse:  # the guard logs it
        return Reply({"error": "the server failed to answer this; its log says where"}, 500)
