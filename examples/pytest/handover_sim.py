"""The control API of handover-sim, for tests. Copy this file."""
import json, os
from urllib.error import HTTPError
from urllib.parse import quote, urlencode
from urllib.request import ProxyHandler, Request, build_opener


class HandoverSim:
    def __init__(self, url=None, token=None):
        self.url = url or os.environ["HANDOVER_SIM_URL"]
        self.token = token or os.environ.get("HANDOVER_SIM_TOKEN")
        # Without the proxy that the environment may name.
        self.opener = build_opener(ProxyHandler({}))

    def call(self, method, path, query=None, body=None):
        address = f"{self.url}/_sim{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"content-type": "application/json"}
        if self.token:
            headers["authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        try:
            with self.opener.open(Request(address, data, headers, method=method), timeout=60) as answer:
                return json.load(answer)
        except HTTPError as error:
            raise AssertionError(json.load(error)["error"]["message"]) from None

    def create_chat(self, body=None):
        return self.call("POST", "/chats", None, body or {})

    def get_chat(self, id, **query):
        return self.call("GET", f"/chats/{quote(id)}", query, None)

    def say(self, id, body=None, **query):
        return self.call("POST", f"/chats/{quote(id)}/messages", query, body or {})

    def press(self, id, body=None, **query):
        return self.call("POST", f"/chats/{quote(id)}/press", query, body or {})

    def act_as_agent(self, body=None):
        return self.call("POST", "/agent", None, body or {})

    def read_inbox(self, **query):
        return self.call("GET", "/agent/inbox", query, None)

    def wait_for(self, **query):
        return self.call("GET", "/wait", query, None)

    def get_journal(self, **query):
        return self.call("GET", "/journal", query, None)

    def trigger(self, body=None):
        return self.call("POST", "/trigger", None, body or {})

    def patch_config(self, body=None):
        return self.call("PATCH", "/config", None, body or {})

    def set_availability(self, body=None):
        return self.call("PUT", "/availability", None, body or {})

    def set_fault(self, body=None):
        return self.call("POST", "/faults", None, body or {})

    def clear_faults(self):
        return self.call("DELETE", "/faults", None, None)

    def advance_clock(self, body=None):
        return self.call("POST", "/clock/advance", None, body or {})

    def settle(self):
        return self.call("POST", "/settle", None, None)

    def reset(self):
        return self.call("POST", "/reset", None, None)
