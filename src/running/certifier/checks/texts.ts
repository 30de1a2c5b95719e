/** TXT: texts of every kind, in both directions. */

import { counted } from '../../../base/text/quantities.ts'
import type { Level } from '../../../evaluation/finding.ts'
import { driverFailureText } from '../../../platform/wording/failures.ts'
import { type CheckChat, expectAcknowledged, openTakenOver } from '../chat.ts'
import type { CheckDefinition } from '../check.ts'
import type { CheckContext } from '../context.ts'
import { compareSamples, type ReceivedText, receivedTexts, type Sample, UNTRANSLATED } from '../exchange.ts'
import { suffix } from '../words.ts'

export const TEXT_CHECKS: readonly CheckDefinition[] = [
  {
    id: 'TXT-01',
    level: 'MUST',
    profile: 'flow',
    rules: ['E6.2', 'EV4', 'WH4'],
    needs: ['accept', 'says', 'inbox'],
    knobs: UNTRANSLATED,
    title: 'Every character arrives, in both directions',
    sends:
      'Emoji with joiners, Arabic, combining marks, characters above U+FFFF, line breaks and spaces at the ends, by the user and by the agent.',
    observes: 'What the agent sees, and the calls of message.',
    passes: 'All code points are identical.',
    run: check => exchangeTexts(check, 'MUST', CHARACTERS),
  },
  {
    id: 'TXT-02',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['GP'],
    needs: ['accept', 'says', 'inbox'],
    knobs: UNTRANSLATED,
    title: 'Markup is text, and is not escaped',
    sends: 'HTML, a script, entities and Markdown, by the user and by the agent.',
    observes: 'What the agent sees, and the calls of message.',
    passes: 'The texts are identical: not escaped, not escaped twice, not removed.',
    run: check => exchangeTexts(check, 'SHOULD', MARKUP),
  },
  {
    id: 'TXT-03',
    level: 'SHOULD',
    profile: 'flow',
    rules: ['GP'],
    needs: ['accept', 'says', 'inbox'],
    knobs: UNTRANSLATED,
    title: 'A long message arrives whole',
    sends: 'A message of 64 KB, by the user and by the agent.',
    observes: 'The answer of the webhook, what the agent sees, and the calls of message.',
    passes:
      'The webhook answers 200; the text arrives whole, in one message or in several, or the help desk tells the agent that it is too long.',
    run: exchangeLongText,
  },
]

function sample(name: string, token: string, text: string): Sample {
  return { name, token, text }
}

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

async function exchangeTexts(check: CheckContext, level: Level, samples: readonly Sample[]): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  for (const { text } of samples) expectAcknowledged(check, await chat.says(text))
  const seen = await receivedTexts(check, chat, 'to_agent', samples)
  compareSamples(check, { level, direction: 'to_agent', samples }, seen)
  for (const { text } of samples) await chat.agent('says', { text })
  const sent = await receivedTexts(check, chat, 'to_user', samples)
  compareSamples(check, { level, direction: 'to_user', samples }, sent)
}

/** 64,000 bytes, with numbers that show where it was cut. */
const LONG = Array.from({ length: 6_400 }, (_, index) => `word-${String(index).padStart(4, '0')}`)
  .join(' ')
  .padEnd(64_000, '.')
const LONG_SAMPLES = [sample('a message of 64 KB', 'word-0000', LONG)]
/** The end of the long text, which arrives last. */
const LAST_WORD = [sample('the end of a message of 64 KB', 'word-6399', LONG)]

async function exchangeLongText(check: CheckContext): Promise<void> {
  const chat = await openTakenOver(check, 'first')
  const { outcome, failure = null } = await chat.tryAgent('says', { text: LONG })
  if (outcome === 'failed')
    // A help desk that refuses the text has told the agent.
    check.report('INFO', 'long-text-refused', {
      happened: `The help desk did not take a message of 64 KB from the agent${suffix(failure && driverFailureText(failure))}.`,
      hint: 'Nothing must be changed, if the agent sees the error: a long text arrives whole, or the agent learns that it is too long.',
      details: { failure },
    })
  else await compareLongText(check, chat, 'to_user')
  expectAcknowledged(check, await chat.says(LONG), 'SHOULD')
  await compareLongText(check, chat, 'to_agent')
}

async function compareLongText(check: CheckContext, chat: CheckChat, direction: 'to_agent' | 'to_user'): Promise<void> {
  const received = await receivedTexts(check, chat, direction, LAST_WORD)
  // Several messages may carry a long text; others, such as a notice of the queue, come before it.
  const first = received.findIndex(({ text }) => text.includes('word-0000'))
  const parts: readonly ReceivedText[] = first === -1 ? [] : received.slice(first)
  if (direction === 'to_user' && parts.length > 1)
    check.report('INFO', 'long-text-split', {
      happened: `A message of 64 KB was sent as ${counted(parts.length, 'message')}.`,
      hint: 'Nothing must be changed: a long text may arrive in one message or in several.',
      details: { parts: parts.length },
      entries: parts,
    })
  const last = parts.at(-1)
  const whole = parts.map(({ text }) => text).join('')
  const all = last === undefined ? [] : [...parts, { text: whole, seq: last.seq }]
  compareSamples(check, { level: 'SHOULD', direction, samples: LONG_SAMPLES }, all)
}
