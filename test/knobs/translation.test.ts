/** Live translation: when languages are the same, what a translation looks like, what the transcript keeps. */
import { expect, test } from 'vitest'
import type { PlatformSimulator } from '../../src/platform/simulator/simulator.ts'
import { AGENT, assumedBy, post, sends, takenOver, texts, transcript, type World, world } from './support.ts'

const speaking = (...language_codes: string[]) => ({ sender: { ...AGENT, language_codes } })

/** What the agent gets to read of one message. */
async function agentReads({ sim, inbox }: World, language: string, ...codes: string[]): Promise<string> {
  const chat = await takenOver(sim, speaking(...codes), await sim.chat({ language }))
  await chat.says('Hei')
  return inbox.at(-1)!.json.message
}

test('translation.match: compares primary subtags without case, or whole codes', async () => {
  const w = world()
  expect(await agentReads(w, 'en-GB', 'de', 'EN')).toBe('Hei')
  expect(await agentReads(w, 'no', 'nb')).toBe('[no>nb] Hei')
  await w.sim.configure({ 'translation.match': 'exact' })
  expect(await agentReads(w, 'en-GB', 'de', 'EN')).toBe('[en-GB>de] Hei')
  expect(await agentReads(w, 'en-GB', 'en-gb')).toBe('Hei')
})

test('translation.aliases: no and nb differ, unless an alias connects them', async () => {
  const w = world()
  expect(await agentReads(w, 'no', 'nb')).toBe('[no>nb] Hei')
  await w.sim.configure({ 'translation.aliases': ['no=nb', 'NN=nb'] })
  expect(await agentReads(w, 'no', 'nb')).toBe('Hei')
  expect(await agentReads(w, 'nb', 'nn-NO')).toBe('Hei')
})

test('translation.engine: adds a visible marker, returns the text itself, or calls a module of the user', async () => {
  const w = world()
  const reads = () => agentReads(w, 'no', 'en')
  expect(await reads()).toBe('[no>en] Hei')
  await w.sim.configure({ 'translation.engine': 'identity' })
  expect(await reads()).toBe('Hei')
  await w.sim.configure({ 'translation.engine': 'test/knobs/shouting-engine.mjs' })
  expect(await reads()).toBe('HEI (no to en)')
})

test('translation.engine: a module that cannot be loaded is refused, and the old engine stays', async () => {
  const w = world()
  const missing = w.sim.configure({ 'translation.engine': 'no-such-engine.mjs', 'bot.delay': '1s' })
  await expect(missing).rejects.toThrow('cannot load "no-such-engine.mjs"')
  expect(await agentReads(w, 'no', 'en')).toBe('[no>en] Hei')
  expect(w.sim.config()).toMatchObject({ 'bot.delay': '0s', 'translation.engine': 'marker' })
})

test('translation.engine: an empty list turns translation off, also on a second start', async () => {
  const w = world()
  expect(await agentReads(w, 'no')).toBe('Hei')
  const chat = await takenOver(w.sim, speaking('en'), await w.sim.chat({ language: 'no' }))
  await takenOver(w.sim, speaking(), chat)
  await chat.says('Hei')
  expect(w.inbox.at(-1)!.json.message).toBe('Hei')
})

async function translatedTexts(sim: PlatformSimulator) {
  const chat = await takenOver(sim, speaking('en'), await sim.chat({ language: 'no' }))
  await chat.says('Hei')
  await sends(sim, chat, 'Hello')
  const kept = (await transcript(sim, chat)).messages.slice(1)
  return { seen: texts(chat).slice(1), kept: kept.map((message: { message: string }) => message.message), chat }
}

test('transcript.text: has the text as the user typed or saw it, or both sides', async () => {
  const { sim } = world()
  const once = await translatedTexts(sim)
  expect(once.kept).toEqual(['Hei', '[en>no] Hello'])
  expect(once.kept).toEqual(once.seen)
  await sim.configure({ 'transcript.text': 'both' })
  const both = await translatedTexts(sim)
  expect(both.kept).toEqual(['Hei\n[no>en] Hei', '[en>no] Hello\nHello'])
  expect(assumedBy(await post(sim, 'transcript', both.chat))).toContain('transcript.text')
})
