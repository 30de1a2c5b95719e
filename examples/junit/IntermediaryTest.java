import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class IntermediaryTest {
    private final HandoverSim sim = new HandoverSim();
    private String chat;

    @BeforeEach
    void openChat() {
        sim.reset();
        chat = sim.createChat(Map.of()).get("chat_id").asText();
    }

    @Test
    void anAgentTakesOverTheChat() {
        JsonNode asked = sim.press(chat, Map.of("button", "handover"), Map.of("wait", "ack"));
        assertEquals(200, asked.at("/ack/status").asInt());
        sim.actAsAgent(Map.of("verb", "accept", "chat_id", chat));
        sim.waitFor(Map.of("call", "start", "chat_id", chat));
        sim.actAsAgent(Map.of("verb", "says", "chat_id", chat, "text", "Hello, I am Anna."));
        sim.waitFor(Map.of("call", "message", "chat_id", chat));
        JsonNode messages = sim.getChat(chat, Map.of()).get("messages");
        assertEquals("Hello, I am Anna.", messages.get(messages.size() - 1).get("text").asText());
    }

    @Test
    void aForgedEventIsRefused() {
        JsonNode forged = sim.trigger(Map.of("event", "MESSAGE FROM USER", "chat_id", chat, "sign", "wrong-key"));
        assertEquals(401, forged.at("/ack/status").asInt());
    }
}
