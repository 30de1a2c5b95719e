/** Generates docs/how-to/going-live.md: what changes on the real platform, and how to be safe where it may differ. */
import { ASSUMPTIONS, type AssumptionName } from '../src/platform/contract/assumptions.ts'

const BEGINNING = `# Going live

The simulator and the real platform differ in a few settings, and in what the platform's description leaves open. This page
lists both. No code of handover-sim belongs in production but \`handover-sim/signature\`.

## Which settings change

| setting of your service | with the simulator | on the platform |
|---|---|---|
| base URL of the API | \`http://127.0.0.1:4747\`, or \`baseUrl\` in tests | the address of your workspace, with https |
| handover API key | \`sim-handover-key\` | from the handover settings page |
| key that verifies signatures | the handover API key | the same handover API key, not the bot API key |
| bot API key | \`sim-bot-key\` | under Connect -> API Keys, with the scope 'Read chats' |
| bot id | \`1042\` | the \`id\` of \`bot\` in each event; do not set it |
| webhook URL | \`--webhook-url\` | in the handover settings: public, https, a certificate of a public authority |
| texts of handover open, closed, entering, left | \`messages.open\` and so on | in the workspace |

Read each of them from the environment, and end your service when one is missing. None needs a change of code.

## Checklist

1. All shipped scenarios pass, warnings included:

\`\`\`sh
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --strict
\`\`\`

2. They also pass when the platform decides the other way, where the description leaves it open:

\`\`\`sh
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --set errors.body=empty --set errors.validation=422 --set webhook.json=spaced --set ids.chat=hex24 --set ids.message=uuid --set transcript.text=both
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --set webhook.retry=1s,5s --set webhook.order=none --set typing.webhook=off
\`\`\`

3. Your service works with other keys and another bot than those of the simulator:

\`\`\`sh
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --api-key another-key --bot-api-key another-bot-key
\`\`\`

4. The first real event has the signature that you expect. Save its body byte for byte, and compare:

\`\`\`sh
npx handover-sim verify --body body.json --signature "$SIGNATURE" --key-env HANDOVER_API_KEY
\`\`\`

5. No variable of the simulator is set in production: \`HANDOVER_SIM_URL\`, \`HANDOVER_SIM_API_KEY\`, \`HANDOVER_SIM_BOT_API_KEY\`.
6. Logs contain chat id, event, status and duration of each call, and neither keys nor texts of users.

Then play one conversation by hand on the platform: press, accept, write in both directions, send a file, end.
[Record](proxy.md) it: [\`calibrate\`](calibration.md) names the [knobs](../reference/assumptions.md) that differ, and writes the values
that fit. Run the scenarios again with them.

## Rate limits, retries, time

- **Rate limits.** The simulator has none. Treat 429 as "later": wait for \`Retry-After\`, else 1s, 2s, 4s, and keep the order of
  each chat. \`--set limits.rate=10/1s\` shows what your service does.
- **Your retries.** Repeat a call after a network error, 429 and 5xx, but no other 4xx. An answer may be lost after the call took
  effect, so a repeated \`message\` may appear twice: repeat it only when that is better than none. The fault
  [\`drop\`](../reference/faults.md#calls-of-the-platform) loses an answer.
- **Their retries.** The simulator sends each event once. The platform may send it again or never. Answer 200 at once, store the
  event, then work. When a message seems to be missing, \`transcript\` has the messages before the request.
- **Time.** A bot, a summary and the network take time there. Do not expect an answer within a fixed time in the
  order of a test. Keep the clock of your server right, and compare no time of the platform with it.
  \`--set bot.delay=2s\` and \`--set summarize.latency=5s\` make the simulator slower.

## What the simulator cannot know

Each row is an [assumption](../reference/assumptions.md), which has its default and its knobs there. The last column keeps your service right
whatever the platform does.

| assumption | not said | so that every answer is fine |
|---|---|---|
`

/** What an intermediary does so that its behaviour is right for every value of the assumption. */
const ADVICE: Readonly<Record<AssumptionName, string>> = {
  'webhook.signature': 'Compare the first real event with `verify`. Keep header name and encoding in one place.',
  'webhook.json': 'Verify the raw bytes, then parse with a JSON parser. Match no text of the body.',
  'webhook.retry': 'Process an event that comes again without effect, and do not rely on one that failed.',
  'webhook.timeout': 'Answer within a second: store the event first, work afterwards.',
  'webhook.redirect': 'Answer at the very URL that is configured, without a redirect.',
  'webhook.order': 'Accept events of a chat in any order; a message may come before its request.',
  'webhook.idHeader': 'Recognize a repetition by chat, event and content, not by a header.',
  'typing.webhook': 'Ignore both typing events unless you show them, and do not wait for them.',
  'typing.response': 'Read only the status.',
  'typing.again': 'Send a new start before the timeout ends, at most every few seconds.',
  'typing.timeout': 'Send a positive number of milliseconds, or leave the field out.',
  'typing.clearOn': 'Send typing_stop before a message and before the end.',
  'typing.idle': 'Send typing calls only between start and end.',
  'errors.body': 'Decide by the status alone; log the body as text, which may be empty or HTML.',
  'errors.validation': 'Treat 400 and 422 alike: a mistake of yours, never repeated.',
  'errors.idMismatch': 'Send bot and chat of the same event; treat 400, 403 and 404 alike.',
  'summarize.errorStatus': 'Show no summary after any 4xx.',
  'summarize.count': 'Do not count characters yourself: call, and accept a refusal.',
  'summarize.text': 'Show the text as it is, with no check of form, length or language.',
  'summarize.latency': 'Call in the background with a time limit of 30 s, after the chat was accepted.',
  'availability.initial': 'Set the availability when your service starts.',
  'availability.otherQueues': 'Send `DEFAULT`.',
  'availability.missingQueue': 'Always send the queue.',
  'availability.missingReason': 'Always send a reason.',
  'availability.closedBlocksStart': 'Finish or end open chats before you close; show a refused start to the agent.',
  'time.format': 'Do not parse the time, or accept ISO 8601 with any offset and numbers.',
  'keys.handover': 'Read the key from the environment.',
  'keys.bot': 'Read the key from the environment.',
  'keys.more': 'Use one key per bot, chosen by the bot of the event. Accept an id as string or number.',
  'keys.shared': 'Use the bot API key only for chats, the handover key for all else.',
  'keys.graceful': 'Verify with a list of old and new key while you change it.',
  'request.repeat': 'Ignore a request of a chat that already waits or is taken over.',
  'request.forwardPending': 'Accept a message before the agent has accepted, and show it to the agent later.',
  'bot.delay': 'Do not rely on the order of messages of bot and agent in the transcript.',
  'start.unrequested': 'Start only after a request; show a 409 to the agent.',
  'start.again': 'Start once per request; treat 409 as "already taken over".',
  'end.idle': 'End only what you started; treat 409 as "already ended".',
  'message.requiresTakeover': 'Send messages only between start and end; show a refusal to the agent.',
  'message.allowEmpty': 'Send no empty message.',
  'messages.open': 'Match no text of the bot.',
  'messages.closed': 'Match no text of the bot.',
  'messages.entering': 'Do not announce the agent a second time; match no text of the bot.',
  'messages.left': 'Do not announce the end a second time; match no text of the bot.',
  'strict.sender': 'Always send a sender with name and avatar.',
  'buttons.schema': 'Send only label, and url or handover.',
  'limits.body': 'Split long messages; send files as links.',
  'limits.nesting': 'Send flat bodies.',
  'limits.rate': 'Treat 429 as "later", see above.',
  'limits.attachmentKb': 'Pass files on as a stream, with a limit of your own.',
  'attachments.auth': 'Download on the server, and send the handover key only to the host of the platform.',
  'attachments.ttl': 'Download when the event arrives, not when the agent clicks.',
  'attachments.whenEmpty': 'Treat a missing list, an empty list and an empty text alike.',
  'translation.match': 'Send codes in small letters, with and without region: `nb`, `nb-NO`.',
  'translation.engine': 'Show the text as it is, without a check of its content.',
  'transcript.text': 'Show the text that is there; store what your agent wrote yourself.',
  'transcript.state': 'Ignore the field; keep the state of a chat yourself.',
  'transcript.source': 'Show unknown sources as they are.',
  'transcript.takenOver': 'Only distinguish null from everything else.',
  'transcript.extra': 'Ignore fields that you do not know.',
  'transcript.handover': 'Require only the messages, and accept fields that are missing.',
  'transcript.noticeExchange': 'Do not take a message with an exchange id for an answer of the bot.',
  'transcript.agentFromBot': 'Do not decide by these fields who wrote; compare the name with your sender.',
  'ids.chat': 'Store ids as text of any length; check no form.',
  'ids.message': 'Store ids as text of any length; check no form.',
  'ids.user': 'Store ids as text of any length; check no form.',
  'ids.exchange': 'Store ids as text, or null.',
  'api.trailingSlash': 'Write the paths as in [endpoints](../reference/endpoints.md): a slash only after `message/`.',
  'api.byteOrderMark': 'Send UTF-8 without a byte order mark.',
  'api.contentEncoding': 'Do not compress requests.',
  'api.contentType': 'Always send `application/json`.',
  'api.answers':
    'Read answers by the names of their fields, ignore fields that you do not know, and never compare the text of an error.',
  'api.unknownFields': 'Send only the fields of the description.',
  'api.versions': 'Keep the version in the paths, not in the base URL; alert on 404 and 410.',
  'api.cors': 'Call the API from a server only, because a page would reveal the key.',
  'chat.idleTimeout': 'Treat a refused message as an ended chat, and tell the agent.',
}

const cell = (text: string) => text.replaceAll('|', '\\|')

export const goingLivePage = (): string =>
  BEGINNING + ASSUMPTIONS.map(({ name, open }) => `| \`${name}\` | ${cell(open)} | ${cell(ADVICE[name])} |\n`).join('')
