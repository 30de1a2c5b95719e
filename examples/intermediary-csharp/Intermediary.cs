// An intermediary between the chat platform and a small help desk, which you replace by your own.
using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;
using System.Text.Json.Serialization;
using Microsoft.Extensions.Primitives;

const int maxAttempts = 5;
const int typingTimeoutMs = 10_000; // limit of the indicator when the agent stops typing
var longestRetryAfter = TimeSpan.FromMinutes(5);
var clockMargin = TimeSpan.FromMilliseconds(25); // two clocks differ by milliseconds, and a retry must not be early

var platform = Setting("HANDOVER_SIM_URL", "http://127.0.0.1:4747");
var apiKey = Setting("HANDOVER_SIM_API_KEY", "sim-handover-key");
var botKey = Setting("HANDOVER_SIM_BOT_API_KEY", "sim-bot-key"); // for transcripts
var secret = Setting("HANDOVER_SIM_WEBHOOK_SECRET", apiKey);
// Follows no redirect, which would send the key to another address.
var http = new HttpClient(new SocketsHttpHandler { AllowAutoRedirect = false }) { Timeout = TimeSpan.FromSeconds(15) };
var json = new JsonSerializerOptions(JsonSerializerDefaults.Web)
{
    DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingNull,
};

var chats = new Dictionary<string, Chat>(); // also the lock of the data, which is released before a call
var availability = new Calls();
var requests = 0;

// The actions of the agent, with the statuses of the chat in which each is possible.
var possible = new Dictionary<string, string[]>
{
    ["accept"] = ["pending", "held"], ["messages"] = ["open"], ["typing"] = ["open"], ["close"] = ["open", "held"],
    ["transfer"] = ["open"], ["announce"] = ["pending"],
};

var builder = WebApplication.CreateBuilder(args);
builder.WebHost.UseUrls($"http://127.0.0.1:{Setting("PORT", "3000")}");
builder.WebHost.ConfigureKestrel(options => options.Limits.MaxRequestBodySize = 1 << 20);
builder.Logging.SetMinimumLevel(LogLevel.Warning);
var app = builder.Build();

app.MapGet("/health", () => Results.Json(new { ok = true }));

// Verifies the raw bytes before it reads them as JSON.
app.MapPost("/webhook", async (HttpRequest request) =>
{
    var body = await BytesOf(request);
    if (!IsSigned(body, request.Headers["Kindly-HMAC"])) return Error(401, "The signature is missing or wrong.");
    if (!request.HasJsonContentType()) return Error(415, "Content-Type must be application/json.");
    var received = Read<Event>(body);
    if (received is null) return Error(400, "The body is not an event.");
    Store(received); // makes no call: the platform may wait for this answer
    return Results.Json(new { ok = true });
});

// Queues the calls that follow from an action of the agent, so a slow platform does not block the agent.
app.MapPost("/desk/availability", async (HttpRequest request) =>
{
    var state = Read<Act>(await BytesOf(request)) is { Open: true } ? "OPEN" : "CLOSED";
    var body = new JsonObject { ["availability"] = state, ["queue"] = "DEFAULT", ["reason"] = "AGENT_AVAILABILITY" };
    lock (chats) availability.Add(() => Send("availability", body));
    return Results.Json(new { queued = true }, statusCode: 202);
});

app.MapPost("/desk/{id}/{action}", async (string id, string action, HttpRequest request) =>
{
    var act = Read<Act>(await BytesOf(request)) ?? new Act(null, null, false, false);
    lock (chats)
    {
        if (!chats.TryGetValue(id, out var chat) || !possible.TryGetValue(action, out var statuses))
            return Error(404, "There is no such chat or action.");
        if (!statuses.Contains(chat.Status)) return Error(409, $"The chat is {chat.Status}.");
        if (action == "messages" && string.IsNullOrEmpty(act.Text)) return Error(400, "text must not be empty.");
        Do(chat, action, act);
        return Results.Json(new { queued = true }, statusCode: 202);
    }
});

app.MapGet("/desk/{id}/inbox", (string id) =>
{
    lock (chats)
        return chats.TryGetValue(id, out var chat)
            ? Results.Json(chat.Inbox.ToArray(), json)
            : Error(404, "There is no such chat.");
});

await app.StartAsync();
Console.WriteLine($"Ready: {app.Urls.First()}");
await app.WaitForShutdownAsync();

static string Setting(string name, string otherwise) =>
    Environment.GetEnvironmentVariable(name) is { Length: > 0 } value ? value : otherwise;

static IResult Error(int status, string message) => Results.Json(new { error = message }, statusCode: status);

static async Task<byte[]> BytesOf(HttpRequest request)
{
    var bytes = new MemoryStream();
    await request.Body.CopyToAsync(bytes);
    return bytes.ToArray();
}

// Returns null when the bytes are not JSON of this form.
T? Read<T>(byte[] body) where T : class
{
    try
    {
        return JsonSerializer.Deserialize<T>(body, json);
    }
    catch (JsonException)
    {
        return null;
    }
}

// Compares the one signature of the request with the right one, in constant time.
bool IsSigned(byte[] body, StringValues signatures)
{
    var expected = Convert.ToBase64String(HMACSHA256.HashData(Encoding.UTF8.GetBytes(secret), body));
    var given = Encoding.UTF8.GetBytes(signatures.ToString());
    return signatures.Count == 1 && CryptographicOperations.FixedTimeEquals(given, Encoding.UTF8.GetBytes(expected));
}

// Ignores unknown events, and typing events: a typing call in return would loop endlessly.
void Store(Event received)
{
    if (received.Name is not ("REQUESTING TAKEOVER" or "MESSAGE FROM USER") || received.Chat?.Id is null) return;
    lock (chats)
    {
        if (!chats.TryGetValue(received.Chat.Id, out var chat))
            chats[received.Chat.Id] = chat = new Chat { Id = received.Chat.Id, BotId = received.Bot?.Id ?? 0 };
        if (received.Name == "MESSAGE FROM USER") // stores each one: a copy looks like a user who writes "ok" twice
        {
            chat.Inbox.Add(new Item(null, received.Message ?? "", null, received.Attachments ?? []));
        }
        else if (chat.Status is not ("pending" or "open")) // otherwise a copy of the request
        {
            chat.Status = "pending";
            chat.Agent = "Anna";
            chat.Request = ++requests;
            chat.Inbox.Add(new Item(true, null, null, null));
        }
    }
}

void Do(Chat chat, string action, Act act)
{
    switch (action)
    {
        case "accept":
            chat.Status = "open";
            chat.Accepted = chat.Inbox.Count;
            var sender = SenderOf(chat.Agent);
            sender["language_codes"] = new JsonArray("en"); // the platform translates for them
            Call(chat, "start", new JsonObject { ["sender"] = sender, ["supports_attachment"] = true });
            break;
        case "messages":
            Say(chat, chat.Agent, act.Text!);
            break;
        case "typing":
            SetTyping(chat, act.On);
            break;
        case "close":
            chat.Status = "closed";
            chat.IsTyping = false;
            Call(chat, "end", new JsonObject { ["sender"] = SenderOf(chat.Agent) });
            break;
        case "transfer":
            Say(chat, "Support desk", $"You are being transferred to {act.Team}.");
            chat.Agent = $"{act.Team} agent";
            break;
        case "announce":
            var ahead = chats.Values.Count(one => one.Status == "pending" && one.Request < chat.Request);
            Say(chat, "Support desk", $"You are number {ahead + 1} in the queue.");
            break;
    }
}

static JsonObject SenderOf(string name) => new() { ["name"] = name, ["avatar"] = "https://desk.example.test/agent.png" };

void Say(Chat chat, string sender, string text)
{
    if (chat.IsTyping) SetTyping(chat, false); // a message does not hide the indicator
    Call(chat, "message/", new JsonObject { ["message"] = text, ["sender"] = SenderOf(sender) });
}

void SetTyping(Chat chat, bool on)
{
    chat.IsTyping = on;
    if (on) Call(chat, "typing_start", new JsonObject { ["timeout"] = typingTimeoutMs });
    else Call(chat, "typing_stop", new JsonObject());
}

// Adds a call about a chat. When a start or an end fails, the agent can try again.
void Call(Chat chat, string name, JsonObject body)
{
    body["bot_id"] = chat.BotId;
    body["chat_id"] = chat.Id;
    chat.Calls.Add(async () =>
    {
        var answer = await Send(name, body);
        lock (chats)
        {
            if (answer is null && name == "start" && chat.Status == "open") chat.Status = "pending";
            if (answer is null && name == "end" && chat.Status == "closed") chat.Status = "held";
            if (answer is null || name is not ("start" or "end")) return;
            chat.LastNotice = chat.Notice;
            chat.Notice = answer.ChatmessageId;
        }
        if (name == "start") _ = ReadHistory(chat); // not awaited, so that no message waits for the transcript
    });
}

// Shows the agent what was written while no agent was in the chat: no event brings it. It is between two notices of the
// platform: at the last end, and at this start, whose id is in the answer to it. What is behind the second comes by webhook,
// and may be in the transcript too, because the user goes on writing while it is read. Texts could not tell the two apart: a
// user may write "ok" twice.
async Task ReadHistory(Chat chat)
{
    var answer = await Send("transcript", new JsonObject { ["chat_id"] = chat.Id });
    lock (chats)
    {
        var lines = new List<Item>();
        foreach (var message in answer?.Chat?.Messages ?? [])
        {
            if (message.Id == chat.Notice) break;
            lines.Add(new Item(null, message.Text ?? "", message.Name, []));
            if (message.Id == chat.LastNotice) lines.Clear();
        }
        // Behind the request, and so before the messages that came by webhook meanwhile.
        var place = chat.Inbox.FindLastIndex(item => item.Request is true) + 1;
        for (var i = place; i < chat.Accepted; i++) // came before the agent accepted, as after a restart: it is in both
        {
            var copy = lines.FindLastIndex(line => line.Text == chat.Inbox[i].Text);
            if (copy >= 0) lines.RemoveAt(copy);
        }
        chat.Inbox.InsertRange(place, lines);
    }
}

// Ends the conversation of a chat that the platform does not know any more: no event says that its user has left. Its end is
// not repeated, as that of a closed one.
void CloseAsGone(string? id)
{
    lock (chats)
    {
        if (id is null || !chats.TryGetValue(id, out var chat)) return;
        chat.Status = "gone";
        chat.IsTyping = false;
    }
}

// Repeats a call that the platform may accept later. The answer to a call that was made can be lost, so a user may get a
// message twice: the API has no idempotency key.
async Task<Answer?> Send(string name, JsonObject body)
{
    // The handover transcript ends at the request. That of the chat has what the user wrote while waiting.
    var isRead = name == "transcript";
    var path = isRead ? $"/api/v1/chats/{Uri.EscapeDataString((string)body["chat_id"]!)}" : $"/api/v2/handover/{name}";
    for (var attempt = 1; ; attempt++)
    {
        var status = 0; // no answer
        var wait = TimeSpan.FromSeconds(0.25 * Math.Pow(2, attempt));
        try
        {
            using var request = new HttpRequestMessage(isRead ? HttpMethod.Get : HttpMethod.Post, platform + path);
            request.Headers.Add("Authorization", $"Bearer {(isRead ? botKey : apiKey)}");
            if (!isRead) request.Content = new StringContent(body.ToJsonString(), Encoding.UTF8, "application/json");
            using var response = await http.SendAsync(request);
            if (response.IsSuccessStatusCode)
                return Read<Answer>(await response.Content.ReadAsByteArrayAsync()) ?? new Answer(null, null);
            status = (int)response.StatusCode;
            if (response.Headers.RetryAfter?.Delta is { } delay) wait = delay + clockMargin;
        }
        catch (Exception error)
        {
            Console.Error.WriteLine(error.Message); // the status stays 0
        }
        if (status == 404) CloseAsGone((string?)body["chat_id"]);
        var mayPass = status is 0 or 429 or >= 500;
        if (!mayPass || attempt == maxAttempts || wait > longestRetryAfter)
        {
            Console.Error.WriteLine($"{name} failed with status {status} in attempt {attempt}, chat {body["chat_id"]}");
            return null;
        }
        await Task.Delay(wait);
    }
}

// The fields of an event that this program reads. The platform may add others.
record Event([property: JsonPropertyName("event")] string? Name, string? Message, JsonElement[]? Attachments, EventBot? Bot,
    EventChat? Chat);
record EventBot(long Id);
record EventChat(string? Id);

// The fields of an answer that this program reads.
record Answer([property: JsonPropertyName("chatmessage_id")] string? ChatmessageId, Transcript? Chat);
record Transcript(Message[]? Messages);
record Message(string? Id, [property: JsonPropertyName("message")] string? Text, string? Name);

// What the agent sees: a request, or a text.
record Item(bool? Request, string? Text, string? From, JsonElement[]? Attachments);

// The body of an action of the agent.
record Act(string? Text, string? Team, bool On, bool Open);

// Calls that are made one after the other.
class Calls
{
    Task last = Task.CompletedTask;

    // Makes a call as soon as the one before it has its answer.
    public void Add(Func<Task> call) => last = last.ContinueWith(_ => call()).Unwrap();
}

class Chat
{
    public required string Id { get; init; }
    public long BotId { get; init; }
    // pending (the user asked for an agent), open, closed, or held: no request is known.
    public string Status { get; set; } = "held";
    public string Agent { get; set; } = "Anna";
    public int Request { get; set; } // the number of its last request: the order of the queue
    public bool IsTyping { get; set; }
    public List<Item> Inbox { get; } = [];
    public int Accepted { get; set; } // the length of the inbox when the agent accepted
    // The ids of what the platform wrote at the last two starts and ends.
    public string? LastNotice { get; set; }
    public string? Notice { get; set; }
    public Calls Calls { get; } = new();
}
