/** TXT: texts of every kind, in both directions. */
import { type CheckChat, expectAcknowledged } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext } from '../context.ts'
import {
  compareSamples,
  type ReceivedText,
  type Sample,
  textsSeenByAgent,
  textsSentToUser,
  UNTRANSLATED,
} from '../exchange.ts'
import type { FindingLevel } from '../findings/index.ts'

export const TEXT_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'TXT-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E6.2', 'EV4', 'WH4'],
    needs: ['accept', 'says', 'inbox'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'Every character arrives, in both directions',
      sends:
        'Emoji with joiners, Arabic, combining marks, characters above U+FFFF, line breaks and spaces at the ends, by the user and by the agent.',
      observes: 'What the agent sees, and the calls of message.',
      passes: 'All code points are identical.',
    },
    run: check => exchangeTexts(check, 'MUST', CHARACTERS),
  },
  {
    id: 'TXT-02',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['GP'],
    needs: ['accept', 'says', 'inbox'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'Markup is text, and is not escaped',
      sends: 'HTML, a script, entities and Markdown, by the user and by the agent.',
      observes: 'What the agent sees, and the calls of message.',
      passes: 'The texts are identical: not escaped, not escaped twice, not removed.',
    },
    run: check => exchangeTexts(check, 'SHOULD', MARKUP),
  },
  {
    id: 'TXT-03',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['GP'],
    needs: ['accept', 'says', 'inbox'],
    knobs: UNTRANSLATED,
    texts: {
      title: 'A long message arrives whole',
      sends: 'A message of 64 KB, by the user and by the agent.',
      observes: 'The answer of the webhook, what the agent sees, and the calls of message.',
      passes:
        'The webhook answers 200; the text arrives whole, in one message or in several, or the help desk tells the agent that it is too long.',
    },
    run: exchangeLongText,
  },
]

const sample = (name: string, token: string, text: string): Sample => ({ name, token, text })

/** Written with escapes, so that no editor normalises them. */
const CHARACTERS: readonly Sample[] = [
  sample(
    'an emoji with joiners',
    'emoji-1',
    'emoji-1 \u{1f469}\u{1f3fd}\u200d\u{1f4bb} \u{1f3f3}\ufe0f\u200d\u{1f308} \u{1f1f3}\u{1f1f4}',
  ),
  sample('an Arabic text', 'arabic-2', 'arabic-2 \u0627\u0644\u0633\u0651\u064e\u0644\u0627\u0645\u064f \u200f!'),
  sample('combining marks', 'marks-3', 'marks-3 e\u0301 \u00e9 A\u030a \u212b n\u0303'),
  sample('characters above U+FFFF', 'astral-4', 'astral-4 \u{1d4b3} \u{20bb7} \u{10348}'),
  sample('a text of several lines', 'lines-5', 'lines-5\nsecond line\n\nfourth line'),
  sample('a text with spaces at its ends', 'spaces-6', '  spaces-6  '),
]

const MARKUP: readonly Sample[] = [
  sample('a text with HTML', 'html-1', 'html-1 <b>bold</b> <i class="x">&</i>'),
  sample('a text with a script', 'script-2', 'script-2 <script>alert("2")</script>'),
  sample('a text with entities', 'entities-3', 'entities-3 Tom & Jerry, 1 < 2, &amp; is how HTML writes it'),
  sample(
    'a text with Markdown',
    'markdown-4',
    'markdown-4 **bold** _it_ `code` [link](https://shop.example.test) # no title',
  ),
]

async function exchangeTexts(check: CheckContext, level: FindingLevel, samples: readonly Sample[]): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  for (const { text } of samples) expectAcknowledged(check, await chat.says(text))
  compareSamples(check, level, 'to_agent', samples, await textsSeenByAgent(check, chat, samples))
  for (const { text } of samples) await chat.agent('says', { text })
  compareSamples(check, level, 'to_user', samples, await textsSentToUser(check, chat, samples))
}

/** 64,000 bytes, with numbers that show where it was cut. */
const LONG = Array.from({ length: 6_400 }, (_, index) => `word-${String(index).padStart(4, '0')}`)
  .join(' ')
  .padEnd(64_000, '.')

const LONG_SAMPLE = sample('a message of 64 KB', 'word-0000', LONG)

async function exchangeLongText(check: CheckContext): Promise<void> {
  const chat = await check.chat('first')
  await chat.takeOver()
  await agentWritesLongText(check, chat)
  const answer = await chat.says(LONG)
  expectAcknowledged(check, answer, 'SHOULD')
  const received = joined(partsOf(await textsSeenByAgent(check, chat, [LAST_WORD])))
  compareSamples(check, 'SHOULD', 'to_agent', [LONG_SAMPLE], received)
}

/** A help desk that refuses the text has told the agent. */
async function agentWritesLongText(check: CheckContext, chat: CheckChat): Promise<void> {
  const call = await chat.tryAgent('says', { text: LONG })
  if (call.outcome === 'failed') {
    check.report('INFO', 'long-text-refused', { failure: call.failure ?? null }, [])
    return
  }
  const parts = partsOf(await textsSentToUser(check, chat, [LAST_WORD]))
  if (parts.length > 1) check.report('INFO', 'long-text-split', { parts: parts.length }, parts)
  compareSamples(check, 'SHOULD', 'to_user', [LONG_SAMPLE], joined(parts))
}

/** The end of the long text, which arrives last. */
const LAST_WORD = sample('the end of a message of 64 KB', 'word-6399', LONG)

/** Several messages may carry a long text; others, such as a notice of the queue, come before it. */
const partsOf = (texts: readonly ReceivedText[]): readonly ReceivedText[] => {
  const first = texts.findIndex(({ text }) => text.includes(LONG_SAMPLE.token))
  return first === -1 ? [] : texts.slice(first)
}

const joined = (parts: readonly ReceivedText[]): readonly ReceivedText[] => {
  const last = parts.at(-1)
  return last === undefined ? [] : [...parts, { text: parts.map(({ text }) => text).join(''), seq: last.seq }]
}
