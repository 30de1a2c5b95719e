/** Tests personas: repeatable for seed, label and language, and typical of their language. */
import { expect, test } from 'vitest'
import { drawPersona } from '../../src/base/runtime/random.ts'
import { transcript, world } from '../support/test-simulator.ts'

const draw = (language: string, count = 40) =>
  Promise.all(Array.from({ length: count }, (_, index) => drawPersona(1, `persona ${index + 1}`, language)))

test.each([
  ['en', 'Oliver Cruickshank'],
  ['nb', 'Daniel Thoresen'],
  ['de', 'Noah Dächert'],
  ['ar', 'جاد غويلة'],
])('%s: the first one is %s', async (language, name) => {
  expect((await drawPersona(1, 'persona 1', language)).fullName).toBe(name)
})

test.each([
  ['no', 'nb'],
  ['nn-NO', 'nb'],
  ['NB_no', 'nb'],
  ['EN-gb', 'en'],
  ['ar-EG', 'ar'],
  ['fr', 'en'],
  ['constructor', 'en'],
])('%j draws from %s', async (language, from) => {
  expect(await draw(language, 5)).toEqual(await draw(from, 5))
})

test.each(['en', 'nb', 'de', 'ar'])(
  '%s: the person is the same again, also when drawn beside others',
  async language => {
    const alone = await draw(language)
    const [mixed] = await Promise.all([draw(language), draw('en'), draw('ar'), draw('nb')])
    expect(mixed).toEqual(alone)
    expect(new Set(alone.map(person => person.fullName)).size).toBeGreaterThan(30)
    expect(new Set(alone.map(person => person.gender))).toEqual(new Set(['female', 'male']))
  },
)

test('Arabic names are in Arabic script, the others in Latin', async () => {
  for (const person of await draw('ar')) expect(person.fullName).toMatch(/^[\p{Script=Arabic}\p{Mn}\s]+$/u)
  for (const language of ['en', 'nb', 'de']) {
    for (const person of await draw(language)) expect(person.fullName).toMatch(/^[\p{Script=Latin}\p{Mn}\s.'’-]+$/u)
  }
})

test('the context has the form of the data that a bot collects', async () => {
  for (const { context } of await draw('de')) {
    expect(context).toEqual({
      page_url: expect.stringMatching(/^https:\/\/www\.example\.test\/[a-z]+$/),
      customer_number: expect.stringMatching(/^[1-9]\d{5}$/),
      returning_customer: expect.any(Boolean),
      device: expect.stringMatching(/^(mobile|desktop|tablet)$/),
    })
  }
})

test('concurrent chats have different people, the same as successive chats', async () => {
  const languages = ['ar', 'en', 'nb', 'de', 'en']
  const [together, apart] = [world().sim, world().sim]
  const namesIn = async (sim: typeof together) =>
    Promise.all(sim.chats().map(async ({ chatId }) => (await transcript(sim, sim.findChat(chatId)!)).full_name))
  await Promise.all(languages.map(language => together.chat({ language })))
  for (const language of languages) await apart.chat({ language })
  const names = await namesIn(together)
  expect(names).toEqual(await namesIn(apart))
  expect(new Set(names).size).toBe(5)
})
