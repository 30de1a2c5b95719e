# Runs a small help desk (replace it by your own), and stores its state in a file.
require "json"
require "monitor"
require_relative "http_server"

TYPING_TIMEOUT_MS = 10_000 # limit of the indicator when the agent stops typing
SYSTEM = { "name" => "Support desk", "avatar" => "https://desk.example.test/desk.png" }.freeze
KINDS = { String => "a non-empty string", Integer => "an integer", TrueClass => "true or false",
          Array => "a list", Hash => "an object" }.freeze

def field(body, name, *kinds)
  value = body[name]
  return value if kinds.any? { |kind| kind === value } && value != ""
  raise Refused.new(400, "bad_input", "\"#{name}\" must be #{KINDS[kinds.first]}.", name)
end

# Reads an untrusted field: a signature proves the sender, not the type.
def given(source, name, kind, otherwise)
  value = source.is_a?(Hash) ? source[name] : nil
  value = value.scrub if value.is_a?(String) # half of an emoji could not be sent on as JSON
  kind === value ? value : otherwise
end

def new_queue(id) = { "id" => id, "outbox" => [], "problems" => [], "failed" => nil }

# notices: the ids of what the platform wrote at the last two starts and ends. accepted: the length of the
# inbox when the agent accepted. reads: the calls that read, so that no message waits for them.
def new_chat(id)
  { **new_queue(id), "inbox" => [], "notices" => [nil, nil], "accepted" => 0, "reads" => new_queue("reads of #{id}") }
end

# Stores all chats as plain data, so that a restart can still end their handovers.
class Store
  attr_reader :lock, :availability, :chats

  def initialize(path)
    @path, @lock = path, Monitor.new
    @availability, @chats = new_queue("availability"), {}
    @availability, @chats = JSON.parse(File.read(path)) if path && File.exist?(path)
  end

  # Replaces the file by renaming, so that a crash never leaves a partial file.
  def save
    return unless @path
    File.write("#{@path}.tmp", JSON.generate([@availability, @chats.reject { |_, chat| finished?(chat) }]))
    File.rename("#{@path}.tmp", @path)
  rescue SystemCallError => error # a full disk must not stop the program
    LOG.error("Failed to save the state: #{error.message}")
  end

  def finished?(chat) = chat["status"] == "closed" && chat["outbox"].empty? && chat["failed"].nil?
end

# Every method is called under `store.lock` and only stores or queues, so none is slow.
class Desk
  def initialize(settings, store, outbox)
    @settings, @store, @outbox = settings, store, outbox
  end

  # Events of the platform. Both methods store the event before the webhook acknowledges it: the
  # platform never repeats an acknowledged event, so a crash in between would lose it.

  # Events have no id: before the end, a second request means the same conversation.
  def requested(id, event)
    status = @store.chats.dig(id, "status")
    unless %w[pending open].include?(status)
      enter(id, event, "pending")["inbox"] << { "request" => true }
      @store.save
    end
    LOG.info("request, conversation was #{status || "none"}: chat #{id.inspect}")
  end

  # Keeps every message: a redelivery looks exactly like a user who writes "ok" twice.
  def received(id, event)
    chat = @store.chats[id] || enter(id, event, "held")
    files = given(event, "attachments", Array, []).map do |file|
      %w[name url type].to_h { |key| [key, given(file, key, String, "")] }
    end
    item = { "text" => given(event, "message", String, ""), "attachments" => files }
    item["note"] = true if chat["status"] == "closed"
    chat["inbox"] << item
    @store.save
    LOG.info("message, conversation is #{chat["status"]}: chat #{id.inspect}")
  end

  # Actions of the agent: each method is the last part of a path, and gets the body.

  def accept(chat, _body)
    allow(chat, "pending", "held", again: "start")
    chat.update("status" => "open", "failed" => nil, "accepted" => chat["inbox"].length)
    languages = @settings.agent_languages # they switch live translation on
    sender = languages.empty? ? agent(chat) : { **agent(chat), "language_codes" => languages }
    call(chat, "start", "sender" => sender, "supports_attachment" => true)
  end

  def messages(chat, body)
    text, buttons = field(body, "text", String), field({ "buttons" => [], **body }, "buttons", Array)
    allow(chat, "open")
    say(chat, text, agent(chat), buttons)
  end

  def typing(chat, body)
    on = field(body, "on", TrueClass, FalseClass)
    allow(chat, "open")
    chat["typing"] = on
    on ? call(chat, "typing_start", "timeout" => TYPING_TIMEOUT_MS) : call(chat, "typing_stop")
  end

  def close(chat, _body)
    allow(chat, "open", "held", again: "end")
    chat.update("status" => "closed", "failed" => nil, "typing" => false)
    call(chat, "end", "sender" => agent(chat))
  end

  def transfer(chat, body)
    team = field(body, "team", String)
    allow(chat, "open")
    say(chat, "You are being transferred to #{team}.", SYSTEM)
    chat["agent"] = "#{team} agent"
    @store.save
  end

  def announce(chat, _body)
    allow(chat, "pending")
    queue = @store.chats.values.select { |one| one["status"] == "pending" }
    number = queue.index { |one| one.equal?(chat) } + 1
    say(chat, "You are number #{number} in the queue.", SYSTEM)
  end

  # Opens or closes the desk: the platform never reopens it by itself.
  def set_availability(body)
    state = field(body, "open", TrueClass, FalseClass) ? "OPEN" : "CLOSED"
    fields = { "availability" => state, "queue" => "DEFAULT", "reason" => "AGENT_AVAILABILITY" }
    @outbox.add(@store.availability, "availability", fields)
  end

  private

  # Moves the chat to the end: the order of the hash is the order of the queue.
  def enter(id, event, status)
    about = event["chat"]
    chat = @store.chats.delete(id) || new_chat(id)
    chat.update("status" => status, "agent" => @settings.agent_name, "typing" => false, "failed" => nil,
                "bot_id" => given(event["bot"], "id", Integer, @settings.bot_id),
                "language" => given(about, "language", String, ""),
                "source" => given(about, "source", String, ""),
                "user" => given(event["user"], "id", String, ""))
    @store.chats[id] = chat
  end

  def say(chat, text, sender, buttons = [])
    typing(chat, { "on" => false }) if chat["typing"] # a message does not hide the indicator
    more = buttons.empty? ? {} : { "buttons" => buttons }
    call(chat, "message", "message" => text, "sender" => sender, **more)
  end

  def call(chat, name, fields = {})
    @outbox.add(chat, name, { "bot_id" => chat["bot_id"], "chat_id" => chat["id"], **fields })
  end

  def agent(chat) = { "name" => chat["agent"], "avatar" => @settings.agent_avatar }

  # Checks the status. A step that failed on the platform may be repeated.
  def allow(chat, *allowed, again: nil)
    return if allowed.include?(chat["status"]) || (again && chat["failed"] == again)
    raise Refused.new(409, "wrong_state", "Chat is #{chat["status"]}, not #{allowed.join(" or ")}.")
  end
end
