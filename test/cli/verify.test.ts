/** `handover-sim verify`: whether a body and a signature are right, and if not, why. */
import { createHmac } from 'node:crypto'
import { expect, it } from 'vitest'
import { type CommandOptions, runCommand } from './fake-io.ts'

const KEY = 'a-key-of-mine'
const BODY = Buffer.from('{"foo": 1, "bar": "é"}\n')
const mac = (body: Uint8Array | string, key = KEY) => createHmac('sha256', key).update(body)
const RIGHT = mac(BODY).digest('base64')
const AS_HEX = mac(BODY).digest('hex')
const MINE = { MY_KEY: KEY }
const ALGORITHM = ['--algorithm-header', 'HMAC-SHA-256 (hex encoded)']
const URL_OF_DESK = 'https://desk.example.test/webhook'
const OVER_URL = mac(Buffer.concat([Buffer.from(URL_OF_DESK), BODY])).digest('base64')
const OVER_URL_FOUND = /^wrong \(url-and-body\): .*Kindly-HMAC-algorithm names "HMAC-SHA-256 \(hex encoded\)"/
const OVER_JSON = mac(JSON.stringify(JSON.parse(BODY.toString()))).digest('hex')
const BYTES = Uint8Array.of(0, 0xff, 0xfe, 10)

function verify(signature: string, flags: readonly string[] = [], { files, ...more }: CommandOptions = {}) {
  const body = flags.includes('--body') ? [] : ['--body', 'body.json']
  const options = { env: MINE, files: { 'body.json': BODY, ...files }, ...more }
  return runCommand(['verify', ...body, '--signature', signature, ...flags], options)
}

const withKey = ['--key-env', 'MY_KEY']

it.each<[string, string, string[], RegExp]>([
  ['a valid signature', RIGHT, withKey, /^right: The signature is valid\.\n$/],
  ['a mistake', AS_HEX, withKey, /^wrong \(hex\): The signature is hexadecimal instead of base64\.\nEncode .*\n$/],
  ['two mistakes', OVER_JSON, withKey, /^wrong \(hex, restringified-json\): .*hexadecimal.*serialized again/],
  ['an unknown mistake', OVER_URL, withKey, /^wrong \(unknown\)/],
  ['more mistakes', OVER_URL, [...withKey, '--webhook-url', URL_OF_DESK, ...ALGORITHM], OVER_URL_FOUND],
])('%s is one line, and the exit code', async (_, signature, flags, message) => {
  const { code, out, err } = await verify(signature, flags)
  expect(out).toMatch(message)
  expect({ code, err }).toEqual({ code: out.startsWith('right') ? 0 : 1, err: '' })
})

it('--json prints one line with every field', async () => {
  const right = { ok: true, mistake: 'right', also: [], message: 'The signature is valid.', fix: '' }
  expect(JSON.parse((await verify(RIGHT, [...withKey, '--json'])).out)).toEqual({ v: 1, type: 'verify', ...right })
  const wrong = await verify(AS_HEX, [...withKey, '--json'])
  expect([wrong.code, JSON.parse(wrong.out)]).toMatchObject([1, { ok: false, mistake: 'hex' }])
})

it('reads the body byte for byte from stdin and from a binary file', async () => {
  const marked = '\ufeff{"a":"é"}\r\n'
  const stdin = await verify(mac(marked).digest('base64'), ['--body', '-', ...withKey], { stdin: marked })
  const file = await verify(mac(BYTES).digest('base64'), ['--body', 'b', ...withKey], { files: { b: BYTES } })
  expect([stdin.code, file.code]).toEqual([0, 0])
})

it('the key is that of `start` by default: variable, config file, default; stderr names its origin', async () => {
  const rows: [key: string, flags: string[], options: CommandOptions, origin: string][] = [
    [KEY, [], { env: { HANDOVER_SIM_API_KEY: KEY } }, 'is from HANDOVER_SIM_API_KEY;'],
    ['k', ['--config', 'mine.yaml'], { files: { 'mine.yaml': 'keys: { handover: k }\n' } }, 'is from mine.yaml:1;'],
    ['sim-handover-key', [], {}, "is the simulator's default;"],
  ]
  for (const [key, flags, options, origin] of rows) {
    const { code, err } = await verify(mac(BODY, key).digest('base64'), flags, options)
    expect([code, err]).toEqual([0, expect.stringContaining(`The key ${origin}`)])
  }
})

it.each([
  ['sim-bot-key', {}, 'the default bot API key of the simulator'],
  ['bot-key-of-mine', { HANDOVER_SIM_BOT_API_KEY: 'bot-key-of-mine' }, 'HANDOVER_SIM_BOT_API_KEY'],
  ['key-of-the-desk', { DESK_KEY: 'key-of-the-desk' }, 'DESK_KEY'],
])('%s instead of the key is named', async (key, env, name) => {
  const others = 'DESK_KEY' in env ? ['--candidate-key-env', 'DESK_KEY'] : []
  const flags = [...withKey, ...others]
  const { code, out } = await verify(mac(BODY, key).digest('base64'), flags, { env: { ...MINE, ...env } })
  expect(code).toBe(1)
  expect(out).toContain(`wrong (other-key): The signature was made with another key: ${name}.\n`)
})

it('never prints the key, and the right signature only with --show-signature', async () => {
  for (const signature of [RIGHT, AS_HEX, KEY, `Bearer ${KEY}`, mac('x').digest('base64')])
    for (const more of [['--json'], ['--show-signature']]) {
      const { out, err } = await verify(signature, ['--key', KEY, ...more])
      expect(out).toMatch(/right|wrong|mistake/)
      expect(out + err).not.toContain(KEY)
    }
  const wrong = mac('something else').digest('base64')
  expect((await verify(wrong, withKey)).out).not.toContain(RIGHT)
  expect((await verify(wrong, [...withKey, '--show-signature'])).out).toContain(`Expected ${RIGHT}, got ${wrong}.`)
})
