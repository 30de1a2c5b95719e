"""Shows the agent what was written while no agent was in the chat: no event brings it."""
from desk import given


def show_history(chat, messages):
    """Adds the messages of a transcript between the last two notices: what the platform wrote at
    the last `end`, and at this `start`, whose id is in the answer. What is behind the second comes
    by webhook, and may be in the transcript too, because the user goes on writing while it is read.
    Texts could not tell the two apart: a user may write "ok" twice. When a notice is not found,
    nothing is left out: a doubled sentence is better than a missing one."""
    ids = [message.get("id") for message in messages]
    after, before = chat["notices"]
    first = ids.index(after) + 1 if after in ids else 0
    end = ids.index(before) if before in ids else len(ids)
    lines = [{"text": given(message, "message", str, ""), "from": given(message, "name", str, ""),
              "attachments": []} for message in messages[first:end]]
    inbox = chat["inbox"]
    # Behind the request, and so before the messages that came by webhook meanwhile.
    place = max((number for number, item in enumerate(inbox, 1) if "request" in item), default=0)
    # Some may have come before the agent accepted, as after a restart: they are in both.
    for item in inbox[place:chat["accepted"]]:
        copies = [number for number, line in enumerate(lines) if line["text"] == item["text"]]
        if copies:
            del lines[copies[-1]]
    inbox[place:place] = lines
