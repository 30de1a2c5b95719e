# Shows the agent what was written while no agent was in the chat: no event brings it.

# Adds the messages of a transcript between the last two notices: what the platform wrote at the last
# `end`, and at this `start`, whose id is in the answer. What is behind the second comes by webhook,
# and may be in the transcript too, because the user goes on writing while it is read. Texts could not
# tell the two apart: a user may write "ok" twice. When a notice is not found, nothing is left out: a
# doubled sentence is better than a missing one.
def show_history(chat, messages)
  ids = messages.map { |message| message["id"] }
  after, before = chat["notices"]
  first = after && ids.index(after) ? ids.index(after) + 1 : 0
  last = ids.index(before) || ids.length
  lines = messages[first...last].map do |message|
    { "text" => given(message, "message", String, ""), "from" => given(message, "name", String, ""), "attachments" => [] }
  end
  inbox = chat["inbox"]
  # Behind the request, and so before the messages that came by webhook meanwhile.
  place = (inbox.rindex { |item| item.key?("request") } || -1) + 1
  # Some may have come before the agent accepted, as after a restart: they are in both.
  inbox[place...chat["accepted"]].to_a.each do |item|
    copy = lines.rindex { |line| line["text"] == item["text"] }
    lines.delete_at(copy) if copy
  end
  inbox.insert(place, *lines)
end
