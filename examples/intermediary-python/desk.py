"""Runs a small help desk (replace it by your own), and stores its state in a file."""
import json
import logging
import os
import threading

TYPING_TIMEOUT_MS = 10_000  # limit of the indicator when the agent stops typing
SYSTEM = {"name": "Support desk", "avatar": "https://desk.example.test/desk.png"}
KINDS = {str: "non-empty string", bool: "boolean", int: "integer", list: "list", dict: "object"}


class Refused(Exception):
    """An error answer: status, code, message and, for bad input, the field."""


def field(body, name, kind):
    value = body.get(name)
    if type(value) is kind and value != "":  # not isinstance: True is an int
        return value
    raise Refused(400, "bad_input", f'"{name}" must be a {KINDS[kind]}.', name)


def given(source, name, kind, otherwise):
    """Reads an untrusted field: a signature proves the sender, not the type."""
    value = source.get(name) if isinstance(source, dict) else None
    return value if type(value) is kind else otherwise


def new_queue(queue_id):
    return {"id": queue_id, "outbox": [], "problems": [], "failed": None}


def new_chat(chat_id):
    """`notices`: the ids of what the platform wrote at the last two starts and ends. `accepted`: the
    length of the inbox when the agent accepted. `reads`: the calls that read, so that no message
    waits for them."""
    return {**new_queue(chat_id), "inbox": [], "notices": [None, None], "accepted": 0,
            "reads": new_queue(f"reads of {chat_id}")}


def is_finished(chat):
    return chat["status"] == "closed" and not chat["outbox"] and chat["failed"] is None


class Store:
    """Stores all chats as plain data, so that a restart can still end their handovers."""

    def __init__(self, path):
        self.lock, self.path = threading.RLock(), path
        self.availability, self.chats = new_queue("availability"), {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.availability, self.chats = json.load(file)

    def save(self):
        """Replaces the file by renaming, so that a crash never leaves a partial file."""
        try:
            if self.path:
                chats = {id: chat for id, chat in self.chats.items() if not is_finished(chat)}
                with open(f"{self.path}.tmp", "w", encoding="utf-8") as file:
                    file.write(json.dumps([self.availability, chats]))  # json.dump is much slower
                os.replace(f"{self.path}.tmp", self.path)
        except OSError as error:  # a full disk must not stop the program
            logging.error("Failed to save the state: %s", error)


class Desk:
    """Every method is called under `store.lock` and only stores or queues, so none is slow."""

    def __init__(self, settings, store, outbox):
        self.settings, self.store, self.outbox = settings, store, outbox

    # Events of the platform. Both methods store the event before the webhook acknowledges it: the
    # platform never repeats an acknowledged event, so a crash in between would lose it.

    def requested(self, chat_id, event):
        """Events have no id: before the end, a second request means the same conversation."""
        status = self.store.chats.get(chat_id, {}).get("status")
        if status not in ("pending", "open"):
            self._enter(chat_id, event, "pending")["inbox"].append({"request": True})
            self.store.save()
        logging.info("request, conversation was %s: chat %r", status, chat_id)

    def received(self, chat_id, event):
        """Keeps every message: a redelivery looks exactly like a user who writes "ok" twice."""
        chat = self.store.chats.get(chat_id) or self._enter(chat_id, event, "held")
        files = [{key: given(file, key, str, "") for key in ("name", "url", "type")}
                 for file in given(event, "attachments", list, [])]
        item = {"text": given(event, "message", str, ""), "attachments": files}
        chat["inbox"].append({**item, "note": True} if chat["status"] == "closed" else item)
        self.store.save()
        logging.info("message, conversation is %s: chat %r", chat["status"], chat_id)

    def _enter(self, chat_id, event, status):
        """Moves the chat to the end: the order of the dict is the order of the queue."""
        chat = self.store.chats.pop(chat_id, None) or new_chat(chat_id)
        chat.update(status=status, agent=self.settings.agent_name, typing=False, failed=None,
                    bot_id=given(event.get("bot"), "id", int, self.settings.bot_id),
                    language=given(event["chat"], "language", str, ""),
                    source=given(event["chat"], "source", str, ""),
                    user=given(event.get("user"), "id", str, ""))
        self.store.chats[chat_id] = chat
        return chat

    # Actions of the agent: each method is the last part of a path, and gets the body.

    def accept(self, chat, _body):
        require(chat, "pending", "held", again="start")
        chat.update(status="open", failed=None, accepted=len(chat["inbox"]))
        sender = self._agent(chat)
        if self.settings.agent_languages:  # they switch live translation on
            sender["language_codes"] = self.settings.agent_languages
        self._call(chat, "start", sender=sender, supports_attachment=True)

    def messages(self, chat, body):
        text, buttons = field(body, "text", str), field({"buttons": [], **body}, "buttons", list)
        require(chat, "open")
        self._say(chat, text, self._agent(chat), buttons)

    def typing(self, chat, body):
        on = field(body, "on", bool)
        require(chat, "open")
        chat["typing"] = on
        name = "typing_start" if on else "typing_stop"
        self._call(chat, name, timeout=TYPING_TIMEOUT_MS if on else None)

    def close(self, chat, _body):
        require(chat, "open", "held", again="end")
        chat.update(status="closed", failed=None, typing=False)
        self._call(chat, "end", sender=self._agent(chat))

    def transfer(self, chat, body):
        team = field(body, "team", str)
        require(chat, "open")
        self._say(chat, f"You are being transferred to {team}.", SYSTEM)
        chat["agent"] = f"{team} agent"
        self.store.save()

    def announce(self, chat, _body):
        require(chat, "pending")
        queue = [id for id, one in self.store.chats.items() if one["status"] == "pending"]
        number = queue.index(chat["id"]) + 1
        self._say(chat, f"You are number {number} in the queue.", SYSTEM)

    def set_availability(self, body):
        """Opens or closes the desk: the platform never reopens it by itself."""
        state = "OPEN" if field(body, "open", bool) else "CLOSED"
        self.outbox.add(self.store.availability, "availability", {
            "availability": state, "queue": "DEFAULT", "reason": "AGENT_AVAILABILITY"})

    def _say(self, chat, text, sender, buttons=None):
        if chat["typing"]:  # a message does not hide the indicator
            self.typing(chat, {"on": False})
        self._call(chat, "message", message=text, sender=sender, buttons=buttons or None)

    def _call(self, chat, name, **fields):
        fields = {key: value for key, value in fields.items() if value is not None}
        self.outbox.add(chat, name, {"bot_id": chat["bot_id"], "chat_id": chat["id"], **fields})

    def _agent(self, chat):
        return {"name": chat["agent"], "avatar": self.settings.agent_avatar}


def require(chat, *allowed, again=None):
    """Checks the status. A step that failed on the platform may be repeated."""
    if chat["status"] not in allowed and (again is None or chat["failed"] != again):
        raise Refused(409, "wrong_state", f"Chat is {chat['status']}, not {' or '.join(allowed)}.")
