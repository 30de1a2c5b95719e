<?php
// The control API of handover-sim, for tests. Copy this file.
final class HandoverSim
{
    private string $url;
    private string $token;

    public function __construct(?string $url = null, ?string $token = null)
    {
        $this->url = $url ?? getenv('HANDOVER_SIM_URL');
        $this->token = $token ?? (getenv('HANDOVER_SIM_TOKEN') ?: '');
    }

    public function call(string $method, string $path, ?array $body = null, array $query = []): array
    {
        $headers = ['content-type: application/json'];
        if ($this->token !== '') $headers[] = "authorization: Bearer {$this->token}";
        $http = ['method' => $method, 'header' => $headers, 'ignore_errors' => true, 'timeout' => 60];
        if ($body !== null) $http['content'] = json_encode((object) $body);
        $address = "{$this->url}/_sim$path" . ($query === [] ? '' : '?' . http_build_query($query));
        $json = json_decode(file_get_contents($address, false, stream_context_create(['http' => $http])), true);
        if (isset($json['error']['message'])) throw new RuntimeException($json['error']['message']);
        return $json;
    }

    public function createChat(array $body = []): array { return $this->call('POST', "/chats", $body); }
    public function getChat(string $id, array $query = []): array { return $this->call('GET', "/chats/{$id}", null, $query); }
    public function say(string $id, array $body = [], array $query = []): array { return $this->call('POST', "/chats/{$id}/messages", $body, $query); }
    public function press(string $id, array $body = [], array $query = []): array { return $this->call('POST', "/chats/{$id}/press", $body, $query); }
    public function actAsAgent(array $body = []): array { return $this->call('POST', "/agent", $body); }
    public function readInbox(array $query = []): array { return $this->call('GET', "/agent/inbox", null, $query); }
    public function waitFor(array $query = []): array { return $this->call('GET', "/wait", null, $query); }
    public function getJournal(array $query = []): array { return $this->call('GET', "/journal", null, $query); }
    public function trigger(array $body = []): array { return $this->call('POST', "/trigger", $body); }
    public function patchConfig(array $body = []): array { return $this->call('PATCH', "/config", $body); }
    public function setAvailability(array $body = []): array { return $this->call('PUT', "/availability", $body); }
    public function setFault(array $body = []): array { return $this->call('POST', "/faults", $body); }
    public function clearFaults(): array { return $this->call('DELETE', "/faults"); }
    public function advanceClock(array $body = []): array { return $this->call('POST', "/clock/advance", $body); }
    public function settle(): array { return $this->call('POST', "/settle"); }
    public function reset(): array { return $this->call('POST', "/reset"); }
}
