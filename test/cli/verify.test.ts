/** `handover-sim verify`: is this body and signature right, and if not, why. */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { FILE_URL, type Vector } from '../../scripts/signature-vectors.ts'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { fakeIo } from './fake-io.ts'

const KEY = 'a-key-of-mine'
const BODY = Buffer.from('{"foo": 1, "bar": "é"}\n')
const mac = (body: Uint8Array | string, key = KEY) => createHmac('sha256', key).update(body)
const RIGHT = mac(BODY).digest('base64')
const AS_HEX = mac(BODY).digest('hex')

type Files = Parameters<typeof folderWith>[0]

async function result(argv: string[], env: Record<string, string> = {}, files: Files = {}, stdin = '') {
  const io = fakeIo(folderWith({ 'body.json': BODY, ...files }), false, stdin)
  const code = await main(['verify', ...argv], env, io)
  return { code, out: io.stdout.text, err: io.stderr.text }
}

const about = (signature: string, ...more: string[]) => ['--body', 'body.json', '--signature', signature, ...more]
const MINE = { MY_KEY: KEY }
const withKey = ['--key-env', 'MY_KEY']

it('prints one line for a valid signature and exits with 0', async () => {
  const right = { code: 0, out: 'right: The signature is valid.\n', err: '' }
  expect(await result(about(RIGHT, ...withKey), MINE)).toEqual(right)
  expect(await result(about(RIGHT, '--key', KEY))).toEqual(right)
})

it('names the mistake and the fix for an invalid signature and exits with 1', async () => {
  const { code, out, err } = await result(about(AS_HEX, ...withKey), MINE)
  expect({ code, err }).toEqual({ code: 1, err: '' })
  expect(out).toMatch(/^wrong \(hex\): The signature is hexadecimal instead of base64\.\nEncode .*\n$/)
})

it('names two mistakes at once', async () => {
  const hex = mac(JSON.stringify(JSON.parse(BODY.toString()))).digest('hex')
  const { out } = await result(about(hex, ...withKey), MINE)
  expect(out).toMatch(/^wrong \(hex, restringified-json\): .*hexadecimal.*serialized again/)
})

it('prints one line with every field with --json', async () => {
  const right = {
    v: 1,
    type: 'verify',
    ok: true,
    mistake: 'right',
    also: [],
    message: 'The signature is valid.',
    fix: '',
  }
  expect(JSON.parse((await result(about(RIGHT, ...withKey, '--json'), MINE)).out)).toEqual(right)
  const wrong = await result(about(AS_HEX, ...withKey, '--json'), MINE)
  expect(wrong.out).toMatch(/^\{.*\}\n$/)
  expect(wrong.code).toBe(1)
  expect(JSON.parse(wrong.out)).toMatchObject({ ok: false, mistake: 'hex' })
})

describe('the body', () => {
  it('is read from stdin byte for byte', async () => {
    const marked = '\ufeff{"a":"é"}\r\n'
    const signature = mac(marked).digest('base64')
    const { code } = await result(['--body', '-', '--signature', signature, ...withKey], MINE, {}, marked)
    expect(code).toBe(0)
  })

  it('is read from a binary file', async () => {
    const bytes = Uint8Array.of(0, 0xff, 0xfe, 10)
    const argv = ['--body', 'b', '--signature', mac(bytes).digest('base64'), ...withKey]
    expect((await result(argv, MINE, { b: bytes })).code).toBe(0)
  })
})

describe('the key', () => {
  it.each(['constructor', '__proto__', 'toString'])('is not one of JavaScript: %s is no variable', async name => {
    const { code, err } = await result(about(RIGHT, '--key-env', name))
    expect([code, err]).toEqual([2, expect.stringContaining(`the variable ${name} is not set`)])
  })

  it('is that of `start` by default: variable, config file, default; stderr names its origin', async () => {
    const argv = about(RIGHT)
    const fromVariable = await result(argv, { HANDOVER_SIM_API_KEY: KEY })
    expect(fromVariable).toMatchObject({
      code: 0,
      err: 'The key is from HANDOVER_SIM_API_KEY; --key-env names another.\n',
    })
    const fromFile = await result(
      about(mac(BODY, 'file-key').digest('base64'), '--config', 'mine.yaml'),
      {},
      {
        'mine.yaml': 'keys: { handover: file-key }\n',
      },
    )
    expect(fromFile).toMatchObject({ code: 0, err: expect.stringMatching(/^The key is from mine\.yaml:1;/) })
    const byDefault = await result(about(mac(BODY, 'sim-handover-key').digest('base64')))
    expect(byDefault).toMatchObject({ code: 0, err: "The key is the simulator's default; --key-env names another.\n" })
  })

  it.each([
    ['sim-handover-key', {}, 'the default handover API key of the simulator'],
    ['sim-bot-key', {}, 'the default bot API key of the simulator'],
    ['bot-key-of-mine', { HANDOVER_SIM_BOT_API_KEY: 'bot-key-of-mine' }, 'HANDOVER_SIM_BOT_API_KEY'],
    ['key-of-the-desk', { DESK_KEY: 'key-of-the-desk' }, 'DESK_KEY'],
  ])('%s instead of it is named', async (key, env, name) => {
    const others = 'DESK_KEY' in env ? ['--candidate-key-env', 'DESK_KEY'] : []
    const argv = about(mac(BODY, key).digest('base64'), ...withKey, ...others)
    const { code, out } = await result(argv, { ...MINE, ...env })
    expect(code).toBe(1)
    expect(out).toContain(`wrong (other-key): The signature was made with another key: ${name}.\n`)
  })

  it('is never printed', async () => {
    for (const signature of [RIGHT, AS_HEX, KEY, `Bearer ${KEY}`, mac('x').digest('base64')])
      for (const more of [['--json'], ['--show-signature']]) {
        const { out, err } = await result(about(signature, '--key', KEY, ...more))
        expect(out).toMatch(/right|wrong|mistake/)
        expect(out + err).not.toContain(KEY)
      }
  })
})

it('--show-signature shows the right signature, and nothing else does', async () => {
  const wrong = mac('something else').digest('base64')
  expect((await result(about(wrong, ...withKey), MINE)).out).not.toContain(RIGHT)
  expect((await result(about(wrong, ...withKey, '--show-signature'), MINE)).out).toContain(
    `Expected ${RIGHT}, got ${wrong}.`,
  )
})

it('--algorithm-header and --webhook-url find further mistakes', async () => {
  const url = 'https://desk.example.test/webhook'
  const signature = mac(Buffer.concat([Buffer.from(url), BODY])).digest('base64')
  const algorithm = ['--algorithm-header', 'HMAC-SHA-256 (hex encoded)']
  const { out } = await result(about(signature, ...withKey, '--webhook-url', url, ...algorithm), MINE)
  expect(out).toMatch(/^wrong \(url-and-body\): .*Kindly-HMAC-algorithm names "HMAC-SHA-256 \(hex encoded\)"/)
  expect((await result(about(signature, ...withKey), MINE)).out).toMatch(/^wrong \(unknown\)/)
})

const { vectors } = JSON.parse(readFileSync(FILE_URL, 'utf8')) as { vectors: Vector[] }
const signed = vectors.filter(({ headers }) => headers['Kindly-HMAC'] !== undefined)

it('exits with 0 for every valid published vector, and with 1 for every other', async () => {
  const codes = signed.map(async ({ key, body_base64, headers }) => {
    const files = { 'vector.json': Buffer.from(body_base64, 'base64') }
    const argv = ['--body', 'vector.json', `--signature=${headers['Kindly-HMAC']}`, '--key-env', 'MY_KEY']
    return (await result(argv, { MY_KEY: key }, files)).code
  })
  expect(await Promise.all(codes)).toEqual(signed.map(({ valid }) => (valid ? 0 : 1)))
})

it.each([
  [['--signature', RIGHT], /required option '--body <file>' not specified/],
  [['--body', 'body.json'], /required option '--signature <text>' not specified/],
  [['--body', 'none.json', '--signature', RIGHT, '--key', KEY], /^--body: none\.json cannot be read: ENOENT/],
  [['--body', '.', '--signature', RIGHT, '--key', KEY], /^--body: \. cannot be read: EISDIR/],
  [about(RIGHT, '--key', ''), /^--key: must not be empty\.\n$/],
  [about(RIGHT, '--key-env', 'NOT_THERE'), /^--key-env: the variable NOT_THERE is not set\.\n$/],
  [about(RIGHT, '--key-env', 'EMPTY'), /^--key-env: the variable EMPTY is empty\.\n$/],
  [about(RIGHT, '--key', KEY, '--candidate-key-env', 'NO'), /^--candidate-key-env: the variable NO is not set\.\n$/],
  [about(RIGHT, '--key', KEY, '--key-env', 'MY_KEY'), /^--key and --key-env: give one of them\.\n$/],
  [about(RIGHT, '--config', 'none.yaml'), /^none\.yaml: cannot be read: there is no such file\.\n$/],
])('%j: exit 2, on stderr', async (argv, message) => {
  const { code, out, err } = await result(argv, { EMPTY: '', ...MINE })
  expect(err).toMatch(message)
  expect({ code, out }).toEqual({ code: 2, out: '' })
})
