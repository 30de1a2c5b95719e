# Answers the platform's webhook and the agent's desk API (which has no login).
require "json"
require "openssl"
require_relative "desk"
require_relative "http_server"

class Web
  ACTIONS = %w[accept messages typing close transfer announce].freeze
  ALGORITHM = "HMAC-SHA-256 (base64 encoded)".freeze
  QUEUED = [202, { queued: true }].freeze # the platform is called after this answer

  def initialize(settings, desk, store)
    @settings, @desk, @store = settings, desk, store
  end

  def answer(request)
    @store.lock.synchronize do
      request.path == "/webhook" ? webhook(request) : desk_api(request, *request.path.split("/").drop(1))
    end
  end

  private

  # Never waits for the platform's API, because the platform may wait for this answer.
  def webhook(request)
    raise Refused.new(405, "method_not_allowed", "Use POST.") if request.verb != "POST"
    check_signature(request)
    type = request.headers["content-type"].first.to_s
    raise Refused.new(415, "unsupported_media_type", "Content-Type must be application/json.") unless
      type.match?(%r{\Aapplication/json *(;|\z)}i)
    dispatch(parse_object(request.body))
    [200, { ok: true }]
  end

  # Over the raw bytes: serialised again, the same JSON may have other bytes. Compares text, because
  # base64 decoders accept variants. The algorithm header chooses none: another value is refused.
  def check_signature(request)
    algorithm = request.headers["kindly-hmac-algorithm"]
    unless algorithm.empty? || algorithm == [ALGORITHM]
      raise Refused.new(401, "unknown_algorithm", "The algorithm of the signature is not known here.")
    end
    secret = @settings.webhook_secret || @settings.api_key
    expected = [OpenSSL::HMAC.digest("SHA256", secret, request.body)].pack("m0")
    given = request.headers["kindly-hmac"]
    return if given.length == 1 && OpenSSL.secure_compare(given.first, expected)
    LOG.info("webhook refused: signature missing or wrong")
    raise Refused.new(401, "bad_signature", "The signature is missing or wrong.")
  end

  def dispatch(event)
    case name = field(event, "event", String)
    when "REQUESTING TAKEOVER" then @desk.requested(field(field(event, "chat", Hash), "id", String), event)
    when "MESSAGE FROM USER" then @desk.received(field(field(event, "chat", Hash), "id", String), event)
    else LOG.info("event ignored: #{name.inspect}") # or a typing event: a typing call in return would loop
    end
  end

  def desk_api(request, place = nil, id = nil, action = nil, *)
    body = request.body.empty? ? {} : parse_object(request.body)
    case "#{request.verb} #{request.path}"
    when "GET /health" then [200, { ok: true }]
    when "GET /desk" then [200, @store.chats.values.map { |chat| summary(chat) }]
    when "GET /desk/availability" then [200, @store.availability.slice("problems")]
    when "POST /desk/availability" then @desk.set_availability(body) && QUEUED
    when "PUT /desk/platform" then set_platform(request, body)
    else place == "desk" ? chat_api(request, decode(id.to_s), action, body) : raise(not_found)
    end
  end

  def chat_api(request, id, action, body)
    chat = @store.chats.fetch(id) { raise not_found }
    return [200, summary(chat)] if request.verb == "GET" && action.nil?
    return [200, chat["inbox"]] if request.verb == "GET" && action == "inbox"
    raise not_found unless request.verb == "POST" && ACTIONS.include?(action)
    @desk.public_send(action, chat, body)
    QUEUED
  end

  # Accepts only this machine: the new address receives the key with the next call.
  def set_platform(request, body)
    raise Refused.new(403, "loopback_only", "Only from this machine.") if request.address != "127.0.0.1"
    kinds = { "url" => String, "api_key" => String, "bot_api_key" => String, "webhook_secret" => String,
              "bot_id" => Integer }
    change = kinds.slice(*body.keys).to_h { |name, kind| [name, field(body, name, kind)] }
    raise Refused.new(400, "bad_input", '"url" must be an http or https address.', "url") unless
      change.fetch("url", @settings.url).match?(%r{\Ahttps?://.})
    @settings.bot_api_key = nil if change.key?("api_key")
    change.each { |name, value| @settings[name] = value }
    [200, { url: @settings.url, bot_id: @settings.bot_id }]
  end

  def parse_object(bytes)
    text = bytes.dup.force_encoding(Encoding::UTF_8)
    value = text.valid_encoding? ? JSON.parse(text) : nil
    value.is_a?(Hash) ? value : raise(JSON::ParserError)
  rescue JSON::ParserError
    raise Refused.new(400, "invalid_json", "The body must be a JSON object in UTF-8.")
  end


  def summary(chat)
    { **chat.except("inbox", "outbox", "reads"), "problems" => chat["problems"] + chat["reads"]["problems"] }
  end

  def not_found = Refused.new(404, "not_found", "There is no such chat or address.")
  def decode(text) = text.gsub(/%\h\h/) { |code| code[1..].hex.chr }.force_encoding(Encoding::UTF_8)
end
