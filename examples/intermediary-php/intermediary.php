<?php
// An intermediary between the chat platform and a small help desk, which you replace by your own. Requests share no memory in
// PHP: they store chats and calls in files, and workers make the calls. `php intermediary.php` starts both.

const WORKERS = 16;
const MAX_ATTEMPTS = 5;
const LONGEST_RETRY_AFTER = 300; // seconds
const CLOCK_MARGIN = 0.025; // seconds: two clocks differ by milliseconds, and a retry must not be early
const TYPING_TIMEOUT_MS = 10_000; // limit of the indicator when the agent stops typing
const JSON = JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE;

/** The actions of the agent, with the statuses of the chat in which each is possible. */
const POSSIBLE = ['accept' => ['pending', 'held'], 'messages' => ['open'], 'typing' => ['open'], 'close' => ['open', 'held'],
    'transfer' => ['open'], 'announce' => ['pending']];

define('PORT', getenv('PORT') ?: '3000');
define('PLATFORM', getenv('HANDOVER_SIM_URL') ?: 'http://127.0.0.1:4747');
define('API_KEY', getenv('HANDOVER_SIM_API_KEY') ?: 'sim-handover-key');
// For transcripts.
define('BOT_KEY', getenv('HANDOVER_SIM_BOT_API_KEY') ?: 'sim-bot-key');
define('SECRET', getenv('HANDOVER_SIM_WEBHOOK_SECRET') ?: API_KEY);
define('STATE', getenv('STATE_FOLDER') ?: __DIR__ . '/state');

PHP_SAPI === 'cli-server' ? answer() : start();

// The requests.

function answer(): void
{
    $path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
    $body = file_get_contents('php://input');
    [$status, $value] = match (true) {
        strlen($body) > 1 << 20 => [413, ['error' => 'the body is too long']],
        $path === '/health' => [200, ['ok' => true]],
        $path === '/webhook' => webhook($body),
        str_starts_with($path, '/desk/') => desk(explode('/', $path . '/'), json_decode($body ?: '{}', true)),
        default => [404, ['error' => 'there is no such address']],
    };
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($value, JSON);
}

/** Verifies the raw bytes before it reads them as JSON. */
function webhook(string $body): array
{
    if ($_SERVER['REQUEST_METHOD'] !== 'POST') {
        return [405, ['error' => 'use POST']];
    }
    if (!is_signed($body, $_SERVER['HTTP_KINDLY_HMAC'] ?? '')) {
        return [401, ['error' => 'the signature is missing or wrong']];
    }
    if (!str_starts_with($_SERVER['CONTENT_TYPE'] ?? '', 'application/json')) {
        return [415, ['error' => 'Content-Type must be application/json']];
    }
    $event = json_decode($body, true);
    if (!is_string($event['event'] ?? null)) {
        return [400, ['error' => 'the body is not an event']];
    }
    locked(fn() => store($event)); // makes no call: the platform may wait for this answer
    return [200, ['ok' => true]];
}

/** Compares the signature of the request with the right one, in constant time. */
function is_signed(string $body, string $signature): bool
{
    $expected = base64_encode(hash_hmac('sha256', $body, SECRET, true));
    return hash_equals($expected, $signature);
}

/** Ignores unknown events, and typing events: a typing call in return would loop endlessly. */
function store(array $event): void
{
    $id = $event['chat']['id'] ?? null;
    if (!is_string($id) || !in_array($event['event'], ['REQUESTING TAKEOVER', 'MESSAGE FROM USER'], true)) {
        return;
    }
    // The status is pending (the user asked for an agent), open, closed, or held: a user writes and no request is known.
    $chat = load(sha1($id)) ?? ['id' => $id, 'status' => 'held', 'agent' => 'Anna', 'typing' => false, 'inbox' => []];
    $chat['bot_id'] = $event['bot']['id'] ?? null;
    if ($event['event'] === 'MESSAGE FROM USER') { // stores each one: a copy looks like a user who writes "ok" twice
        $chat['inbox'][] = ['text' => $event['message'] ?? '', 'attachments' => $event['attachments'] ?? []];
    } elseif (!in_array($chat['status'], ['pending', 'open'], true)) { // otherwise a copy of the request
        $chat = array_replace($chat, ['status' => 'pending', 'agent' => 'Anna', 'request' => microtime(true)]);
        $chat['inbox'][] = ['request' => true];
    }
    save($chat);
}

/** Queues the calls that follow from an action of the agent, so a slow platform does not block the agent. */
function desk(array $path, mixed $body): array
{
    [, , $id, $action] = $path;
    return locked(function () use ($id, $action, $body): array {
        if ($id === 'availability') {
            $row = load(sha1($id)) ?? ['id' => $id];
            $state = ($body['open'] ?? null) === true ? 'OPEN' : 'CLOSED';
            call($row, 'availability', ['availability' => $state, 'queue' => 'DEFAULT', 'reason' => 'AGENT_AVAILABILITY']);
            return [202, ['queued' => true]];
        }
        $chat = load(sha1(rawurldecode($id)));
        if ($chat !== null && $action === 'inbox') {
            return [200, $chat['inbox']];
        }
        if ($chat === null || !isset(POSSIBLE[$action])) {
            return [404, ['error' => 'there is no such chat or action']];
        }
        if (!in_array($chat['status'], POSSIBLE[$action], true)) {
            return [409, ['error' => "the chat is {$chat['status']}"]];
        }
        if ($action === 'messages' && ($body['text'] ?? '') === '') {
            return [400, ['error' => 'text must not be empty']];
        }
        act($chat, $action, $body);
        return [202, ['queued' => true]];
    });
}

function act(array $chat, string $action, mixed $body): void
{
    $sender = sender($chat['agent']);
    switch ($action) {
        case 'accept':
            $chat = array_replace($chat, ['status' => 'open', 'accepted' => count($chat['inbox'])]);
            $sender['language_codes'] = ['en']; // the platform translates for them
            call($chat, 'start', ['sender' => $sender, 'supports_attachment' => true]);
            break;
        case 'messages':
            say($chat, $sender, $body['text']);
            break;
        case 'typing':
            set_typing($chat, ($body['on'] ?? null) === true);
            break;
        case 'close':
            $chat = array_replace($chat, ['status' => 'closed', 'typing' => false]);
            call($chat, 'end', ['sender' => $sender]);
            break;
        case 'transfer':
            say($chat, sender('Support desk'), "You are being transferred to {$body['team']}.");
            $chat['agent'] = "{$body['team']} agent";
            save($chat);
            break;
        case 'announce':
            $others = array_map(fn($file) => load(basename($file)), glob(STATE . '/chats/*'));
            $waiting = array_filter($others, fn($one) => ($one['status'] ?? '') === 'pending');
            $ahead = array_filter($waiting, fn($one) => $one['request'] < $chat['request']);
            say($chat, sender('Support desk'), sprintf('You are number %d in the queue.', count($ahead) + 1));
    }
}

function sender(string $name): array
{
    return ['name' => $name, 'avatar' => 'https://desk.example.test/agent.png'];
}

function say(array &$chat, array $sender, string $text): void
{
    if ($chat['typing']) { // a message does not hide the indicator
        set_typing($chat, false);
    }
    call($chat, 'message/', ['message' => $text, 'sender' => $sender]);
}

function set_typing(array &$chat, bool $on): void
{
    $chat['typing'] = $on;
    $on ? call($chat, 'typing_start', ['timeout' => TYPING_TIMEOUT_MS]) : call($chat, 'typing_stop', []);
}

// The files: one for each chat, and an empty one in `waiting` or `working` for each chat with calls.

/** Runs a function while no other process does. */
function locked(callable $function): mixed
{
    $lock = fopen(STATE . '/lock', 'c');
    flock($lock, LOCK_EX); // until the variable ends
    return $function();
}

function load(string $key): ?array
{
    $text = @file_get_contents(STATE . "/chats/$key");
    return $text === false ? null : json_decode($text, true);
}

/** Replaces the file by renaming, so that a crash never leaves a partial file. */
function save(array $chat): void
{
    $key = sha1($chat['id']);
    file_put_contents(STATE . "/$key", json_encode($chat, JSON));
    rename(STATE . "/$key", STATE . "/chats/$key");
}

/** Adds a call to those of a chat, and shows the workers that it waits. */
function call(array &$chat, string $name, array $body): void
{
    $about = isset($chat['bot_id']) ? ['bot_id' => $chat['bot_id'], 'chat_id' => $chat['id']] : [];
    $chat['calls'][] = [$name, $about + $body];
    save($chat);
    touch(STATE . '/waiting/' . sha1($chat['id']));
}

// The workers. A chat has at most one at a time, so its calls stay in order; the other chats do not wait for it.

function start(): void
{
    array_map(fn($name) => is_dir(STATE . "/$name") || mkdir(STATE . "/$name", 0700, true), ['chats', 'waiting', 'working']);
    foreach (names_in('working') as $key) { // a crash interrupted its calls
        rename(STATE . "/working/$key", STATE . "/waiting/$key");
    }
    $children = [fork(fn() => pcntl_exec(PHP_BINARY, ['-S', '127.0.0.1:' . PORT, __FILE__]))];
    for ($worker = 1; $worker <= WORKERS; $worker++) {
        $children[] = fork('work');
    }
    foreach ([SIGTERM, SIGINT] as $signal) {
        pcntl_signal($signal, fn() => null, false); // ends the wait below
    }
    pcntl_wait($status);
    array_map(fn($child) => posix_kill($child, SIGTERM), $children);
}

function fork(callable $run): int
{
    $child = pcntl_fork();
    if ($child === 0) {
        exit($run());
    }
    return $child;
}

function names_in(string $folder): array
{
    return array_diff(scandir(STATE . "/$folder"), ['.', '..']);
}

function work(): never
{
    while (true) {
        $key = names_in('waiting') === [] ? null : locked('take_chat');
        while ($key !== null && $call = locked(fn() => next_call($key))) {
            $answer = send(...$call);
            locked(fn() => finish($key, $call, $answer));
        }
        usleep($key === null ? 50_000 : 0);
    }
}

function take_chat(): ?string
{
    foreach (array_diff(names_in('waiting'), names_in('working')) as $key) {
        rename(STATE . "/waiting/$key", STATE . "/working/$key");
        return $key;
    }
    return null;
}

/** A call stays the next one until it has its answer, so that a crash repeats it. */
function next_call(string $key): ?array
{
    $call = load($key)['calls'][0] ?? null;
    if ($call === null) {
        unlink(STATE . "/working/$key");
    }
    return $call;
}

/** Ends the conversation of a chat that the platform does not know any more: no event says that its user has left. */
function close_as_gone(string $id): void
{
    $chat = load(sha1($id));
    if ($chat !== null) {
        save(array_replace($chat, ['status' => 'closed', 'typing' => false]));
    }
}

/** When a start or an end fails, the agent can try again. */
function finish(string $key, array $call, ?array $answer): void
{
    [$name, $body] = $call;
    $chat = load($key);
    array_shift($chat['calls']);
    if ($answer === null && $name === 'start' && $chat['status'] === 'open') {
        $chat['status'] = 'pending';
    } elseif ($answer === null && $name === 'end' && $chat['status'] === 'closed') {
        $chat['status'] = 'held';
    } elseif ($answer !== null && ($name === 'start' || $name === 'end')) {
        // The ids of what the platform wrote at the last two starts and ends.
        $chat['notices'] = [$chat['notices'][1] ?? null, $answer['chatmessage_id'] ?? null];
    }
    save($chat);
    if ($answer !== null && $name === 'start') {
        $id = "reads of {$chat['id']}"; // a queue of its own, so that no message waits for the transcript
        $reads = load(sha1($id)) ?? ['id' => $id];
        call($reads, 'transcript', ['chat_id' => $chat['id']]);
    } elseif ($answer !== null && $name === 'transcript') {
        save(with_history(load(sha1($body['chat_id'])), $answer['chat']['messages'] ?? []));
    }
}

/**
 * Shows the agent what was written while no agent was in the chat: no event brings it. It is between two notices of the
 * platform: at the last end, and at this start, whose id is in the answer to it. What is behind the second comes by webhook,
 * and may be in the transcript too, because the user goes on writing while it is read. Texts could not tell the two apart: a
 * user may write "ok" twice.
 */
function with_history(array $chat, array $messages): array
{
    $lines = [];
    foreach ($messages as $message) {
        if ($message['id'] === $chat['notices'][1]) {
            break;
        }
        $lines[] = ['text' => $message['message'], 'from' => $message['name'], 'attachments' => []];
        $lines = $message['id'] === $chat['notices'][0] ? [] : $lines;
    }
    // Behind the request, and so before the messages that came by webhook meanwhile.
    $place = 1 + (array_key_last(array_filter($chat['inbox'], fn($item) => isset($item['request']))) ?? -1);
    // Some may have come before the agent accepted, as after a restart: they are in both.
    for ($at = $place; $at < $chat['accepted']; $at++) {
        $copies = array_keys(array_column($lines, 'text'), $chat['inbox'][$at]['text'], true);
        array_splice($lines, $copies === [] ? count($lines) : end($copies), 1);
    }
    array_splice($chat['inbox'], $place, 0, $lines);
    return $chat;
}

/**
 * Repeats a call that the platform may accept later. The answer to a call that was made can be lost, so a user may get a
 * message twice: the API has no idempotency key. Returns the answer, or null when the call failed.
 */
function send(string $name, array $body): ?array
{
    // The handover transcript ends at the request. That of the chat has what the user wrote while waiting.
    [$method, $path, $key] = $name === 'transcript'
        ? ['GET', '/api/v1/chats/' . rawurlencode($body['chat_id']), BOT_KEY]
        : ['POST', "/api/v2/handover/$name", API_KEY];
    $headers = ["Authorization: Bearer $key", 'Content-Type: application/json'];
    $content = $method === 'POST' ? json_encode($body, JSON) : '';
    $options = ['method' => $method, 'header' => $headers, 'content' => $content, 'timeout' => 15];
    // Follows no redirect, which would send the key to another address.
    $context = stream_context_create(['http' => $options + ['follow_location' => 0, 'ignore_errors' => true]]);
    for ($attempt = 1; ; $attempt++) {
        $answer = @fopen(PLATFORM . $path, 'r', false, $context);
        $lines = $answer ? stream_get_meta_data($answer)['wrapper_data'] : [];
        $status = (int) (explode(' ', $lines[0] ?? '')[1] ?? 0); // 0: no answer
        if ($status >= 200 && $status <= 299) {
            return json_decode(stream_get_contents($answer), true) ?? [];
        }
        $retryAfter = preg_match('/^Retry-After: *(\d+)$/im', implode("\n", $lines), $found) ? (int) $found[1] : null;
        $wait = $retryAfter === null ? 0.25 * 2 ** $attempt : $retryAfter + CLOCK_MARGIN;
        if ($status === 404) {
            locked(fn() => close_as_gone($body['chat_id'] ?? ''));
        }
        $mayPass = $status === 0 || $status === 429 || $status >= 500;
        if (!$mayPass || $attempt === MAX_ATTEMPTS || $wait > LONGEST_RETRY_AFTER) {
            error_log("$name failed with status $status in attempt $attempt, chat " . ($body['chat_id'] ?? ''));
            return null;
        }
        usleep((int) ($wait * 1_000_000));
    }
}
