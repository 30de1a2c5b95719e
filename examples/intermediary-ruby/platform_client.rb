# Calls the platform's API with retries, in order per chat.
require "json"
require "net/http"
require "time"

MAX_ATTEMPTS = 5
CALL_TIMEOUT, LONGEST_BACKOFF, LONGEST_RETRY_AFTER = 15, 8, 300 # seconds
CLOCK_MARGIN = 0.025 # two clocks differ by milliseconds, and a retry must not be early
# Only an answer with this event confirms that the key, the ids and the fields are right.
CONFIRMED_BY = { "start" => "TAKEOVER STARTED", "end" => "TAKEOVER ENDED",
                 "message" => "MESSAGE SENT TO USER", "transcript" => "\"messages\"",
                 "availability" => "HANDOVER AVAILABILITY UPDATED" }.freeze

# Status 0: no answer. Failure: nil when the call succeeded.
Reply = Struct.new(:status, :retry_after, :failure, :answer)

# `Net::HTTP` follows no redirect, which would send the key to another address.
def post(settings, name, body)
  path = name == "message" ? "message/" : name # the slash belongs to the path
  path, key = "v2/handover/#{path}", settings.api_key
  # The handover transcript ends at the request. Only the chat transcript, for which there is a key of
  # its own, has what the user wrote while waiting.
  is_chat = name == "transcript" && !settings.bot_api_key.nil?
  path, key = "v1/chats/#{URI.encode_www_form_component(body["chat_id"]).gsub("+", "%20")}", settings.bot_api_key if is_chat
  address = URI("#{settings.url.chomp("/")}/api/#{path}")
  headers = { "Authorization" => "Bearer #{key}", "Content-Type" => "application/json" }
  limits = { open_timeout: CALL_TIMEOUT, read_timeout: CALL_TIMEOUT, use_ssl: address.scheme == "https" }
  answer = Net::HTTP.start(address.host, address.port, nil, **limits) do |http| # nil: no proxy
    is_chat ? http.get(address.request_uri, headers) : http.post(address.request_uri, JSON.generate(body), headers)
  end
  ok = answer.is_a?(Net::HTTPSuccess) && answer.body.to_s.include?(CONFIRMED_BY.fetch(name, ""))
  failure = ok ? nil : "not confirmed, answered #{answer.code}"
  Reply.new(answer.code.to_i, answer["Retry-After"], failure, parse(answer.body))
rescue StandardError => error # only its class: the message can contain the header with the key
  Reply.new(0, nil, "no answer (#{error.class})")
end

def parse(body)
  JSON.parse(body.to_s)
rescue JSON::ParserError
  nil
end

# Reads `Retry-After`, seconds or an HTTP date; without one, the backoff doubles.
def seconds_to_wait(retry_after, attempt)
  return Integer(retry_after, 10) + CLOCK_MARGIN if retry_after&.match?(/\A\d+\z/)
  [0, Time.httpdate(retry_after.to_s) - Time.now].max
rescue ArgumentError
  [0.5 * 2**(attempt - 1), LONGEST_BACKOFF].min
end

# A lost answer looks like a lost request and is retried, so the user may get a message twice: the API
# has no idempotency key.
def send_call(settings, name, body)
  (1..).each do |attempt|
    reply = post(settings, name, body)
    wait = seconds_to_wait(reply.retry_after, attempt)
    passing = [0, 429].include?(reply.status) || reply.status >= 500 # other 4xx are final
    return reply if !passing || attempt == MAX_ATTEMPTS || wait > LONGEST_RETRY_AFTER
    LOG.info("#{name}: #{reply.failure}, attempt #{attempt + 1} in #{wait.round(1)} s")
    sleep(wait)
  end
end

# Stores pending calls as plain data, so that a restart continues with them. Makes the calls of one
# queue (a chat) in order, and the queues in parallel: each with pending calls has a thread.
class Outbox
  def initialize(settings, store)
    @settings, @store = settings, store
    @busy = {}.compare_by_identity
  end

  def add(queue, name, body)
    queue["outbox"] << [name, body]
    @store.save
    wake(queue)
  end

  def resume
    @store.lock.synchronize do
      chats = @store.chats.values
      [@store.availability, *chats, *chats.map { |chat| chat["reads"] }].each { |queue| wake(queue) }
    end
  end

  def wait_until_idle(seconds)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + seconds
    @store.lock.synchronize { @busy.values }.each do |thread|
      thread.join([deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC), 0].max)
    end
  end

  private

  def wake(queue)
    @busy[queue] ||= Thread.new { drain(queue) } if queue["outbox"].any?
  end

  def drain(queue)
    while (call = next_call(queue))
      reply = send_call(@settings, *call)
      @store.lock.synchronize do
        finish(queue, reply)
        confirmed(*call, reply.answer) unless reply.failure
      end
    end
  end

  def next_call(queue)
    @store.lock.synchronize { queue["outbox"].first || (@busy.delete(queue) && nil) }
  end

  # Removes a call after its answer, so that a crash repeats it instead of losing it. After a refused
  # key (401), the queue drops all calls until the agent acts again.
  def finish(queue, reply)
    queue["outbox"].shift([401, 404].include?(reply.status) ? queue["outbox"].length : 1).each do |name, body|
      LOG.info("#{name} #{reply.failure || "done"}: #{queue["id"].inspect}")
      next unless reply.failure
      queue["problems"] << { "call" => name, "reason" => reply.failure, "text" => body["message"] }
      queue["failed"] = name if %w[start end].include?(name)
    end
    # No event says that the user of a chat has left.
    queue.update("status" => "closed", "failed" => nil, "typing" => false) if reply.status == 404 && queue.key?("status")
    @store.save
  end

  # Reads what was written before `start` once `start` has its answer, and not earlier: nothing is
  # missing between what is read and what comes by webhook.
  def confirmed(name, body, answer)
    chat = @store.chats[body["chat_id"]]
    show_history(chat, given(given(answer, "chat", Hash, {}), "messages", Array, [])) if name == "transcript"
    return @store.save unless %w[start end].include?(name)
    chat["notices"] = [chat["notices"].last, given(answer, "chatmessage_id", String, nil)]
    return @store.save if name == "end"
    add(chat["reads"], "transcript", body.slice("bot_id", "chat_id"))
  end
end
