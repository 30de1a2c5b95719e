/** Which variables that a scenario or a driver reads are secrets. */
import { expect, it } from 'vitest'
import { createRedactor } from '../../src/base/text/redactor.ts'
import { addSecretVariables } from '../../src/evaluation/scenario/interpolation.ts'

/** What a report shows of a value that `template` reads from a variable. */
function shown(name: string, value: string, template: unknown): string {
  const secrets = createRedactor()
  addSecretVariables(secrets, [name], { [name]: value }, template)
  return secrets.redact(`- ${value} -`)
}

const TEXT = { user: 'about $(env.NAME)' }

it.each([
  'DESK_PASSWORD',
  'API_KEY',
  'apikey',
  'DESK_KEY',
  'DB_PASS',
  'DB_PWD',
  'CLIENT_SECRET',
  'GH_TOKEN',
  'AUTH',
  'X_CREDENTIALS',
])('the name %s says that it is one', name =>
  expect(shown(name, 'open-sesame', { user: `$(env.${name})` })).toBe('- *** -'),
)

it.each([
  ['a token', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl'],
  ['a random text', 'q7RkP2mXz9Lw4TbV8sNd'],
])('%s has the form of one, whatever its name is', (_, value) => {
  expect(shown('NAME', value, TEXT)).toBe('- *** -')
})

it.each<[string, unknown]>([
  ['a header of a secret', { headers: { Authorization: '$(env.NAME)' } }],
  ['a field of a secret', { with: { password: '$(env.NAME)' } }],
  ['a bearer', { exec: ['curl', '-H', 'Authorization: Bearer $(env.NAME)'] }],
  ['the credentials of an address', { http: 'http://me:$(env.NAME)@desk.test/' }],
  ['a parameter of an address', { GET: '/inbox?access_token=$(env.NAME)' }],
])('what stands in %s is one', (_, template) => {
  expect(shown('NAME', 'open-sesame', template)).toBe('- *** -')
})

it.each([
  'slow-ack',
  'report',
  '30401234',
  '/srv/Desk1/Projects/desk',
  'http://127.0.0.1:3000/hook',
  'a1b2c3d4e5f60718293a4b5c6d7e8f9012345678',
  'Where is my parcel?',
])('the ordinary value %s stays readable', value => {
  for (const name of ['NAME', 'PWD', 'AUTHOR', 'MONKEY', 'KEYBOARD'])
    expect(shown(name, value, TEXT)).toBe(`- ${value} -`)
  expect(shown('NAME', value, { headers: { 'x-team': '$(env.NAME)' }, GET: '/inbox?author=$(env.NAME)' })).toContain(
    value,
  )
})

it('an address loses its credentials only', () => {
  expect(shown('NAME', 'http://me:pa55word@desk.test/hook', TEXT)).toBe('- http://***@desk.test/hook -')
})
