/** Generates docs/how-to/going-live.md: what changes on the real platform, and how to be safe where it may differ. */
import { groupBy } from '../src/base/objects.ts'
import { ASSUMPTIONS, type AssumptionName } from '../src/platform/contract/assumptions.ts'

const BEGINNING = `# Going live

The simulator and the real platform differ in a few settings, and in what the platform's description leaves open. Of handover-sim,
only \`handover-sim/signature\` belongs in production.

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

Read each from the environment, and end your service when one is missing.

## Checklist

1. All shipped scenarios pass, warnings included:

\`\`\`sh
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --strict
\`\`\`

\`--strict\` ends with 4 when a scenario could not be tried. Leave out what your help desk, or its driver, does not have:

| without | add |
|---|---|
| a queue (\`does.announce\`), transfers (\`does.transfer\`) | \`--not-tag queue --skip "Agent transfers"\` |
| the verbs \`type\` and \`stop\` | \`--not-tag typing\` |
| the verbs \`away\` and \`back\` | \`--skip "Closed hours"\` |
| a [\`target\`](../reference/driver.md#target) in the driver | \`--not-tag restart\` |

It ends with 1 for a [warning](../reference/lint.md) too: send each message with a \`sender\` that has name and avatar, and \`typing_stop\`
before a message and before the end.

2. They also pass when the platform decides the other way:

\`\`\`sh
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --set errors.body=empty --set errors.validation=422 --set webhook.json=spaced --set ids.chat=hex24 --set ids.message=uuid --set transcript.text=both
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --set webhook.retry=1s,5s --set webhook.order=none --set typing.webhook=off
\`\`\`

3. Your service works with other keys:

\`\`\`sh
npx handover-sim run --builtin --target http://127.0.0.1:3000/webhook --agent-driver driver.yaml --api-key another-key --bot-api-key another-bot-key
\`\`\`

4. The first real event, saved byte for byte, has the signature that you expect:

\`\`\`sh
npx handover-sim verify --body body.json --signature "$SIGNATURE" --key-env HANDOVER_API_KEY
\`\`\`

5. No variable of the simulator is set in production: \`HANDOVER_SIM_URL\`, \`HANDOVER_SIM_API_KEY\`, \`HANDOVER_SIM_BOT_API_KEY\`.
6. Logs have chat id, event, status and duration of each call, and neither keys nor texts of users.
7. You play one conversation by hand on the platform (press, accept, write in both directions, send a file, end) and
   [record](proxy.md) it. [\`calibrate\`](calibration.md) names the knobs that differ; run the scenarios again with its values.

## Rate limits, retries, time

- **Rate limits.** The simulator has none; \`--set limits.rate=10/1s\` adds one. After 429 wait for \`Retry-After\`, else 1s, 2s, 4s,
  and keep the order of each chat.
- **Your retries.** Repeat a call after a network error, 429 and 5xx, but no other 4xx. An answer may be lost
  ([\`drop\`](../reference/faults.md#drop)) after the call took effect, so a repeated \`message\` may appear twice.
- **Their retries.** The platform may send an event again or never. Answer 200 at once, store the event, then work.
- **Time.** A bot, a summary and the network take time. Expect no answer within a fixed time, and compare no time of the platform
  with your clock. \`--set bot.delay=2s\` and \`--set summarize.latency=5s\` make the simulator slower.

## What the simulator cannot know

What to do so that your service is right whatever the platform does. [Assumptions](../reference/assumptions.md) says what each is
about.

| assumptions | so that every answer is fine |
|---|---|
`

const KEY_FROM_ENVIRONMENT = 'Read the key from the environment.'
const NO_BOT_TEXT = 'Match no text of the bot, and do not announce the agent or the end a second time.'
const ONE_CONVERSATION =
  'Open nothing new for a repeated request. Store every message: a copy and a user who repeats a text look the same.'
const ANSWER_SOON = 'Answer at the configured URL within a second: store the event first, work afterwards.'
const YOUR_MISTAKE =
  'Send bot and chat of the same event. Treat 400, 403, 404 and 422 alike: your mistake, never repeated.'
const NO_SUMMARY = 'Do not count characters: call, and show no summary after any 4xx.'
const TEXT_AS_IT_IS = 'Show the text as it is, without a check of its content.'
const QUEUE_AND_REASON = 'Always send the queue `DEFAULT` and a reason.'
const ONCE = 'Start once per request, and end once what you started; treat 409 as done.'
const BETWEEN = 'Send messages and typing calls only between start and end; show a refusal to the agent.'
const TYPED_BUTTONS =
  'Send `button_type`, `label` and `value`, as the platform’s own clients have them; a link also with `url`. Read no field of a button but its label.'
const SMALL_BODIES = 'Split long messages, send files as links, and do not nest objects.'
const DOWNLOAD =
  'Download on the server when the event arrives, with a limit of your own. Send the handover key only to the host of the platform.'
const UNKNOWN_VALUES = 'Ignore fields and values that you do not know; store the state of a chat yourself.'
const WHO_WROTE = 'Do not decide by these fields who wrote; compare the name with your sender.'
const IDS = 'Store ids as text of any length, exchange ids also as null; check no form.'
const GONE =
  'Treat a 404 for a chat that worked, and a refused message, as the end of the chat: make no more calls for it, and tell the agent.'
const PLAIN_JSON = 'Send `application/json`, as UTF-8 without a byte order mark and without compression.'

/** What an intermediary does so that its behaviour is right for every value of the assumption. */
const ADVICE: Readonly<Record<AssumptionName, string>> = {
  'webhook.signature': 'Compare the first real event with `verify`.',
  'webhook.json': 'Verify the raw bytes, then parse with a JSON parser.',
  'webhook.retry': ONE_CONVERSATION,
  'webhook.timeout': ANSWER_SOON,
  'webhook.redirect': ANSWER_SOON,
  'webhook.order': 'Accept events of a chat in any order; a message may come before its request.',
  'webhook.basicAuth': 'Let the signature decide who may call, and put no user and password into the URL.',
  'webhook.idHeader': ONE_CONVERSATION,
  'typing.webhook': 'Ignore both typing events, and do not wait for them.',
  'typing.response': 'Read only the status.',
  'typing.again': 'Repeat typing_start before its timeout ends, at most every few seconds.',
  'typing.timeout': 'Send a positive timeout, or none.',
  'typing.clearOn': 'Send typing_stop before a message and before the end.',
  'typing.idle': BETWEEN,
  'errors.body': 'Decide by the status alone; log the body as text, which may be empty or HTML.',
  'errors.validation': YOUR_MISTAKE,
  'errors.idMismatch': YOUR_MISTAKE,
  'summarize.errorStatus': NO_SUMMARY,
  'summarize.count': NO_SUMMARY,
  'summarize.text': TEXT_AS_IT_IS,
  'summarize.latency': 'Call in the background with a time limit of 30 s.',
  'availability.initial': 'Set the availability when your service starts.',
  'availability.otherQueues': QUEUE_AND_REASON,
  'availability.missingQueue': QUEUE_AND_REASON,
  'availability.missingReason': QUEUE_AND_REASON,
  'availability.closedBlocksStart': 'Finish open chats before you close; show a refused start to the agent.',
  'time.format': 'Do not parse the time.',
  'keys.handover': KEY_FROM_ENVIRONMENT,
  'keys.bot': KEY_FROM_ENVIRONMENT,
  'keys.more': 'Use one key per bot, chosen by the bot of the event. Accept an id as string or number.',
  'keys.shared': 'Use the bot API key only for chats, the handover key for all else.',
  'keys.graceful': 'Verify with a list of old and new key while you change it.',
  'request.repeat': 'Ignore a request of a chat that already waits or is taken over.',
  'request.forwardPending': 'Accept a message before the agent has accepted, and show it later.',
  'request.closedButton':
    'Expect requests at any time, and none while closed: set the availability, and read no meaning into silence.',
  'bot.delay': 'Do not rely on the order of messages of bot and agent in the transcript.',
  'start.unrequested': 'Start only after a request; show a 409 to the agent.',
  'start.again': ONCE,
  'end.idle': ONCE,
  'message.requiresTakeover': BETWEEN,
  'message.allowEmpty': 'Send no empty message.',
  'messages.open': NO_BOT_TEXT,
  'messages.closed': NO_BOT_TEXT,
  'messages.entering': NO_BOT_TEXT,
  'messages.left': NO_BOT_TEXT,
  'strict.sender': 'Always send a sender with name and avatar.',
  'buttons.form': TYPED_BUTTONS,
  'buttons.schema': TYPED_BUTTONS,
  'limits.body': SMALL_BODIES,
  'limits.nesting': SMALL_BODIES,
  'limits.rate': 'Treat 429 as "later", see above.',
  'limits.attachmentKb': DOWNLOAD,
  'attachments.auth': DOWNLOAD,
  'attachments.ttl': DOWNLOAD,
  'attachments.whenEmpty': 'Treat a missing list, an empty list and an empty text alike.',
  'translation.match': 'Send codes in small letters, with and without region: `nb`, `nb-NO`.',
  'translation.engine': TEXT_AS_IT_IS,
  'transcript.text': 'Store what your agent wrote yourself.',
  'transcript.state': UNKNOWN_VALUES,
  'transcript.source': UNKNOWN_VALUES,
  'transcript.takenOver': 'Only distinguish null from everything else.',
  'transcript.extra': UNKNOWN_VALUES,
  'transcript.handover': 'Require only the messages.',
  'transcript.noticeExchange': WHO_WROTE,
  'transcript.exchangeType': WHO_WROTE,
  'transcript.agentFromBot': WHO_WROTE,
  'ids.chat': IDS,
  'ids.message': IDS,
  'ids.user': IDS,
  'ids.exchange': IDS,
  'api.trailingSlash': 'Write a slash only after `message/`.',
  'api.byteOrderMark': PLAIN_JSON,
  'api.contentEncoding': PLAIN_JSON,
  'api.contentType': PLAIN_JSON,
  'api.answers': 'Read answers by the names of their fields, ignore others, and never compare the text of an error.',
  'api.unknownFields': 'Send only the fields of the description.',
  'api.nulls': 'Leave out a field that has no value: configure the serialiser to omit null.',
  'api.emptyFields': 'Leave out a field that has no value.',
  'api.versions': 'Write the version in the paths, not in the base URL; alert on 404 and 410.',
  'api.cors': 'Call the API from a server only, because a page would reveal the key.',
  'chat.idleTimeout': GONE,
  'chat.closed': GONE,
  'chat.deleted': GONE,
  'chat.reopens': 'Show a message of a chat that has ended at your side, and let an agent take the chat over again.',
}

/** One row for all assumptions with the same advice. */
export function goingLivePage(): string {
  let page = BEGINNING
  for (const [advice, assumptions] of groupBy(ASSUMPTIONS, ({ name }) => ADVICE[name])) {
    const names = assumptions.map(({ name }) => `\`${name}\``).join(', ')
    page += `| ${names} | ${advice.replaceAll('|', '\\|')} |\n`
  }
  return page
}
