"""An LTI 1.3 platform that others wrote, ``lti1p3platform``, behind real HTTP.

Its tokens, scopes, line items, scores, results and members are that package's; here are
only the lists that it keeps them in, and the addresses that FastAPI serves.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from jwcrypto.jwk import JWK
from lti1p3platform.exceptions import LineItemNotFoundException
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.membership import Context
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request as PlatformRequest
from lti1p3platform.score import UpdateScoreStatus
from lti1p3platform.service_connector import (
    AssignmentsGradesService,
    NamesRoleProvisioningService,
)

CLIENT = "10000000000007"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
TEACHER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"


class Platform(LTI1P3PlatformConfAbstract):
    """The platform's side of the registration of our tool."""

    def init_platform_config(self, url: str, tool_jwk: str, **_: Any) -> None:
        key = JWK.generate(kty="RSA", size=2048)
        self._registration = (
            Registration()
            .set_iss(url)
            .set_client_id(CLIENT)
            .set_tool_key_set({"keys": [json.loads(tool_jwk)]})
            .set_platform_public_key(key.export_to_pem().decode())
            .set_platform_private_key(key.export_to_pem(True, None).decode())
        )

    def get_registration_by_params(self, **_: Any) -> Registration:
        return self._registration


class ReceivedRequest(PlatformRequest):
    """What FastAPI received, as the package wants it."""

    def build_metadata(self, request: Any) -> Any:
        return request


class Grades(AssignmentsGradesService):
    """The package's grade service, with line items and scores in lists."""

    def __init__(self, server: PlatformServer, request: PlatformRequest) -> None:
        super().__init__(request, server.platform, f"{server.url}/lineitems")
        self.server = server

    def find_lineitems(self, page: int = 1, **_: Any) -> Any:
        items = list(self.server.items.values())
        one_of_them = items[page - 1 : page]  # one item a page
        return {"content": one_of_them, "has_next": page < len(items)}

    def find_lineitem(self, line_item_id: str) -> Any:
        if line_item_id not in self.server.items:
            raise LineItemNotFoundException
        return self.server.items[line_item_id]

    def create_lineitem(self, creation_data: Any) -> Any:
        return self.server.add_item(**creation_data)

    def update_lineitem(self, update_data: Any) -> Any:
        raise NotImplementedError

    def delete_lineitem(self, line_item_id: str) -> None:
        raise NotImplementedError

    def update_score(self, line_item_id: str, score: Any) -> UpdateScoreStatus:
        self.find_lineitem(line_item_id)
        if score["userId"] in self.server.closed:
            return UpdateScoreStatus.NOTAPPLIED
        old = self.server.scores.get((line_item_id, score["userId"]))
        if old and old["timestamp"] >= score["timestamp"]:
            return UpdateScoreStatus.OLD_TIMESTAMP
        self.server.scores[line_item_id, score["userId"]] = score
        return UpdateScoreStatus.SUCCESS

    def get_results(self, line_item_id: str, **_: Any) -> Any:
        most = self.find_lineitem(line_item_id)["scoreMaximum"]
        results = [
            {
                "userId": user, "resultMaximum": most,
                "resultScore": score["scoreGiven"] / score["scoreMaximum"] * most,
            }
            for (item, user), score in self.server.scores.items()
            if item == line_item_id
        ]  # fmt: skip
        return {"content": results, "has_next": False}


class Names(NamesRoleProvisioningService):
    """The package's roster service, with members in a list."""

    def __init__(self, server: PlatformServer, request: PlatformRequest) -> None:
        super().__init__(request, server.platform, f"{server.url}/members")
        self.server = server

    def get_member_data_page(self, **_: Any) -> Any:
        return {"content": self.server.members, "has_next": False}

    def get_context_by_id(self) -> Context:
        return Context("course-1", "N", "Numbers")


class PlatformServer:
    """A platform that listens on this machine."""

    def __init__(self, tool_jwk: str) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.platform = Platform(url=self.url, tool_jwk=tool_jwk)
        self.items: dict[str, dict[str, Any]] = {}
        self.scores: dict[tuple[str, str], dict[str, Any]] = {}
        self.members: list[dict[str, Any]] = []
        self.closed: set[str] = set()
        self.tokens = 0
        self.app = FastAPI()
        self.app.post("/token")(self._token)
        self.app.get("/members")(self._members)
        self.app.get("/lineitems")(self._lineitems)
        self.app.post("/lineitems")(self._create)
        self.app.post("/lineitems/{item}/scores")(self._score)
        self.app.get("/lineitems/{item}/results")(self._results)

    def add_item(self, **data: Any) -> dict[str, Any]:
        number = str(len(self.items) + 1)
        self.items[number] = {**data, "id": f"{self.url}/lineitems/{number}"}
        return self.items[number]

    def enrol(self, user: str, name: str, role: str = LEARNER, **more: str) -> None:
        self.members.append({"user_id": user, "name": name, "roles": [role], **more})

    async def _token(self, request: Request) -> Response:
        self.tokens += 1
        form = dict(await request.form())
        try:
            return _json(self.platform.get_access_token(form), 200)
        except Exception as error:  # whatever is wrong with the assertion
            return _json({"error": "invalid_client", "text": str(error)}, 401)

    async def _members(self, request: Request) -> Response:
        return self._answer(Names(self, await _read(request)).handle_get_members)

    async def _lineitems(self, request: Request) -> Response:
        grades = Grades(self, await _read(request))
        return self._answer(grades.handle_get_lineitems)

    async def _create(self, request: Request) -> Response:
        grades = Grades(self, await _read(request))
        return self._answer(grades.handle_create_lineitem)

    async def _score(self, request: Request, item: str) -> Response:
        grades = Grades(self, await _read(request))
        return self._answer(grades.handle_update_score, line_item_id=item)

    async def _results(self, request: Request, item: str) -> Response:
        grades = Grades(self, await _read(request))
        return self._answer(grades.handle_get_results, line_item_id=item)

    @staticmethod
    def _answer(handle: Any, **arguments: Any) -> Response:
        from lti1p3platform.exceptions import LtiServiceException

        try:
            reply = handle(**arguments)
        except LtiServiceException as error:
            return _json({"error": error.message}, error.status_code)
        result = reply.result
        if isinstance(result, dict) and "content" in result:  # a page of a list
            more = (
                {"Link": f'<{result["next"]}>; rel="next"'} if "next" in result else {}
            )
            return _json(result["content"], reply.code, **more)
        return _json(result, reply.code)

    @contextlib.contextmanager
    def running(self) -> Iterator[PlatformServer]:
        server = uvicorn.Server(uvicorn.Config(self.app, log_level="error"))
        thread = threading.Thread(
            target=server.run, kwargs={"sockets": [self._socket]}, daemon=True
        )
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield self
        finally:
            server.should_exit = True
            thread.join()


async def _read(request: Request) -> PlatformRequest:
    data = await request.body()
    received = {
        "method": request.method, "headers": request.headers,
        "get_data": {name: int(n) for name, n in request.query_params.items()},
        "form_data": {},
        "content_type": request.headers.get("content-type"),
        "path": request.url.path, "json": json.loads(data) if data else None,
    }  # fmt: skip
    return ReceivedRequest(received)


def _json(body: Any, status: int, **headers: str) -> Response:
    text = "" if body is None else json.dumps(body)
    return Response(text, status, headers, "application/json")
