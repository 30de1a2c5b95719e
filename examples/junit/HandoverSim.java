import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.net.ProxySelector;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;

/** The control API of handover-sim, for tests. Copy this file. */
public final class HandoverSim {
    private final String url = System.getenv("HANDOVER_SIM_URL");
    private final String token = System.getenv("HANDOVER_SIM_TOKEN");
    private final ObjectMapper json = new ObjectMapper();
    /** Without the proxy that the environment may name. */
    private final HttpClient http = HttpClient.newBuilder().proxy(ProxySelector.of(null)).build();

    public JsonNode call(String method, String path, Map<String, ?> body, Map<String, ?> query) {
        try {
            String values = query.entrySet().stream()
                .map(one -> one.getKey() + "=" + URLEncoder.encode(String.valueOf(one.getValue()), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
            HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + "/_sim" + path + "?" + values))
                .header("content-type", "application/json")
                .method(method, body == null ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(json.writeValueAsString(body)));
            if (token != null) request.header("authorization", "Bearer " + token);
            HttpResponse<String> response = http.send(request.build(), HttpResponse.BodyHandlers.ofString());
            JsonNode answer = json.readTree(response.body());
            if (response.statusCode() >= 400) throw new AssertionError(answer.at("/error/message").asText());
            return answer;
        } catch (java.io.IOException | InterruptedException error) {
            throw new AssertionError(error);
        }
    }

    public JsonNode createChat(Map<String, ?> body) { return call("POST", "/chats", body, Map.of()); }
    public JsonNode getChat(String id, Map<String, ?> query) { return call("GET", "/chats/" + id, null, query); }
    public JsonNode say(String id, Map<String, ?> body, Map<String, ?> query) { return call("POST", "/chats/" + id + "/messages", body, query); }
    public JsonNode press(String id, Map<String, ?> body, Map<String, ?> query) { return call("POST", "/chats/" + id + "/press", body, query); }
    public JsonNode actAsAgent(Map<String, ?> body) { return call("POST", "/agent", body, Map.of()); }
    public JsonNode readInbox(Map<String, ?> query) { return call("GET", "/agent/inbox", null, query); }
    public JsonNode waitFor(Map<String, ?> query) { return call("GET", "/wait", null, query); }
    public JsonNode getJournal(Map<String, ?> query) { return call("GET", "/journal", null, query); }
    public JsonNode trigger(Map<String, ?> body) { return call("POST", "/trigger", body, Map.of()); }
    public JsonNode patchConfig(Map<String, ?> body) { return call("PATCH", "/config", body, Map.of()); }
    public JsonNode setAvailability(Map<String, ?> body) { return call("PUT", "/availability", body, Map.of()); }
    public JsonNode setFault(Map<String, ?> body) { return call("POST", "/faults", body, Map.of()); }
    public JsonNode clearFaults() { return call("DELETE", "/faults", null, Map.of()); }
    public JsonNode advanceClock(Map<String, ?> body) { return call("POST", "/clock/advance", body, Map.of()); }
    public JsonNode settle() { return call("POST", "/settle", null, Map.of()); }
    public JsonNode reset() { return call("POST", "/reset", null, Map.of()); }
}
