"""A web server on this machine that answers as an LMS documents it, and can fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from email import message_from_bytes
from email.policy import HTTP
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit


class HungUpError(Exception):
    """The connection ends without an answer."""


class Reply(Exception):  # noqa: N818 - it is an answer, raised where a test wants it
    """An answer in place of the usual one."""

    def __init__(self, status: int, body: Any = None, **headers: str) -> None:
        super().__init__(status)
        self.status, self.body = status, body
        self.headers = {name.replace("_", "-"): v for name, v in headers.items()}


class Request:
    """What arrived: its method, path, headers, fields and files."""

    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        self.method, self.path = handler.command, parts.path
        self.address, self.headers = handler.path, handler.headers
        self.fields = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.files: dict[str, tuple[str, bytes]] = {}
        data = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        kind = handler.headers.get("Content-Type", "")
        if kind.split("/")[0] == "multipart":
            whole = f"Content-Type: {kind}\r\n\r\n".encode() + data
            for part in message_from_bytes(whole, policy=HTTP).iter_parts():
                name = part.get_param("name", header="content-disposition")
                content = part.get_payload(decode=True)
                if filename := part.get_filename():
                    self.files[name] = (filename, content)
                else:
                    self.fields[name] = content.decode()
        else:
            self.fields |= parse_qsl(data.decode(), keep_blank_values=True)


class LmsServer:
    """A server whose `answer` a subclass writes; ``trouble`` comes before it.

    ``trouble`` is called with each request, and may raise `Reply` or `HungUpError`.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.trouble: Callable[[Request], None] = lambda request: None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                request = Request(self)
                outer.requests.append(request)
                try:
                    outer.trouble(request)
                    reply = outer.answer(request)
                except HungUpError:
                    self.close_connection = True
                    return
                except Reply as other:
                    reply = other
                outer._send(self, reply)

            do_GET = do_POST = do_PUT = handle_any

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @staticmethod
    def _send(handler: BaseHTTPRequestHandler, reply: Any) -> None:
        if not isinstance(reply, Reply):
            reply = Reply(200, reply)
        body = reply.body
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        data = body.encode() if isinstance(body, str) else data
        handler.send_response(reply.status)
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, request: Request) -> Any:
        raise NotImplementedError

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
