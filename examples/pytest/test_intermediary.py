import pytest
from handover_sim import HandoverSim


@pytest.fixture
def sim():
    sim = HandoverSim()
    sim.reset()
    return sim


def test_an_agent_takes_over_the_chat(sim):
    chat = sim.create_chat()["chat_id"]
    asked = sim.press(chat, {"button": "handover"}, wait="ack")
    assert asked["ack"]["status"] == 200
    sim.act_as_agent({"verb": "accept", "chat_id": chat})
    sim.wait_for(call="start", chat_id=chat)
    sim.act_as_agent({"verb": "says", "chat_id": chat, "text": "Hello, I am Anna."})
    sim.wait_for(call="message", chat_id=chat)
    assert sim.get_chat(chat)["messages"][-1]["text"] == "Hello, I am Anna."


def test_a_forged_event_is_refused(sim):
    chat = sim.create_chat()["chat_id"]
    forged = sim.trigger({"event": "MESSAGE FROM USER", "chat_id": chat, "sign": "wrong-key"})
    assert forged["ack"]["status"] == 401
