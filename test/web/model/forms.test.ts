import { expect, test } from 'vitest'
import { startSimulator } from '../../../src/index.ts'
import { draftOfFault, FAULT_EXAMPLES, faultBody, faultFormOf } from '../../../src/pages/web/model/fault-draft.ts'
import { fieldsOf, valuesFrom } from '../../../src/pages/web/model/schema-fields.ts'
import { isAboutDay, isWithin, usualWeek, weekOf, writtenWeek } from '../../../src/pages/web/model/week-hours.ts'
import { createControlClient } from '../../support/control-client.ts'

test('the form of a fault has every effect of its side, and every example is accepted', async () => {
  await using server = await startSimulator({ port: 0 })
  const ask = createControlClient(server)
  const { fault, fault_effects } = (await ask('GET', '/description')).body
  const form = faultFormOf(fault, fault_effects)
  expect(form.effects.api.map(({ name }) => name)).toEqual(expect.arrayContaining(fault_effects.api))
  expect(form.effects.webhook.map(({ name }) => name)).toEqual(
    expect.arrayContaining([...fault_effects.webhook, 'gap']),
  )
  expect(form.limits.map(({ name }) => name)).toEqual(['name', 'chat_id', 'times', 'skip', 'every'])
  expect(form.names.api).toContain('start')
  expect(form.names.webhook).toEqual([
    'REQUESTING TAKEOVER',
    'MESSAGE FROM USER',
    'AGENT TYPING START',
    'AGENT TYPING STOP',
  ])
  for (const example of FAULT_EXAMPLES) {
    const body = faultBody(form, draftOfFault(form, example.fault))
    expect(body).toEqual(example.fault)
    expect((await ask('POST', '/faults', { body })).status, example.title).toBe(201)
  }
})

test('a form makes numbers, headers and JSON of what was typed, and keeps what is none', () => {
  const fields = fieldsOf({
    properties: {
      status: { type: 'integer' },
      headers: { type: 'object', additionalProperties: { type: 'string' } },
      body: {},
      http: { anyOf: [{ enum: ['a', 'b'] }, { type: 'array', items: { enum: ['a', 'b'] } }] },
      reset: { const: true },
    },
  })
  expect(fields.map(({ kind }) => kind)).toEqual(['count', 'headers', 'json', 'choices', 'flag'])
  const typed = { status: '503', headers: 'Retry-After: 2\nX-Time: 10:30', body: '{"a":1}', http: ['a'], reset: true }
  expect(valuesFrom(fields, typed)).toEqual({
    status: 503,
    headers: { 'Retry-After': '2', 'X-Time': '10:30' },
    body: { a: 1 },
    http: 'a',
    reset: true,
  })
  expect(valuesFrom(fields, { status: 'many', body: 'slow down', http: ['a', 'b'], headers: '' })).toEqual({
    status: 'many',
    body: 'slow down',
    http: ['a', 'b'],
  })
})

test('business hours become one row for each day, and ranges again', () => {
  const written = { time_zone: 'Europe/Oslo', 'mon-wed': '09:00-17:00', thu: '10:00-24:00', 'sat-sun': '10:00-14:00' }
  const week = weekOf(written)!
  expect(week.days.map(({ day, isOpen, from, to }) => (isOpen ? `${day} ${from}-${to}` : day))).toEqual([
    'mon 09:00-17:00',
    'tue 09:00-17:00',
    'wed 09:00-17:00',
    'thu 10:00-24:00',
    'fri',
    'sat 10:00-14:00',
    'sun 10:00-14:00',
  ])
  expect(writtenWeek(week)).toEqual(written)
  expect(writtenWeek(usualWeek('UTC'))).toEqual({ time_zone: 'UTC', 'mon-fri': '09:00-17:00' })
  expect(weekOf(null)).toBeNull()
  expect(['tue', 'thu', 'fri'].map(day => isAboutDay('business_hours.mon-thu', day, week))).toEqual([true, true, false])
  expect(isWithin(written, Date.UTC(2024, 0, 1, 8, 30))).toBe(true)
  expect(isWithin(written, Date.UTC(2024, 0, 1, 7, 30))).toBe(false)
  expect(isWithin(null, 0)).toBe(true)
})
