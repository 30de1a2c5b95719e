package handoversim

import "testing"

func TestAnAgentTakesOverTheChat(t *testing.T) {
	sim := New(t)
	sim.Reset()
	chat := sim.CreateChat(JSON{})["chat_id"].(string)
	asked := sim.Press(chat, JSON{"button": "handover"}, Query{"wait": "ack"})
	if status := asked["ack"].(map[string]any)["status"]; status != 200.0 {
		t.Errorf("the webhook answered %v", status)
	}
	sim.ActAsAgent(JSON{"verb": "accept", "chat_id": chat})
	sim.WaitFor(Query{"call": "start", "chat_id": chat})
	sim.ActAsAgent(JSON{"verb": "says", "chat_id": chat, "text": "Hello, I am Anna."})
	sim.WaitFor(Query{"call": "message", "chat_id": chat})
	messages := sim.GetChat(chat, nil)["messages"].([]any)
	last := messages[len(messages)-1].(map[string]any)
	if last["text"] != "Hello, I am Anna." {
		t.Errorf("the user sees %v", last["text"])
	}
}

func TestAForgedEventIsRefused(t *testing.T) {
	sim := New(t)
	sim.Reset()
	chat := sim.CreateChat(JSON{})["chat_id"].(string)
	forged := sim.Trigger(JSON{"event": "MESSAGE FROM USER", "chat_id": chat, "sign": "wrong-key"})
	if status := forged["ack"].(map[string]any)["status"]; status != 401.0 {
		t.Errorf("the webhook answered %v", status)
	}
}
