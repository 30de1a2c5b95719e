"""The platform's API: one call with its retries, and a row of calls per chat."""
import http.client
import json
import logging
import threading
import time
from contextlib import closing
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

MAX_TRIES = 5
CALL_TIMEOUT, LONGEST_BACKOFF, LONGEST_RETRY_AFTER = 15, 8, 300  # seconds
CLOCK_MARGIN = 0.025  # two clocks never agree to the millisecond, and a moment early is early
# Only an answer with this event says that the key, the ids and the fields were right.
CONFIRMED_BY = {"start": b"TAKEOVER STARTED", "end": b"TAKEOVER ENDED",
                "message": b"MESSAGE SENT TO USER",
                "availability": b"HANDOVER AVAILABILITY UPDATED"}


def post(settings, name, body):
    """Returns (status, Retry-After, failure or None); status 0 means no answer. `http.client`,
    because `urllib` follows redirects, and would take the key along to wherever they lead."""
    base = urlsplit(settings.url.rstrip("/"))
    connect = http.client.HTTPSConnection if base.scheme == "https" else http.client.HTTPConnection
    path = "message/" if name == "message" else name  # the slash belongs to the path
    headers = {"Authorization": f"Bearer {settings.api_key}", "Content-Type": "application/json"}
    try:
        with closing(connect(base.netloc, timeout=CALL_TIMEOUT)) as line:
            line.request("POST", f"{base.path}/api/v2/handover/{path}", json.dumps(body), headers)
            reply = line.getresponse()
            ok = reply.status in range(200, 300) and CONFIRMED_BY.get(name, b"") in reply.read()
            failure = None if ok else f"not confirmed, answered {reply.status}"
            return reply.status, reply.getheader("Retry-After", ""), failure
    except (OSError, http.client.HTTPException, ValueError) as error:
        # The kind of error only: its message may quote the header with the key.
        return 0, "", f"no answer ({type(error).__name__})"


def seconds_to_wait(retry_after, tries):
    """`Retry-After` is a number of seconds or an HTTP date; without one, wait longer each time."""
    try:
        if retry_after.isdecimal():
            return int(retry_after) + CLOCK_MARGIN
        return max(0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return min(0.5 * 2 ** (tries - 1), LONGEST_BACKOFF)


def send(settings, name, body):
    """Returns (status, failure or None). A lost answer looks like a lost request, so the user may
    read a message twice: the API has no idempotency key, and twice is better than never."""
    for tries in range(1, MAX_TRIES + 1):
        status, retry_after, failure = post(settings, name, body)
        wait = seconds_to_wait(retry_after, tries)
        passing = status in (0, 429) or status >= 500  # any other 4xx will say the same again
        if not passing or tries == MAX_TRIES or wait > LONGEST_RETRY_AFTER:
            return status, failure
        logging.info("%s: %s, try %d in %.1f s", name, failure, tries + 1, wait)
        time.sleep(wait)


class Outbox:
    """Calls still to be made: in order within a lane (a chat), side by side between lanes, and
    plain data, so that a restart can go on with them."""

    def __init__(self, settings, store):
        self.settings, self.store = settings, store
        self.busy, self.changed = set(), threading.Condition(store.lock)

    def add(self, lane, name, body):
        lane["outbox"].append([name, body])
        self.store.save()
        self.wake(lane)

    def wake(self, lane):
        if lane["outbox"] and lane["id"] not in self.busy:
            self.busy.add(lane["id"])
            threading.Thread(target=self._drain, args=[lane], daemon=True).start()

    def resume(self):
        with self.changed:
            for lane in [self.store.availability, *self.store.chats.values()]:
                self.wake(lane)

    def wait_until_idle(self, seconds):
        with self.changed:
            self.changed.wait_for(lambda: not self.busy, seconds)

    def _drain(self, lane):
        with self.changed:
            while lane["outbox"]:
                self.changed.release()  # the call is slow: nobody may wait for it
                status, failure = send(self.settings, *lane["outbox"][0])
                self.changed.acquire()
                self._finish(lane, status, failure)
            self.busy.discard(lane["id"])
            self.changed.notify_all()

    def _finish(self, lane, status, failure):
        """A call leaves only now, so a crash repeats it rather than loses it. A refused key would
        be refused for the whole row: it is given up until the agent acts again."""
        count = len(lane["outbox"]) if status == 401 else 1
        for name, body in lane["outbox"][:count]:
            logging.info("%s %s: %r", name, failure or "done", lane["id"])
            if failure:
                problem = {"call": name, "reason": failure, "text": body.get("message")}
                lane["problems"].append(problem)
                lane["failed"] = name if name in ("start", "end") else lane["failed"]
        del lane["outbox"][:count]
        self.store.save()
