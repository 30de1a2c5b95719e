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


def post(settings, name, body):
    """`http.client`, because `urllib` follows redirects, and takes the key along to wherever."""
    base = urlsplit(settings.url.rstrip("/"))
    connect = http.client.HTTPSConnection if base.scheme == "https" else http.client.HTTPConnection
    path = "message/" if name == "message" else name  # the slash belongs to the path
    headers = {"Authorization": f"Bearer {settings.api_key}", "Content-Type": "application/json"}
    try:
        with closing(connect(base.netloc, timeout=CALL_TIMEOUT)) as line:
            line.request("POST", f"{base.path}/api/v2/handover/{path}", json.dumps(body), headers)
            reply = line.getresponse()
            return reply.status, reply.getheader("Retry-After", ""), f"answered {reply.status}"
    except (OSError, http.client.HTTPException, ValueError) as error:
        # The kind of error only: its message may quote the header with the key.
        return 0, "", f"no answer ({type(error).__name__})"


def seconds_to_wait(retry_after, tries):
    """`Retry-After` is a number of seconds or an HTTP date; without one, wait longer each time."""
    if retry_after.isdecimal():
        return int(retry_after) + CLOCK_MARGIN
    try:
        return max(0, parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (TypeError, ValueError):
        return min(0.5 * 2 ** (tries - 1), LONGEST_BACKOFF)


def send(settings, name, body):
    """Returns (status, reason). A lost answer looks like a lost request, so the user may read a
    message twice: the API has no idempotency key, and twice is better than never."""
    for tries in range(1, MAX_TRIES + 1):
        status, retry_after, reason = post(settings, name, body)
        wait = seconds_to_wait(retry_after, tries)
        passing = status in (0, 429) or status >= 500  # any other 4xx will say the same again
        if not passing or tries == MAX_TRIES or wait > LONGEST_RETRY_AFTER:
            return status, reason
        logging.info("%s: %s, try %d in %.1f s", name, reason, tries + 1, wait)
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
                status, reason = send(self.settings, *lane["outbox"][0])
                self.changed.acquire()
                self._finish(lane, status, reason)
            self.busy.discard(lane["id"])
            self.changed.notify_all()

    def _finish(self, lane, status, reason):
        """A call leaves only now, so a crash repeats it rather than loses it. A refused key would
        be refused for the whole row: it is given up until the agent acts again."""
        count = len(lane["outbox"]) if status == 401 else 1
        for name, body in lane["outbox"][:count]:
            logging.info("%s %s: %r", name, reason, lane["id"])
            if not 200 <= status <= 299:
                text = body.get("message")
                lane["problems"].append({"call": name, "reason": reason, "text": text})
                lane["failed"] = name if name in ("start", "end") else lane["failed"]
        del lane["outbox"][:count]
        self.store.save()
