/** Checks that a conversation becomes as short as its failure allows, with failures that a function decides. */
import { expect, it } from 'vitest'
import { generateSequence } from '../../src/running/explorer/generate.ts'
import { type Act, type ActSequence, inModel } from '../../src/running/explorer/model.ts'
import { shrink } from '../../src/running/explorer/shrink.ts'
import { labelOf } from '../../src/running/explorer/situations.ts'
import { ALL } from './vocabulary.ts'

const labels = (sequence: ActSequence) => inModel(sequence).map(({ act }) => labelOf(act))

/** The first generated conversation that fails, and the shortest that does. */
async function shortest(fails: (sequence: ActSequence) => boolean, fewestActs = 10) {
  let seed = 1
  let found = generateSequence(seed, ALL)
  while (!fails(found) || found.acts.length < fewestActs) found = generateSequence(++seed, ALL)
  let runs = 0
  const short = await shrink(found, null, {
    isOver: () => false,
    failing: async candidates => {
      runs += candidates.length
      return candidates.map(fails)
    },
  })
  expect(fails(short)).toBe(true)
  return { found, short, runs }
}

it('leaves the acts that a failure needs', async () => {
  const { short, runs } = await shortest(sequence => {
    const acts = inModel(sequence)
    return acts.some(({ act, before }) => act.kind === 'user' && before.chats[act.chat]?.status === 'agent')
  })
  expect(labels(short)).toEqual(['press', 'accept', 'user'])
  expect(short.acts.every(({ pace, chat }) => pace === 'human' && chat === 0)).toBe(true)
  expect(short.knobs).toEqual({})
  expect(runs).toBeLessThan(150)
})

it('leaves two handovers of one chat where the failure is in the second', async () => {
  const { short } = await shortest(sequence => {
    const accepted = new Map<number, number>()
    for (const { act } of inModel(sequence)) {
      if (act.kind === 'accept') accepted.set(act.chat, (accepted.get(act.chat) ?? 0) + 1)
      if (act.kind === 'says' && accepted.get(act.chat) === 2) return true
    }
    return false
  })
  expect(labels(short)).toEqual(['press', 'accept', 'leave', 'press', 'accept', 'says'])
})

it('leaves both chats, the pace, the fault or the knob when the failure needs it', async () => {
  const both = await shortest(({ acts }) => new Set(inModel({ acts }).map(({ act }) => act.chat)).size > 1)
  expect(both.short.acts.length).toBe(2)
  const pace = await shortest(sequence => inModel(sequence).some(({ act }) => act.pace === 'during'))
  expect(labels(pace.short).slice(0, 2)).toEqual(['press', 'accept'])
  expect(pace.short.acts.filter(act => act.pace !== 'human').length).toBe(1)
  const fault = await shortest(sequence => inModel(sequence).some(({ act }) => act.fault === 'answer-lost'))
  expect(labels(fault.short).slice(0, 2)).toEqual(['press', 'accept'])
  expect(fault.short.acts.length).toBeLessThan(4)
  expect(fault.short.acts.at(-1)?.fault).toBe('answer-lost')
  const knob = await shortest(({ knobs }) => 'ids.chat' in knobs)
  expect(knob.short.acts.length).toBe(1)
  expect(knob.short.knobs).toEqual({ 'ids.chat': 'hex24' })
})

it('shortens a text, and makes it plain where it may be', async () => {
  const hasDigit = ({ text }: Act) => text?.kind === 'unicode' && /\p{Script=Hiragana}/u.test(text.value)
  const acts: Act[] = [{ kind: 'user', chat: 0, pace: 'human', text: { kind: 'unicode', value: 'xx end のの yy' } }]
  const short = await shrink({ seed: 1, acts, knobs: {} }, null, {
    isOver: () => false,
    failing: async candidates => candidates.map(one => one.acts.some(hasDigit)),
  })
  expect([...short.acts[0]!.text!.value].length).toBeLessThan(8)
  const plain = await shrink({ seed: 1, acts, knobs: {} }, null, {
    isOver: () => false,
    failing: async candidates => candidates.map(() => true),
  })
  expect(plain.acts[0]!.text!.kind).toBe('plain')
})

it('ends when its time is over, with a conversation that fails', async () => {
  let runs = 0
  const found = generateSequence(12, ALL)
  const short = await shrink(found, null, {
    isOver: () => runs > 0,
    failing: async candidates => {
      runs++
      return candidates.map(() => false)
    },
  })
  expect(short.acts).toEqual(inModel(found).map(({ act }) => act))
})
