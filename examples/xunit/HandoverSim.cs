using System.Text;
using System.Text.Json;
using System.Text.Json.Nodes;

/// <summary>The control API of handover-sim, for tests. Copy this file. A query is text such as call=start.</summary>
public sealed class HandoverSim
{
    private readonly string url = Environment.GetEnvironmentVariable("HANDOVER_SIM_URL")!;
    private readonly string? token = Environment.GetEnvironmentVariable("HANDOVER_SIM_TOKEN");
    // Without the proxy that the environment may name.
    private readonly HttpClient http = new(new HttpClientHandler { UseProxy = false });

    public async Task<JsonNode> Call(string method, string path, object? body = null, string query = "")
    {
        using var request = new HttpRequestMessage(new HttpMethod(method), $"{url}/_sim{path}?{query}");
        if (body != null) request.Content = new StringContent(JsonSerializer.Serialize(body), Encoding.UTF8, "application/json");
        if (token != null) request.Headers.Add("authorization", $"Bearer {token}");
        using var response = await http.SendAsync(request);
        var answer = JsonNode.Parse(await response.Content.ReadAsStringAsync())!;
        if (!response.IsSuccessStatusCode) throw new Exception((string?)answer["error"]!["message"]);
        return answer;
    }

    public Task<JsonNode> CreateChat(object? body = null) => Call("POST", "/chats", body ?? new { }, "");
    public Task<JsonNode> GetChat(string id, string query = "") => Call("GET", $"/chats/{id}", null, query);
    public Task<JsonNode> Say(string id, object? body = null, string query = "") => Call("POST", $"/chats/{id}/messages", body ?? new { }, query);
    public Task<JsonNode> Press(string id, object? body = null, string query = "") => Call("POST", $"/chats/{id}/press", body ?? new { }, query);
    public Task<JsonNode> ActAsAgent(object? body = null) => Call("POST", "/agent", body ?? new { }, "");
    public Task<JsonNode> ReadInbox(string query = "") => Call("GET", "/agent/inbox", null, query);
    public Task<JsonNode> WaitFor(string query = "") => Call("GET", "/wait", null, query);
    public Task<JsonNode> GetJournal(string query = "") => Call("GET", "/journal", null, query);
    public Task<JsonNode> Trigger(object? body = null) => Call("POST", "/trigger", body ?? new { }, "");
    public Task<JsonNode> PatchConfig(object? body = null) => Call("PATCH", "/config", body ?? new { }, "");
    public Task<JsonNode> SetAvailability(object? body = null) => Call("PUT", "/availability", body ?? new { }, "");
    public Task<JsonNode> SetFault(object? body = null) => Call("POST", "/faults", body ?? new { }, "");
    public Task<JsonNode> ClearFaults() => Call("DELETE", "/faults", null, "");
    public Task<JsonNode> AdvanceClock(object? body = null) => Call("POST", "/clock/advance", body ?? new { }, "");
    public Task<JsonNode> Settle() => Call("POST", "/settle", null, "");
    public Task<JsonNode> Reset() => Call("POST", "/reset", null, "");
}
