# The control API of handover-sim, for tests. Copy this file.
require 'json'
require 'net/http'

class HandoverSim
  def initialize(url = ENV.fetch('HANDOVER_SIM_URL'), token = ENV['HANDOVER_SIM_TOKEN'])
    @url = url
    @token = token
  end

  def call(method, path, body = nil, query = {})
    address = URI("#{@url}/_sim#{path}")
    address.query = URI.encode_www_form(query) unless query.empty?
    headers = { 'content-type' => 'application/json' }
    headers['authorization'] = "Bearer #{@token}" if @token
    # Without the proxy that the environment may name.
    http = Net::HTTP.new(address.host, address.port, nil)
    answer = http.send_request(method, address.request_uri, body&.to_json, headers)
    json = JSON.parse(answer.body)
    raise json['error']['message'] unless answer.is_a?(Net::HTTPSuccess)
    json
  end

  def create_chat(body = {}) = call('POST', '/chats', body)
  def get_chat(id, **query) = call('GET', "/chats/#{id}", nil, query)
  def say(id, body = {}, **query) = call('POST', "/chats/#{id}/messages", body, query)
  def press(id, body = {}, **query) = call('POST', "/chats/#{id}/press", body, query)
  def act_as_agent(body = {}) = call('POST', '/agent', body)
  def read_inbox(**query) = call('GET', '/agent/inbox', nil, query)
  def wait_for(**query) = call('GET', '/wait', nil, query)
  def get_journal(**query) = call('GET', '/journal', nil, query)
  def trigger(body = {}) = call('POST', '/trigger', body)
  def patch_config(body = {}) = call('PATCH', '/config', body)
  def set_availability(body = {}) = call('PUT', '/availability', body)
  def set_fault(body = {}) = call('POST', '/faults', body)
  def clear_faults = call('DELETE', '/faults')
  def advance_clock(body = {}) = call('POST', '/clock/advance', body)
  def settle = call('POST', '/settle')
  def reset = call('POST', '/reset')
end
