/** Plans what a person does in the real chat to see what a recording does not show, in as few chats as possible. */
import { ASSUMPTIONS, type AssumptionName } from '../../platform/contract/assumptions.ts'
import type { CalibrationResult } from './calibration.ts'
import type { Status } from './knowledge.ts'

/** One step of a person; the assumptions it shows, none for a step that only prepares. */
export interface PlanStep {
  readonly text: string
  readonly shows: readonly AssumptionName[]
}

/** The steps in one chat of the real platform. */
export interface PlannedChat {
  readonly title: string
  readonly steps: readonly PlanStep[]
}

/** Experiments that need a chat in the same state. */
interface ExperimentGroup {
  /** Null for any state. */
  readonly begins: Status | null
  /** The state afterwards; absent when it stays. */
  readonly ends?: Status
  /** What a person does to see an assumption. */
  readonly experiments: Readonly<Partial<Record<AssumptionName, string>>>
}

/** In the order in which one chat needs the fewest changes of its state. */
const EXPERIMENTS: readonly ExperimentGroup[] = [
  {
    begins: null,
    experiments: {
      'errors.body': 'Call start without a chat_id.',
      'errors.validation': 'Call start without a chat_id.',
      'errors.idMismatch':
        'Call transcript with the id of this chat and the bot_id of another bot of yours, whose traffic is in the recording.',
      'summarize.errorStatus': 'Call summarize in a chat in which the user has written at most one message.',
      'summarize.count':
        'In a new chat, write two messages of ten emoji each; read the transcript, and call summarize.',
      'availability.otherQueues': 'Call availability with OPEN and the queue SECOND.',
      'availability.missingQueue': 'Call availability with OPEN and a reason, without a queue.',
      'availability.missingReason': 'Call availability with OPEN and the queue DEFAULT, without a reason.',
      'keys.shared':
        'Read the transcript (GET api/v1/chats/...) with the handover key. The recording must show keys: HAR or exchanges.',
    },
  },
  {
    begins: 'bot',
    experiments: {
      'typing.idle': 'Call typing_stop.',
      'end.idle': 'End the handover once more.',
      'message.requiresTakeover': 'Send a message to the user.',
    },
  },
  {
    begins: 'bot',
    ends: 'agent',
    experiments: {
      'start.unrequested': 'Take the chat over without a request. If it is refused, ask for an agent and take it over.',
    },
  },
  {
    begins: 'pending',
    experiments: {
      'request.repeat': 'Press the button that asks for an agent once more.',
    },
  },
  {
    begins: 'pending',
    ends: 'agent',
    experiments: {
      'availability.closedBlocksStart':
        'Set availability to CLOSED, take the chat over, and set it to OPEN again. If it is refused, take the chat over now.',
      'request.forwardPending':
        'Call transcript, write as the user, take the chat over, and read the transcript (GET api/v1/chats/...).',
    },
  },
  {
    begins: 'agent',
    experiments: {
      'webhook.retry':
        'Let the webhook answer 500 to two messages of the user with different sentences, one after the other, and wait for some minutes after each.',
      'webhook.timeout': 'Let the webhook answer two messages of the user after two minutes each, one after the other.',
      'webhook.redirect':
        'Let the webhook answer a message of the user with 307 and the Location of another path of the recorded address; then write once more.',
      'webhook.order':
        'Let the webhook answer a message of the user after 5 s, and meanwhile write five messages with different texts; then read the transcript.',
      'typing.again':
        'Show the typing indicator for 5 s (timeout 5000), and after 2 s for 10 s more; wait until it is hidden.',
      'typing.timeout': 'Call typing_start with a timeout of 0.',
      'start.again': 'Take the same chat over once more.',
      'message.allowEmpty': 'Send an empty message.',
      'strict.sender': 'Send a message without a sender.',
      'buttons.schema': 'Send a message with a button that has only a url.',
      'limits.body': 'Send messages of 100 kB, 1 MB, 2 MB, 4 MB ... until one is refused.',
      'limits.nesting': 'Send a message with a button whose field `more` is an array nested 300 levels deep.',
      'limits.rate': 'Call typing_stop as often as you can, until it is refused with 429; at most for a minute.',
      'attachments.auth':
        'Take the chat over with supports_attachment, let the user send a file, and open its link without a key, through the recording.',
      'attachments.ttl': 'Open the link of an old attachment, through the recording.',
      'api.trailingSlash': 'Call typing_stop/ (with a slash at the end).',
      'api.byteOrderMark':
        'Call typing_stop with a byte order mark before the body. The recording must have bytes: HAR or exchanges.',
      'api.contentEncoding': 'Call typing_stop with a body compressed by gzip, and Content-Encoding: gzip.',
      'api.contentType': 'Call typing_stop with Content-Type: text/plain.',
      'api.unknownFields': 'Call typing_stop with a further field in the body, such as "note": 1.',
      'api.nulls': 'Call typing_start with "timeout": null.',
      'api.emptyFields': 'Call message with "buttons": [].',
      'api.versions': 'Call api/v3/handover/typing_stop.',
      'chat.idleTimeout': 'Leave the chat alone for a day, then read the transcript (GET api/v1/chats/...).',
    },
  },
  {
    begins: 'agent',
    ends: 'pending',
    experiments: {
      'typing.clearOn':
        'Show the typing indicator for 5 s and send a message meanwhile; wait 10 s, and let the user write. Show it again for 5 s, and end the handover meanwhile; wait 10 s, and ask for an agent.',
    },
  },
]

const EXPERIMENTS_IN_OTHER_LANGUAGE: readonly ExperimentGroup[] = [
  {
    begins: null,
    ends: 'agent',
    experiments: {
      'translation.match':
        'Take the chat over with the language_codes [fr], send a message, and read the transcript (GET api/v1/chats/...). Then again with a code of the language of the chat and another region, such as en-NZ for en.',
      'transcript.text':
        'Take the chat over with the language_codes [fr], send a message, and read the transcript (GET api/v1/chats/...).',
    },
  },
]

/** How a person brings a chat into a state. */
const PREPARATIONS: Readonly<Record<Status, string>> = {
  bot: 'End the handover.',
  pending: 'Ask for an agent with the button.',
  agent: 'Take the chat over.',
}

/** The recording has to show the beginning of a chat, so that later steps are certain. */
const OPENING = 'Open a new chat, ask for an agent with the button, take the chat over, and end the handover.'

/** Plans experiments for assumptions that only provoked traffic shows and these recordings do not. */
export function planExperiments({ assumptions }: CalibrationResult): PlannedChat[] {
  const open = ASSUMPTIONS.filter(
    ({ name, class: shown }) =>
      shown === 'provoked' &&
      assumptions.some(assumption => assumption.name === name && assumption.status === 'not seen'),
  ).map(({ name }) => name)
  return [
    planChat('A chat', open, EXPERIMENTS),
    planChat('A chat in a language that is not French', open, EXPERIMENTS_IN_OTHER_LANGUAGE),
  ].filter(({ steps }) => steps.length > 1)
}

function planChat(title: string, open: readonly AssumptionName[], groups: readonly ExperimentGroup[]): PlannedChat {
  const steps: { text: string; shows: AssumptionName[] }[] = [{ text: OPENING, shows: [] }]
  let status: Status = 'bot'
  for (const { begins, ends, experiments } of groups) {
    for (const name of open) {
      const text = experiments[name]
      if (text === undefined) continue
      if (begins !== null && begins !== status) {
        // Only a chat that is taken over is ended, and only one of the bot has no request.
        const path: Status[] = begins === 'agent' && status === 'bot' ? ['pending', 'agent'] : [begins]
        for (const step of path) steps.push({ text: PREPARATIONS[step], shows: [] })
      }
      const sameStep = steps.find(step => step.text === text)
      if (sameStep === undefined) steps.push({ text, shows: [name] })
      else sameStep.shows.push(name)
      status = ends ?? begins ?? status
    }
  }
  return { title, steps }
}
