"""Calls the platform's API with retries, in order per chat."""
import http.client
import json
import logging
import threading
import time
from contextlib import closing
from email.utils import parsedate_to_datetime
from urllib.parse import quote, urlsplit

from desk import given
from history import show_history

MAX_ATTEMPTS = 5
CALL_TIMEOUT, LONGEST_BACKOFF, LONGEST_RETRY_AFTER = 15, 8, 300  # seconds
CLOCK_MARGIN = 0.025  # two clocks differ by milliseconds, and a retry must not be early
# Only an answer with this event confirms that the key, the ids and the fields are right.
CONFIRMED_BY = {"start": b"TAKEOVER STARTED", "end": b"TAKEOVER ENDED",
                "message": b"MESSAGE SENT TO USER", "transcript": b'"messages"',
                "availability": b"HANDOVER AVAILABILITY UPDATED"}


def post(settings, name, body):
    """Returns (status, Retry-After, failure or None, answer); status 0 means no answer. Uses
    `http.client`, because `urllib` follows redirects and would send the key to their target."""
    base = urlsplit(settings.url.rstrip("/"))
    connect = http.client.HTTPSConnection if base.scheme == "https" else http.client.HTTPConnection
    path = "message/" if name == "message" else name  # the slash belongs to the path
    method, path, key = "POST", f"/api/v2/handover/{path}", settings.api_key
    if name == "transcript" and settings.bot_api_key:
        # The handover transcript ends at the request. Only the chat transcript, for which there is a
        # key of its own, has what the user wrote while waiting.
        method, path, key = "GET", f"/api/v1/chats/{quote(body['chat_id'], '')}", settings.bot_api_key
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    try:
        with closing(connect(base.netloc, timeout=CALL_TIMEOUT)) as line:
            content = json.dumps(body) if method == "POST" else None
            line.request(method, base.path + path, content, headers)
            reply = line.getresponse()
            content = reply.read()
            ok = reply.status in range(200, 300) and CONFIRMED_BY.get(name, b"") in content
            failure = None if ok else f"not confirmed, answered {reply.status}"
            return reply.status, reply.getheader("Retry-After", ""), failure, parse(content)
    except (OSError, http.client.HTTPException, ValueError) as error:
        # Only the type of the error: its message can contain the header with the key.
        return 0, "", f"no answer ({type(error).__name__})", None


def parse(content):
    try:
        return json.loads(content)
    except ValueError:
        return None


def seconds_to_wait(retry_after, attempt):
    """Reads `Retry-After`, seconds or an HTTP date; without one, the backoff doubles."""
    try:
        if retry_after.isdecimal():
            return int(retry_after) + CLOCK_MARGIN
        return max(0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return min(0.5 * 2 ** (attempt - 1), LONGEST_BACKOFF)


def send(settings, name, body):
    """Returns (status, failure or None, answer). A lost answer looks like a lost request and is
    retried, so the user may get a message twice: the API has no idempotency key."""
    for attempt in range(1, MAX_ATTEMPTS + 1):
        status, retry_after, failure, answer = post(settings, name, body)
        wait = seconds_to_wait(retry_after, attempt)
        passing = status in (0, 429) or status >= 500  # other 4xx are final
        if not passing or attempt == MAX_ATTEMPTS or wait > LONGEST_RETRY_AFTER:
            return status, failure, answer
        logging.info("%s: %s, attempt %d in %.1f s", name, failure, attempt + 1, wait)
        time.sleep(wait)


class Outbox:
    """Stores pending calls as plain data, so that a restart continues with them. Makes the calls of
    one queue (a chat) in order, and the queues in parallel."""

    def __init__(self, settings, store):
        self.settings, self.store = settings, store
        self.busy, self.changed = set(), threading.Condition(store.lock)

    def add(self, queue, name, body):
        queue["outbox"].append([name, body])
        self.store.save()
        self.wake(queue)

    def wake(self, queue):
        if queue["outbox"] and queue["id"] not in self.busy:
            self.busy.add(queue["id"])
            threading.Thread(target=self._drain, args=[queue], daemon=True).start()

    def resume(self):
        with self.changed:
            chats = self.store.chats.values()
            for queue in [self.store.availability, *chats, *(chat["reads"] for chat in chats)]:
                self.wake(queue)

    def wait_until_idle(self, seconds):
        with self.changed:
            self.changed.wait_for(lambda: not self.busy, seconds)

    def _drain(self, queue):
        with self.changed:
            while queue["outbox"]:
                self.changed.release()  # releases the lock during the slow call
                name, body = queue["outbox"][0]
                status, failure, answer = send(self.settings, name, body)
                self.changed.acquire()
                self._finish(queue, status, failure)
                if not failure:
                    self._confirmed(name, body, answer)
            self.busy.discard(queue["id"])
            self.changed.notify_all()

    def _finish(self, queue, status, failure):
        """Removes a call after its answer, so that a crash repeats it instead of losing it. After a
        refused key (401), the queue drops all calls until the agent acts again."""
        count = len(queue["outbox"]) if status in (401, 404) else 1
        for name, body in queue["outbox"][:count]:
            logging.info("%s %s: %r", name, failure or "done", queue["id"])
            if failure:
                problem = {"call": name, "reason": failure, "text": body.get("message")}
                queue["problems"].append(problem)
                queue["failed"] = name if name in ("start", "end") else queue["failed"]
        if status == 404 and "status" in queue:  # no event says that its user has left
            queue.update(status="closed", failed=None, typing=False)
        del queue["outbox"][:count]
        self.store.save()

    def _confirmed(self, name, body, answer):
        """Reads what was written before `start` once `start` has its answer, and not earlier:
        nothing is missing between what is read and what comes by webhook."""
        chat = self.store.chats.get(body.get("chat_id"))
        if name == "transcript":
            show_history(chat, given(given(answer, "chat", dict, {}), "messages", list, []))
        elif name in ("start", "end"):
            chat["notices"] = [chat["notices"][1], given(answer, "chatmessage_id", str, None)]
        if name == "start":
            about = {"bot_id": body["bot_id"], "chat_id": body["chat_id"]}
            self.add(chat["reads"], "transcript", about)
        self.store.save()
