require_relative 'handover_sim'

RSpec.describe 'the intermediary' do
  let(:sim) { HandoverSim.new.tap(&:reset) }
  let(:chat) { sim.create_chat['chat_id'] }

  it 'lets an agent take over the chat' do
    asked = sim.press(chat, { button: 'handover' }, wait: 'ack')
    expect(asked['ack']['status']).to eq 200
    sim.act_as_agent({ verb: 'accept', chat_id: chat })
    sim.wait_for(call: 'start', chat_id: chat)
    sim.act_as_agent({ verb: 'says', chat_id: chat, text: 'Hello, I am Anna.' })
    sim.wait_for(call: 'message', chat_id: chat)
    expect(sim.get_chat(chat)['messages'].last['text']).to eq 'Hello, I am Anna.'
  end

  it 'refuses a forged event' do
    forged = sim.trigger({ event: 'MESSAGE FROM USER', chat_id: chat, sign: 'wrong-key' })
    expect(forged['ack']['status']).to eq 401
  end
end
