# Starts and stops the intermediary between the chat platform and a help desk.
require "logger"
require_relative "desk"
require_relative "history"
require_relative "http_server"
require_relative "platform_client"
require_relative "web"

LOG = Logger.new($stderr)
Settings = Struct.new(:host, :port, :url, :api_key, :bot_api_key, :webhook_secret, :bot_id, :agent_name, :agent_avatar,
                      :agent_languages, :state_file, keyword_init: true)

def read_settings(env)
  env = env.reject { |_, value| value.empty? } # empty counts as not set
  Settings.new(
    host: env.fetch("HOST", "127.0.0.1"), port: Integer(env.fetch("PORT", "3000")),
    url: env.fetch("HANDOVER_SIM_URL", "http://127.0.0.1:4747"),
    api_key: env.fetch("HANDOVER_SIM_API_KEY", "sim-handover-key"),
    # The default is for the default of the other key: a platform with other keys refuses it.
    bot_api_key: env.fetch("HANDOVER_SIM_BOT_API_KEY") { env.key?("HANDOVER_SIM_API_KEY") ? nil : "sim-bot-key" },
    webhook_secret: env["HANDOVER_SIM_WEBHOOK_SECRET"], # default: the API key
    bot_id: env["HANDOVER_SIM_BOT_ID"]&.then { |text| Integer(text) },
    agent_name: env.fetch("AGENT_NAME", "Anna"),
    agent_avatar: env.fetch("AGENT_AVATAR", "https://desk.example.test/anna.png"),
    agent_languages: env.fetch("AGENT_LANGUAGES", "en").split(/[ ,]+/).reject(&:empty?),
    state_file: env["STATE_FILE"])
end

def main
  settings = read_settings(ENV.to_h)
  store = Store.new(settings.state_file)
  outbox = Outbox.new(settings, store)
  web = Web.new(settings, Desk.new(settings, store, outbox), store)
  server = HttpServer.new(settings.host, settings.port) { |request| web.answer(request) }
  outbox.resume
  $stdout.puts "Ready: http://#{settings.host}:#{server.port}"
  $stdout.flush
  server.run
rescue SignalException # SIGINT or SIGTERM, in the main thread
  server&.close
  outbox&.wait_until_idle(20) # the next start sends the rest
end

begin
  main
rescue SystemCallError, SocketError, ArgumentError, JSON::ParserError => error
  abort("Failed to start: #{error.message}") # a port in use, an invalid state file
end
