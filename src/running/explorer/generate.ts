/** Generates conversations from the model: each from one number, and the one of several that tries most that is new. */
import { type GeneratorValue, gen, integer, nat, noBias, sample, string } from 'fast-check'
import { hashWords } from '../../base/runtime/random.ts'
import { namedTexts, TEXT_NAMES } from '../../evaluation/scenario/compile/step-compiler.ts'
import {
  type Act,
  type ActFault,
  type ActFile,
  type ActKind,
  type ActSequence,
  type ActText,
  canHaveFault,
  isPossible,
  isRequest,
  type ModelState,
  type Pace,
  ruleOf,
  startState,
  stateAfter,
} from './model.ts'
import { type Situations, situationsOf } from './situations.ts'

/** What the generated conversations may contain. */
export interface Vocabulary {
  readonly kinds: readonly ActKind[]
  readonly faults: readonly ActFault[]
  readonly knobs: readonly Readonly<Record<string, unknown>>[]
  readonly hasFiles: boolean
  /** Without `slow`, which is always possible. */
  readonly paces: readonly Pace[]
}

/** Values that the platform's description leaves open and that no intermediary should depend on. */
export const VARIED_KNOBS: Vocabulary['knobs'] = [
  { 'webhook.json': 'ascii' },
  { 'webhook.json': 'reordered' },
  { 'webhook.json': 'pretty' },
  { 'api.answers': 'extra' },
  { 'api.answers': 'reordered' },
  { 'typing.webhook': 'off' },
  { 'typing.response': 'event' },
  { 'typing.clearOn': ['end', 'message'] },
  { 'ids.chat': 'hex24' },
  { 'ids.message': 'uuid' },
  { 'ids.user': 'hex32' },
  { 'attachments.whenEmpty': 'absent' },
  { 'request.repeat': 'ignore' },
  { 'time.format': 'epoch' },
]

/** Empty texts cannot be sent, a help desk may split or refuse very long ones, and no keyboard types control characters. */
const LEFT_OUT = ['empty', 'only_space', 'long', 'control']
const HARD_TEXTS = TEXT_NAMES.filter(name => !LEFT_OUT.includes(name))

/** Kinds of texts. The values of `plain` occur once, so that they are recognized in another chat. */
const TEXT_KINDS: Readonly<Record<string, readonly string[] | ((generate: GeneratorValue) => string)>> = {
  digits: generate => String(generate(integer, { min: 0, max: 10 ** 9 })),
  short: ['ok', 'no', '?', '1', '0', '.', 'k', '👍', 'ja'],
  command: ['/start', '/end', '/help me', 'stop', 'STOP', 'end', 'quit', 'help', '#close', '!accept', 'agent'],
  word: [
    'constructor',
    '__proto__',
    'NaN',
    'Infinity',
    '-1',
    '1e5',
    'on',
    'off',
    'yes',
    '[]',
    '{}',
    '""',
    '%',
    '&',
    '\\',
  ],
  markup: [
    '<b>bold</b>',
    '<br>',
    '<3',
    'a < b && c > d',
    '&amp;',
    '**bold**',
    '`code`',
    '[a](http://a.test)',
    '<!-- -->',
  ],
  lines: ['first\nsecond', 'one\n\ntwo', '\nbelow an empty line', 'name: Ann\nage: 7', '- a\n- b', '> quoted\nanswer'],
  link: [
    'https://shop.example.test/a?b=c&d=%20#e',
    'mail me at ann@example.test',
    'www.example.test',
    'file:///etc/hosts',
  ],
  capitals: generate => `WHERE IS MY PARCEL ${generate(nat, { max: 99 })}`,
  long: generate => 'All of this text has to come. '.repeat(generate(integer, { min: 10, max: 60 })).trim(),
  // Begins with a letter, because the spaces around a text have a kind of their own.
  unicode: generate => `x${generate(string, { unit: 'grapheme', minLength: 1, maxLength: 40 })}x`,
}

/** Kinds with many values come up twice as often. */
const DRAWN_KINDS = [...Object.keys(TEXT_KINDS), 'short', 'command', 'word', 'markup']

const FILES: readonly ActFile[] = [
  { name: 'receipt.pdf', type: 'application/pdf', size_kb: 87 },
  { name: 'kvittering æøå (1).png', type: 'image/png', size_kb: 212 },
  { name: 'empty.txt', type: 'text/plain', size_kb: 0 },
  { name: 'UPPER.JPEG', type: 'image/jpeg', size_kb: 1 },
  { name: 'no extension', type: 'application/octet-stream', size_kb: 3 },
  { name: 'a&b=c#d.csv', type: 'text/csv', size_kb: 2 },
]

/** How likely an act is in a state of its chat, beside the taste of the conversation. */
const WEIGHTS: Readonly<Record<ActKind, number>> = {
  user: 4,
  press: 2,
  close: 1,
  delete: 1,
  accept: 8,
  says: 4,
  type: 2,
  stop: 2,
  leave: 3,
  away: 1,
  back: 4,
  restart: 1,
}

/** The conversation that this number stands for. */
export function generateSequence(seed: number, vocabulary: Vocabulary): ActSequence {
  const arbitrary = gen().map(generate => drawSequence(seed, vocabulary, generate))
  const [sequence] = sample(arbitrary, { seed, numRuns: 1 })
  if (sequence === undefined) throw new Error('fast-check generated nothing.')
  return sequence
}

/** Without the preference of fast-check for the ends of a range. */
const evenly = (max: number) => noBias(nat({ max }))

function drawSequence(seed: number, vocabulary: Vocabulary, generate: GeneratorValue): ActSequence {
  const below = (bound: number) => generate(evenly, bound - 1)
  const oneIn = (times: number) => below(times) === 0
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)]!

  const isOfDesk = seed % DESK_SHARE === 0
  const chats = pick(isOfDesk ? [1, 1, 1, 2] : [1, 1, 1, 2, 2, 3])
  // Each further chat takes some acts. Conversations with acts of the whole desk run alone, so they are short.
  const usual = (isOfDesk ? 4 + below(4) : 3 + below(10)) + 3 * (chats - 1)
  const length = oneIn(8) && !isOfDesk ? 12 + below(20) : usual
  // Each conversation prefers some acts and leaves out others: long runs of one kind come up that way.
  const tastes = new Map<ActKind, number>()
  for (const kind of vocabulary.kinds) {
    if (ruleOf(kind).isOfDesk) tastes.set(kind, isOfDesk ? 2 : 0)
    else if (kind === 'press' || kind === 'accept') tastes.set(kind, isOfDesk ? 3 : 1)
    else tastes.set(kind, pick([0, 1, 1, 3]))
  }
  const isHuman = oneIn(2)
  const isPlain = oneIn(4)
  const knobs = oneIn(5) && vocabulary.knobs.length > 0 ? pick(vocabulary.knobs) : {}
  const faultAt = oneIn(5) ? below(length) : -1
  const slowAt = oneIn(SLOW_SHARE) ? below(length) : -1

  const written: {
    readonly chat: number
    readonly kind: ActKind
    readonly text: ActText
    readonly isForAgent: boolean
  }[] = []
  const isForAgent = (kind: ActKind, chat: number) => kind !== 'user' || state.chats[chat]?.status === 'agent'
  const drawText = (kind: ActKind, chat: number): ActText => {
    const plain = {
      kind: 'plain',
      value: `${kind === 'user' ? 'Question' : 'Answer'} ${written.length + 1} of ${seed}`,
    }
    // A text that no agent was there for comes from a transcript: the same text later could not be told from it.
    if (isPlain || oneIn(3) || !isForAgent(kind, chat)) return plain
    if (oneIn(5)) {
      const same = written
        .filter(earlier => earlier.chat === chat && earlier.kind === kind && earlier.isForAgent)
        .map(({ text }) => text.value)
      return same.length === 0 ? plain : { kind: 'again', value: pick(same) }
    }
    const hard = oneIn(3) ? pick(HARD_TEXTS) : pick(DRAWN_KINDS)
    const made = TEXT_KINDS[hard]
    if (made === undefined) return { kind: hard, value: namedTexts([hard])[hard] ?? '' }
    return { kind: hard, value: typeof made === 'function' ? made(generate) : pick(made) }
  }

  const acts: Act[] = []
  let state: ModelState = startState(chats)
  while (acts.length < length) {
    // Each chat as often: one that an agent has offers more acts than the others.
    const drawnChat = below(chats)
    const possible: { readonly kind: ActKind; readonly chat: number; readonly weight: number }[] = []
    let total = 0
    for (const kind of vocabulary.kinds) {
      const chat = ruleOf(kind).isOfDesk ? 0 : drawnChat
      const weight = WEIGHTS[kind] * (tastes.get(kind) ?? 0)
      if (weight === 0 || !isPossible(state, { kind, chat })) continue
      // It takes the longest, and nothing else can run meanwhile.
      if (kind === 'restart' && acts.some(act => act.kind === 'restart')) continue
      // Texts for the bot, repeated requests and closed chats are the smaller part.
      const status = state.chats[chat]?.status
      const isAside =
        kind === 'close' ||
        kind === 'delete' ||
        (kind === 'user' && status !== 'agent') ||
        (kind === 'press' && !isRequest(state, { kind, chat }))
      const share = isAside ? weight : weight * 5
      possible.push({ kind, chat, weight: share })
      total += share
    }
    if (total === 0) break
    const at = below(total)
    let sum = 0
    const chosen = possible.find(({ weight }) => {
      sum += weight
      return at < sum
    })
    if (chosen === undefined) break
    const { kind, chat } = chosen
    const isText = kind === 'user' || kind === 'says'
    let text = isText ? drawText(kind, chat) : undefined
    const hasFiles = kind === 'user' && vocabulary.hasFiles && oneIn(8)
    if (hasFiles && oneIn(3)) text = undefined
    if (text !== undefined) written.push({ chat, kind, text, isForAgent: isForAgent(kind, chat) })
    const faults =
      acts.length === faultAt ? vocabulary.faults.filter(fault => canHaveFault(state, { kind, chat }, fault)) : []
    const act: Act = {
      kind,
      chat,
      pace: acts.length === slowAt ? 'slow' : isHuman ? 'human' : pick(vocabulary.paces),
      ...(text && { text }),
      ...(hasFiles && { files: Array.from({ length: 1 + below(2) }, () => pick(FILES)) }),
      ...(faults.length > 0 && { fault: pick(faults) }),
    }
    acts.push(act)
    state = stateAfter(state, act)
  }
  return { seed, acts, knobs }
}

/** One in so many conversations has acts of the whole desk, because these run alone. */
const DESK_SHARE = 32

/** One in so many conversations has an act that comes seconds after the one before. */
const SLOW_SHARE = 10

/** How many conversations are generated for one that is run. */
const CANDIDATES = 6

/** The n-th conversation of a seed: of several candidates the one whose situations were tried least. */
export function nextSequence(seed: number, index: number, vocabulary: Vocabulary, tried: Situations): ActSequence {
  let best: ActSequence | null = null
  let bestNews = Number.NEGATIVE_INFINITY
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    const drawn = hashWords(`conversation ${index}.${candidate}`, seed)[0] >>> 1
    // Whether it may have acts of the whole desk is part of the number.
    const own = drawn - (drawn % DESK_SHARE) + (index % DESK_SHARE)
    const sequence = generateSequence(own, vocabulary)
    let news = 0
    const situations = situationsOf(sequence)
    for (const situation of new Set(situations)) news += 1 / (1 + (tried.get(situation)?.times ?? 0))
    // Long conversations do not win by their length alone.
    news /= situations.length + 1
    if (news > bestNews) [best, bestNews] = [sequence, news]
  }
  if (best === null) throw new Error('No conversation was generated.')
  return best
}

/** `number` makes it another text than those of other acts. */
export const plainText = (number: number): ActText => ({ kind: 'plain', value: `This is plain text ${number}.` })

/** Simpler values of a text, the simplest first. */
export function simplerTexts({ kind, value }: ActText, number: number): ActText[] {
  if (kind === 'plain') return []
  const simpler: ActText[] = [plainText(number)]
  // The others are as short as a reader needs.
  if (kind !== 'unicode' && kind !== 'long') return simpler
  for (const shrunk of string({ unit: 'grapheme' }).shrink(value, undefined).take(8))
    if (shrunk.value.trim() !== '') simpler.push({ kind, value: shrunk.value })
  return simpler
}
