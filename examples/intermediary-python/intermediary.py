"""Starts and stops the intermediary between the chat platform and a help desk."""
import logging
import os
import signal
import sys
from types import SimpleNamespace

from desk import Desk, Store
from platform_client import Outbox
from web import Handler, Server


def read_settings(env):
    env = {name: value for name, value in env.items() if value}  # empty counts as not set
    bot_id = env.get("HANDOVER_SIM_BOT_ID")
    return SimpleNamespace(
        host=env.get("HOST", "127.0.0.1"), port=int(env.get("PORT", 3000)),
        url=env.get("HANDOVER_SIM_URL", "http://127.0.0.1:4747"),
        api_key=env.get("HANDOVER_SIM_API_KEY", "sim-handover-key"),
        # The default is for the default of the other key: a platform with other keys refuses it.
        bot_api_key=env.get("HANDOVER_SIM_BOT_API_KEY",
                            None if "HANDOVER_SIM_API_KEY" in env else "sim-bot-key"),
        webhook_secret=env.get("HANDOVER_SIM_WEBHOOK_SECRET"),  # default: the API key
        bot_id=int(bot_id) if bot_id else None,
        agent_name=env.get("AGENT_NAME", "Anna"),
        agent_avatar=env.get("AGENT_AVATAR", "https://desk.example.test/anna.png"),
        agent_languages=env.get("AGENT_LANGUAGES", "en").replace(",", " ").split(),
        state_file=env.get("STATE_FILE"))


def main():
    logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO)  # to stderr
    settings = read_settings(os.environ)
    store = Store(settings.state_file)
    outbox = Outbox(settings, store)
    Handler.settings, Handler.desk = settings, Desk(settings, store, outbox)
    server = Server((settings.host, settings.port), Handler)
    outbox.resume()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # raises KeyboardInterrupt below
    print(f"Ready: http://{settings.host}:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
        outbox.wait_until_idle(20)  # the next start sends the rest


if __name__ == "__main__":
    try:
        main()
    except (OSError, ValueError) as error:  # a port in use, an invalid state file
        sys.exit(f"Failed to start: {error}")
