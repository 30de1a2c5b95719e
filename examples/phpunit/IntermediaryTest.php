<?php
require_once __DIR__ . '/HandoverSim.php';

use PHPUnit\Framework\TestCase;

final class IntermediaryTest extends TestCase
{
    private HandoverSim $sim;
    private string $chat;

    protected function setUp(): void
    {
        $this->sim = new HandoverSim();
        $this->sim->reset();
        $this->chat = $this->sim->createChat()['chat_id'];
    }

    public function testAnAgentTakesOverTheChat(): void
    {
        $asked = $this->sim->press($this->chat, ['button' => 'handover'], ['wait' => 'ack']);
        $this->assertSame(200, $asked['ack']['status']);
        $this->sim->actAsAgent(['verb' => 'accept', 'chat_id' => $this->chat]);
        $this->sim->waitFor(['call' => 'start', 'chat_id' => $this->chat]);
        $this->sim->actAsAgent(['verb' => 'says', 'chat_id' => $this->chat, 'text' => 'Hello, I am Anna.']);
        $this->sim->waitFor(['call' => 'message', 'chat_id' => $this->chat]);
        $this->assertSame('Hello, I am Anna.', end($this->sim->getChat($this->chat)['messages'])['text']);
    }

    public function testAForgedEventIsRefused(): void
    {
        $forged = $this->sim->trigger(['event' => 'MESSAGE FROM USER', 'chat_id' => $this->chat, 'sign' => 'wrong-key']);
        $this->assertSame(401, $forged['ack']['status']);
    }
}
