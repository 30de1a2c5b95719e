"""Serves the platform's webhook and the agent's desk API (which has no login)."""
import base64
import hashlib
import hmac
import json
import logging
import re
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

from desk import Refused, field

MAX_BODY_BYTES = 1024 * 1024
ACTIONS = ("accept", "messages", "typing", "close", "transfer", "announce")


ALGORITHM = "HMAC-SHA-256 (base64 encoded)"


def is_signed(body, secret, signatures):
    """Checks the signature of the raw bytes: serialised again, the same JSON may have other bytes.
    Compares text, because base64 decoders accept variants. Ignores the algorithm header."""
    expected = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest())
    return len(signatures) == 1 and hmac.compare_digest(signatures[0].encode(), expected)


def parse_object(body):
    try:
        value = json.loads(body.decode())
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise Refused(400, "invalid_json", "The body must be a JSON object in UTF-8.")
    return value


def number(text, digits, base):
    found = re.match(digits, text)
    if not found:
        raise Refused(400, "bad_request", "The length of the body is not a number.")
    return int(found[0], base)


def summary(chat):
    shown = {name: value for name, value in chat.items() if name not in ("inbox", "outbox", "reads")}
    return {**shown, "problems": chat["problems"] + chat["reads"]["problems"]}


class Server(ThreadingHTTPServer):
    daemon_threads = False  # closing waits for the requests in flight
    request_queue_size = 128  # with the default of 5, a burst of events waits for a second


class Handler(BaseHTTPRequestHandler):
    desk = settings = None  # set by main()
    timeout = 10  # seconds, for a sender that stops before the end

    def answer(self):
        try:
            body = self.read_body()
            with self.desk.store.lock:
                status, text = self.result(body)
            self.reply(status, text)
        except Refused as error:
            status, *about = error.args
            named = dict(zip(("code", "message", "field"), about))
            self.reply(status, json.dumps({"error": named}))
        except OSError:
            logging.info("a request was aborted")

    def result(self, body):
        path = self.path.partition("?")[0]
        value = self.webhook(body) if path == "/webhook" else self.desk_api(path, body)
        return (202, '{"queued": true}') if value is None else (200, json.dumps(value))

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = answer

    def log_message(self, *_):
        """Disables the default request log."""

    def read_body(self):
        """Reads a body that is too long to its end, without keeping it: otherwise the sender would
        get a connection reset instead of the 413."""
        body, total = b"", 0
        for length in self.lengths():
            total += length
            while length > 0:
                piece = self.rfile.read(min(length, MAX_BODY_BYTES))
                if not piece:
                    raise ConnectionError("the body ends too early")
                length -= len(piece)
                body = body + piece if total <= MAX_BODY_BYTES else b""
        if total > MAX_BODY_BYTES:
            raise Refused(413, "body_too_large", f"The body is longer than {MAX_BODY_BYTES} bytes.")
        return body

    def lengths(self):
        """Yields the length of the body, or of each of its chunks."""
        if "Transfer-Encoding" not in self.headers:
            yield number(self.headers.get("Content-Length", "0"), "[0-9]+$", 10)
            return
        while size := number(self.rfile.readline(100).decode("latin-1"), "[0-9a-fA-F]+", 16):
            yield size
            self.rfile.readline(100)  # the end of the chunk
        while self.rfile.readline(1000).strip():
            pass  # trailers

    def reply(self, status, text):
        content = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        if status == 405:
            self.send_header("Allow", "POST")
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else content)

    def webhook(self, body):
        """Never waits for the platform's API, because the platform may wait for this answer."""
        if self.command != "POST":
            raise Refused(405, "method_not_allowed", "Use POST.")
        # The header chooses no algorithm, because a stranger would choose a weak one.
        if self.headers.get_all("Kindly-HMAC-algorithm", [ALGORITHM]) != [ALGORITHM]:
            raise Refused(401, "unknown_algorithm", "The algorithm of the signature is not known here.")
        secret = self.settings.webhook_secret or self.settings.api_key
        if not is_signed(body, secret, self.headers.get_all("Kindly-HMAC", [])):
            logging.info("webhook refused: signature missing or wrong")
            raise Refused(401, "bad_signature", "The signature is missing or wrong.")
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "unsupported_media_type", "Content-Type must be application/json.")
        event = parse_object(body)
        name = field(event, "event", str)
        if name == "REQUESTING TAKEOVER":
            self.desk.requested(field(field(event, "chat", dict), "id", str), event)
        elif name == "MESSAGE FROM USER":
            self.desk.received(field(field(event, "chat", dict), "id", str), event)
        else:  # unknown, or a typing event: a typing call in return would loop endlessly
            logging.info("event ignored: %r", name)
        return {"ok": True}

    def desk_api(self, path, body):
        """Returns None when a platform call was queued."""
        given, store = parse_object(body) if body else {}, self.desk.store
        one_chat = re.fullmatch("/desk/([^/]+)(?:/([^/]+))?", path)
        route = f"{self.command} {path}"
        if route == "GET /health":
            return {"ok": True}
        if route == "GET /desk":
            return [summary(chat) for chat in store.chats.values()]
        if route == "GET /desk/availability":
            return {"problems": store.availability["problems"]}
        if route == "POST /desk/availability":
            return self.desk.set_availability(given)
        if route == "PUT /desk/platform":
            return self.set_platform(given)
        if one_chat and unquote(one_chat[1]) in store.chats:
            return self.chat_api(store.chats[unquote(one_chat[1])], one_chat[2], given)
        raise Refused(404, "not_found", f'There is no such chat or address as "{path}".')

    def chat_api(self, chat, action, given):
        if self.command == "GET" and action is None:
            return summary(chat)
        if self.command == "GET" and action == "inbox":
            return chat["inbox"]
        if self.command == "POST" and action in ACTIONS:
            return getattr(self.desk, action)(chat, given)
        raise Refused(404, "not_found", "A chat has no such action.")

    def set_platform(self, body):
        """Accepts only this machine: the new address receives the key with the next call."""
        if self.client_address[0] != "127.0.0.1":
            raise Refused(403, "loopback_only", "The platform can be set from this machine only.")
        kinds = {"url": str, "api_key": str, "bot_api_key": str, "webhook_secret": str, "bot_id": int}
        change = {name: field(body, name, kinds[name]) for name in kinds if name in body}
        if not re.match("https?://.", change.get("url", self.settings.url)):
            raise Refused(400, "bad_input", '"url" must be an http or https address.', "url")
        if "api_key" in change:
            change.setdefault("bot_api_key", None)
        vars(self.settings).update(change)
        return {"url": self.settings.url, "bot_id": self.settings.bot_id}
