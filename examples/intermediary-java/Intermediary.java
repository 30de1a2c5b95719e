import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import com.sun.net.httpserver.*;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.*;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.security.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Consumer;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** An intermediary between the chat platform and a small help desk, which you replace by your own. */
public class Intermediary {
    static final String PLATFORM = setting("HANDOVER_SIM_URL", "http://127.0.0.1:4747");
    static final String API_KEY = setting("HANDOVER_SIM_API_KEY", "sim-handover-key");
    static final String BOT_KEY = setting("HANDOVER_SIM_BOT_API_KEY", "sim-bot-key"); // for transcripts
    static final String SECRET = setting("HANDOVER_SIM_WEBHOOK_SECRET", API_KEY);
    static final int MAX_BODY_BYTES = 1 << 20, MAX_ATTEMPTS = 5, LONGEST_RETRY_AFTER_MS = 300_000;
    static final int CLOCK_MARGIN_MS = 25; // two clocks differ by milliseconds, and a retry must not be early
    static final int TYPING_TIMEOUT_MS = 10_000; // limit of the indicator when the agent stops typing

    static final ExecutorService WORKERS = Executors.newCachedThreadPool();
    static final HttpClient CLIENT = HttpClient.newHttpClient(); // follows no redirect: that would give the key away

    /** Calls that are made one after the other. */
    static class Calls {
        CompletableFuture<Void> last = CompletableFuture.completedFuture(null);

        /** Makes a call as soon as the one before it has its answer: null when it failed. */
        void add(String name, Map<String, ?> body, Consumer<Map<String, Object>> answered) {
            last = last.thenRunAsync(() -> {
                Map<String, Object> answer = send(name, body);
                synchronized (CHATS) {
                    answered.accept(answer);
                }
            }, WORKERS);
        }
    }

    static final Map<String, ?> REQUEST = Map.of("request", true);

    static class Chat {
        String id, status = "held"; // pending (the user asked for an agent), open, closed, or held: no request is known
        String agent = "Anna";
        Object botId;
        int request; // the number of its last request: the order of the queue
        boolean typing;
        final List<Map<String, ?>> inbox = new ArrayList<>();
        int accepted; // the length of the inbox when the agent accepted
        String lastNotice = "", notice = ""; // the ids of what the platform wrote at the last two starts and ends
        final Calls calls = new Calls();
    }

    static final Map<String, Chat> CHATS = new HashMap<>(); // also the lock of the data, which is released before a call
    static final Calls AVAILABILITY = new Calls();
    static int requests;

    public static void main(String[] arguments) throws IOException {
        HttpRequest.newBuilder(URI.create(PLATFORM)); // throws when HANDOVER_SIM_URL is no address
        var address = new InetSocketAddress("127.0.0.1", Integer.parseInt(setting("PORT", "3000")));
        var server = HttpServer.create(address, 128);
        server.setExecutor(WORKERS);
        server.createContext("/", Intermediary::answer);
        server.start();
        System.out.println("Ready: http://127.0.0.1:" + server.getAddress().getPort());
    }

    static String setting(String name, String otherwise) {
        String value = System.getenv(name);
        return value == null || value.isEmpty() ? otherwise : value;
    }

    record Answer(int status, Object body) {}

    static Answer error(int status, String message) {
        return new Answer(status, Map.of("error", message));
    }

    static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readNBytes(MAX_BODY_BYTES + 1);
            String path = exchange.getRequestURI().getPath();
            Answer answer = body.length > MAX_BODY_BYTES ? error(413, "The body is too long.")
                : path.equals("/webhook") ? webhook(exchange.getRequestMethod(), exchange.getRequestHeaders(), body)
                : path.startsWith("/desk/") ? desk(path.split("/", 4), Json.object(body.length == 0 ? "{}".getBytes() : body))
                : path.equals("/health") ? new Answer(200, Map.of("ok", true)) : error(404, "There is no such address.");
            byte[] text = Json.write(answer.body).getBytes(UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(answer.status, text.length);
            exchange.getResponseBody().write(text);
        }
    }

    /** Verifies the raw bytes before it reads them as JSON. */
    static Answer webhook(String method, Headers headers, byte[] body) {
        if (!method.equals("POST")) return error(405, "Use POST.");
        if (!isSigned(body, headers.getOrDefault("Kindly-HMAC", List.of())))
            return error(401, "The signature is missing or wrong.");
        if (!String.valueOf(headers.getFirst("Content-Type")).startsWith("application/json"))
            return error(415, "Content-Type must be application/json.");
        Map<String, Object> event = Json.object(body);
        if (event == null) return error(400, "The body is not an event.");
        store(event); // makes no call: the platform may wait for this answer
        return new Answer(200, Map.of("ok", true));
    }

    /** Compares the one signature of the request with the right one, in constant time. */
    static boolean isSigned(byte[] body, List<String> signatures) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec(SECRET.getBytes(UTF_8), "HmacSHA256"));
            byte[] expected = Base64.getEncoder().encode(mac.doFinal(body));
            return signatures.size() == 1 && MessageDigest.isEqual(expected, signatures.get(0).getBytes(UTF_8));
        } catch (GeneralSecurityException error) {
            throw new IllegalStateException(error);
        }
    }

    static String textOf(Object source, String name) {
        return source instanceof Map<?, ?> map && map.get(name) instanceof String text ? text : "";
    }

    /** Ignores unknown events, and typing events: a typing call in return would loop endlessly. */
    static void store(Map<String, Object> event) {
        boolean isMessage = "MESSAGE FROM USER".equals(event.get("event"));
        if (!isMessage && !"REQUESTING TAKEOVER".equals(event.get("event"))) return;
        String id = textOf(event.get("chat"), "id");
        synchronized (CHATS) {
            Chat chat = CHATS.computeIfAbsent(id, unknown -> new Chat());
            chat.id = id;
            chat.botId = event.get("bot") instanceof Map<?, ?> bot ? bot.get("id") : null;
            if (isMessage) { // stores each one: a copy looks like a user who writes "ok" twice
                Object files = event.get("attachments") instanceof List<?> list ? list : List.of();
                chat.inbox.add(Map.of("text", textOf(event, "message"), "attachments", files));
            } else if (!chat.status.equals("pending") && !chat.status.equals("open")) { // otherwise a copy of the request
                chat.status = "pending";
                chat.agent = "Anna";
                chat.request = ++requests;
                chat.inbox.add(REQUEST);
            }
        }
    }

    /** The actions of the agent, with the statuses of the chat in which each is possible. */
    static final Map<String, String> POSSIBLE = Map.of("accept", "pending held", "messages", "open", "typing", "open",
        "close", "open held", "transfer", "open", "announce", "pending");

    /** Queues the calls that follow from an action of the agent, so a slow platform does not block the agent. */
    static Answer desk(String[] path, Map<String, Object> body) {
        if (body == null) return error(400, "The body must be a JSON object.");
        synchronized (CHATS) {
            Chat chat = CHATS.get(path[2]);
            String action = path.length < 4 ? "" : path[3];
            if (path[2].equals("availability")) {
                String state = Boolean.TRUE.equals(body.get("open")) ? "OPEN" : "CLOSED";
                var call = Map.of("availability", state, "queue", "DEFAULT", "reason", "AGENT_AVAILABILITY");
                AVAILABILITY.add("availability", call, answer -> {});
            } else if (chat != null && action.equals("inbox")) {
                return new Answer(200, List.copyOf(chat.inbox));
            } else if (chat == null || !POSSIBLE.containsKey(action)) {
                return error(404, "There is no such chat or action.");
            } else if (!POSSIBLE.get(action).contains(chat.status)) {
                return error(409, "The chat is " + chat.status + ".");
            } else if (action.equals("messages") && textOf(body, "text").isEmpty()) {
                return error(400, "text must not be empty.");
            } else {
                act(chat, action, body);
            }
        }
        return new Answer(202, Map.of("queued", true));
    }

    static void act(Chat chat, String action, Map<String, Object> body) {
        switch (action) {
            case "accept" -> {
                chat.status = "open";
                chat.accepted = chat.inbox.size();
                var sender = new HashMap<String, Object>(senderOf(chat.agent));
                sender.put("language_codes", List.of("en")); // the platform translates for them
                call(chat, "start", Map.of("sender", sender, "supports_attachment", true));
            }
            case "messages" -> say(chat, chat.agent, textOf(body, "text"));
            case "typing" -> setTyping(chat, Boolean.TRUE.equals(body.get("on")));
            case "close" -> {
                chat.status = "closed";
                chat.typing = false;
                call(chat, "end", Map.of("sender", senderOf(chat.agent)));
            }
            case "transfer" -> {
                say(chat, "Support desk", "You are being transferred to " + textOf(body, "team") + ".");
                chat.agent = textOf(body, "team") + " agent";
            }
            case "announce" -> {
                var ahead = CHATS.values().stream().filter(one -> one.status.equals("pending") && one.request < chat.request);
                say(chat, "Support desk", "You are number " + (ahead.count() + 1) + " in the queue.");
            }
        }
    }

    static Map<String, Object> senderOf(String name) {
        return Map.of("name", name, "avatar", "https://desk.example.test/agent.png");
    }

    static void say(Chat chat, String sender, String text) {
        if (chat.typing) setTyping(chat, false); // a message does not hide the indicator
        call(chat, "message/", Map.of("message", text, "sender", senderOf(sender)));
    }

    static void setTyping(Chat chat, boolean on) {
        chat.typing = on;
        if (on) call(chat, "typing_start", Map.of("timeout", TYPING_TIMEOUT_MS));
        else call(chat, "typing_stop", Map.of());
    }

    /** Adds a call about a chat. When a start or an end fails, the agent can try again. */
    static void call(Chat chat, String name, Map<String, Object> fields) {
        var body = new HashMap<String, Object>(fields);
        body.put("bot_id", chat.botId);
        body.put("chat_id", chat.id);
        chat.calls.add(name, body, answer -> {
            if (answer == null && name.equals("start") && chat.status.equals("open")) chat.status = "pending";
            if (answer == null && name.equals("end") && chat.status.equals("closed")) chat.status = "held";
            if (answer == null || !name.equals("start") && !name.equals("end")) return;
            chat.lastNotice = chat.notice;
            chat.notice = textOf(answer, "chatmessage_id");
            // In a queue of its own, so that no message waits for the transcript.
            if (name.equals("start"))
                new Calls().add("transcript", Map.of("chat_id", chat.id), read -> showHistory(chat, read));
        });
    }

    /** Ends the conversation of a chat that the platform does not know any more: no event says that its user has left. */
    static void closeAsGone(Object id) {
        synchronized (CHATS) {
            Chat chat = id == null ? null : CHATS.get(id);
            if (chat == null) return;
            chat.status = "closed";
            chat.typing = false;
        }
    }

    /**
     * Shows the agent what was written while no agent was in the chat: no event brings it. It is between two notices of the
     * platform: at the last end, and at this start, whose id is in the answer to it. What is behind the second comes by
     * webhook, and may be in the transcript too, because the user goes on writing while it is read. Texts could not tell the
     * two apart: a user may write "ok" twice.
     */
    static void showHistory(Chat chat, Map<String, Object> answer) {
        if (answer == null || !(answer.get("chat") instanceof Map<?, ?> record)) return;
        var lines = new ArrayList<Map<String, ?>>();
        for (Object message : record.get("messages") instanceof List<?> list ? list : List.of()) {
            String id = textOf(message, "id");
            if (id.equals(chat.notice)) break;
            lines.add(Map.of("text", textOf(message, "message"), "from", textOf(message, "name"), "attachments", List.of()));
            if (id.equals(chat.lastNotice)) lines.clear();
        }
        int place = chat.inbox.lastIndexOf(REQUEST) + 1; // behind it, and so before what came by webhook meanwhile
        for (int i = place; i < chat.accepted; i++) { // came before the agent accepted, as after a restart: it is in both
            var texts = lines.stream().map(line -> line.get("text")).toList();
            int copy = texts.lastIndexOf(chat.inbox.get(i).get("text"));
            if (copy >= 0) lines.remove(copy);
        }
        chat.inbox.addAll(place, lines);
    }

    /**
     * Repeats a call that the platform may accept later. The answer to a call that was made can be lost, so a user may get
     * a message twice: the API has no idempotency key.
     */
    static Map<String, Object> send(String name, Map<String, ?> body) {
        // The handover transcript ends at the request. That of the chat has what the user wrote while waiting.
        boolean isRead = name.equals("transcript");
        String id = URLEncoder.encode(String.valueOf(body.get("chat_id")), UTF_8).replace("+", "%20");
        String path = isRead ? "/api/v1/chats/" + id : "/api/v2/handover/" + name;
        var request = HttpRequest.newBuilder(URI.create(PLATFORM + path))
            .timeout(Duration.ofSeconds(15))
            .header("Authorization", "Bearer " + (isRead ? BOT_KEY : API_KEY)).header("Content-Type", "application/json")
            .method(isRead ? "GET" : "POST", isRead ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(Json.write(body))).build();
        for (int attempt = 1; ; attempt++) {
            var response = CLIENT.sendAsync(request, HttpResponse.BodyHandlers.ofByteArray()).handle((it, error) -> it).join();
            int status = response == null ? 0 : response.statusCode(); // null: no answer
            String retryAfter = response == null ? "" : response.headers().firstValue("Retry-After").orElse("");
            long waitMs = retryAfter.matches("\\d{1,9}") ? Long.parseLong(retryAfter) * 1000 + CLOCK_MARGIN_MS : 250L << attempt;
            if (status / 100 == 2) return Objects.requireNonNullElse(Json.object(response.body()), Map.of());
            if (status == 404) closeAsGone(body.get("chat_id"));
            boolean mayPass = status == 0 || status == 429 || status >= 500;
            if (!mayPass || attempt == MAX_ATTEMPTS || waitMs > LONGEST_RETRY_AFTER_MS) {
                System.err.printf("%s failed: status %d, attempt %d, chat %s%n", name, status, attempt, body.get("chat_id"));
                return null;
            }
            CompletableFuture.runAsync(() -> {}, CompletableFuture.delayedExecutor(waitMs, TimeUnit.MILLISECONDS)).join();
        }
    }

    /** Reads and writes JSON, which the standard library does not do: use the JSON library of your program instead. */
    static class Json {
        final String text;
        int at;

        Json(String text) {
            this.text = text;
        }

        /** Returns null when the bytes are not a JSON object in UTF-8. */
        @SuppressWarnings("unchecked")
        static Map<String, Object> object(byte[] bytes) {
            try {
                var json = new Json(UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)) + "\n");
                Object value = json.value(0);
                return value instanceof Map && json.text.substring(json.at).isBlank() ? (Map<String, Object>) value : null;
            } catch (CharacterCodingException | RuntimeException error) {
                return null;
            }
        }

        Object value(int depth) {
            if (depth > 100) throw new IllegalArgumentException("too deep");
            if (skip('{')) {
                var map = new HashMap<String, Object>();
                while (!skip('}')) {
                    if (!map.isEmpty()) need(',');
                    need('"');
                    String key = string();
                    need(':');
                    map.put(key, value(depth + 1));
                }
                return map;
            }
            if (skip('[')) {
                var list = new ArrayList<Object>();
                while (!skip(']')) {
                    if (!list.isEmpty()) need(',');
                    list.add(value(depth + 1));
                }
                return list;
            }
            if (skip('"')) return string();
            int from = at;
            while (",]} \t\r\n".indexOf(text.charAt(at)) < 0) at++;
            String word = text.substring(from, at);
            if (word.equals("null")) return null;
            return word.equals("true") || word.equals("false") ? (Object) word.equals("true") : new BigDecimal(word);
        }

        /** Skips white space, and then this character when it is the next one. */
        boolean skip(char wanted) {
            while (" \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
            if (text.charAt(at) != wanted) return false;
            at++;
            return true;
        }

        void need(char wanted) {
            if (!skip(wanted)) throw new IllegalArgumentException("no " + wanted);
        }

        String string() {
            var result = new StringBuilder();
            for (char c; (c = text.charAt(at++)) != '"'; result.append(c)) {
                if (c != '\\') continue;
                c = text.charAt(at++);
                if (c == 'u') c = (char) Integer.parseInt(text.substring(at, at += 4), 16);
                else if ("bfnrt".indexOf(c) >= 0) c = "\b\f\n\r\t".charAt("bfnrt".indexOf(c));
            }
            return result.toString();
        }

        static String write(Object value) {
            if (value instanceof List<?> list) return list.stream().map(Json::write).collect(joining(",", "[", "]"));
            if (value instanceof Map<?, ?> map)
                return map.entrySet().stream().map(one -> write(one.getKey()) + ":" + write(one.getValue()))
                    .collect(joining(",", "{", "}"));
            if (!(value instanceof String string)) return String.valueOf(value);
            var result = new StringBuilder("\"");
            for (char c : string.toCharArray()) {
                boolean isPlain = c >= ' ' && c != '"' && c != '\\' && !Character.isSurrogate(c);
                result.append(isPlain ? String.valueOf(c) : String.format("\\u%04x", (int) c));
            }
            return result.append('"').toString();
        }
    }
}
