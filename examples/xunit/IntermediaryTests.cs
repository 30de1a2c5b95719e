using Xunit;

public class IntermediaryTests
{
    private readonly HandoverSim sim = new();

    private async Task<string> OpenChat()
    {
        await sim.Reset();
        return (string)(await sim.CreateChat())["chat_id"]!;
    }

    [Fact]
    public async Task AnAgentTakesOverTheChat()
    {
        var chat = await OpenChat();
        var asked = await sim.Press(chat, new { button = "handover" }, "wait=ack");
        Assert.Equal(200, (int)asked["ack"]!["status"]!);
        await sim.ActAsAgent(new { verb = "accept", chat_id = chat });
        await sim.WaitFor($"call=start&chat_id={chat}");
        await sim.ActAsAgent(new { verb = "says", chat_id = chat, text = "Hello, I am Anna." });
        await sim.WaitFor($"call=message&chat_id={chat}");
        Assert.Equal("Hello, I am Anna.", (string)(await sim.GetChat(chat))["messages"]!.AsArray().Last()!["text"]!);
    }

    [Fact]
    public async Task AForgedEventIsRefused()
    {
        var chat = await OpenChat();
        var forged = await sim.Trigger(new { @event = "MESSAGE FROM USER", chat_id = chat, sign = "wrong-key" });
        Assert.Equal(401, (int)forged["ack"]!["status"]!);
    }
}
