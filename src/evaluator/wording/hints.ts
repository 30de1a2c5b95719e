/** Renders what to try, in the words of scenario files or of the library. */
import { formatDuration } from '../../text/quantities.ts'
import { defineTexts } from '../../text/texts.ts'
import type { FailureHint } from '../failure.ts'
import { attemptText } from './happened.ts'
import { type Audience, renderCode, stepText, type TextsOf } from './parts.ts'

const webhookUrl = (audience: Audience) => (audience === 'test' ? 'webhook.url' : '--target')

const HINTS: TextsOf<FailureHint> = defineTexts({
  allow_time: (_, audience) =>
    audience === 'test'
      ? "Is it only slow? Allow more with { within: '5s' }."
      : 'Is it only slow? Allow more with within:, or with timeouts: { expect: … } for the whole scenario.',
  any_order: (_, audience) =>
    audience === 'test'
      ? 'Expectations are met in their order. Where the order does not matter, expect them side by side: await Promise.all([ … ]).'
      : 'Steps expect calls in their order. Where the order does not matter, put them into one all: [ … ].',
  since: (_, audience) =>
    audience === 'test'
      ? 'An expectation looks from the first thing the user did after the last one. { since } looks further back.'
      : 'A step looks at calls since the first stimulus of its turn. since: ID looks further back.',
  bearer_key:
    'Every call carries the header Authorization: Bearer <API_KEY>, with the key of the handover settings page.',
  chat_id: 'Is the chat id taken from the event that belongs to this conversation?',
  platform_address: ({ url }) =>
    `Does the intermediary know the address of the platform${url === null ? '' : ` (${url})`}?`,
  no_event: ({ step, verb }) =>
    `${stepText(step)} caused no webhook event: ${verb === 'press' ? 'is the handover closed?' : 'no agent has the chat, so the bot answered.'}`,
  event_refused: ({ result }) => `The webhook did not accept ${result.event}: ${attemptText(result)}`,
  answer_first: 'Answer the webhook first, and do the work after it.',
  platform_timeout: ({ ms }, audience) =>
    `The platform itself waits only ${formatDuration(ms)}: ${audience === 'test' ? "'webhook.timeout'" : 'config: { webhook.timeout: … }'} makes it wait longer.`,
  is_running: (_, audience) => `Is the intermediary running, and is ${webhookUrl(audience)} its webhook?`,
  verify_first: 'Does the intermediary verify the signature before it does anything else?',
  fault_refused: ({ faults }) =>
    `The fault ${faults.join(', ')} changed this event: if refusing it is right, say ack: non-2xx on the step.`,
  signed_correctly:
    'The event was signed correctly: is the key the same, and is the HMAC made of the raw bytes of the body?',
  redirect: ({ location }) =>
    `A redirect is not followed; is ${location ?? 'the address it leads to'} the webhook? Often only a final slash or http/https differs.`,
  webhook_address: (_, audience) => `Is ${webhookUrl(audience)} the address of the webhook, path included?`,
  only_200: 'Only 200 acknowledges this event.',
  async: 'Write async: true on the step, so that the scenario continues and later events release this one.',
  event_twice: 'The same event may come twice: acknowledge it again, and forward it once.',
  forwarded_again: 'Is an event that is delivered again, or answered late, forwarded again?',
  command_folder: 'Commands run in the folder of the driver file, without a shell.',
  broke_off: 'The connection broke while it answered: what does the log of the intermediary say?',
  desk_address: 'Is the help desk of the intermediary running where the driver file says?',
  desk_path: 'Does the help desk know this chat yet, and is the path in the driver file right?',
  earlier_run:
    'If the help desk knows this chat from an earlier run: the same seed gives the same chats. Restart it, or give another --seed.',
  answer_lost: 'The answer to the first was lost by a fault: allow the repetition with times: { min: 1, max: 2 }.',
  delivered_again:
    'An event was delivered more than once before: does the intermediary treat the repetition as a new event?',
  allow_call: ({ endpoint }, audience) =>
    audience === 'test'
      ? `If it is right, expect it, or allow it with assertClean({ allow: ['${endpoint}'] }).`
      : `If it is right, expect it, or allow it with strict: { allow: [${endpoint}] }.`,
  settle: 'If it is right, expect it. If it is only slow, give it time with timeouts: { settle: … }.',
  forwards_copies:
    'Does the intermediary forward everything the help desk reports, the copies of what users wrote included? Forward only what agents write.',
  current_chat:
    'Is "the current chat" kept in one variable for all conversations? Take the chat id from the event, and from the conversation the agent writes in.',
} satisfies TextsOf<FailureHint>)

export const hintText = (hint: FailureHint, audience: Audience): string => renderCode(HINTS, hint, audience)
