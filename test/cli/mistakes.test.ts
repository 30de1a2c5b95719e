/** Mistakes in arguments, files and variables: exit code 2, nothing on stdout, and a message with the place and the fix. */
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadExports } from '../../src/base/files/user-files.ts'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { type CommandOptions, fakeIo, runCommand } from './fake-io.ts'

type Files = CommandOptions['files']
/** Arguments, as a text when none has a space; what stderr says; the files of the folder. */
type Row = readonly [argv: string | readonly string[], message: RegExp | string, files?: Files]

async function expectMistake([argv, message, files = {}]: Row, env = {}): Promise<void> {
  const args = typeof argv === 'string' ? argv.split(' ').filter(Boolean) : argv
  const { code, out, err } = await runCommand(args, { files, env })
  if (typeof message === 'string') expect(err).toContain(message)
  else expect(err).toMatch(message)
  expect(err).not.toMatch(/^ +at /m)
  expect({ code, out }).toEqual({ code: 2, out: '' })
}

const SCENARIO = 'version: 1\nname: One\nsteps:\n  - press: handover\n  - expect: start\n'
const DRIVER = 'version: 1\nhttp: http://127.0.0.1:3100\naccept: { POST: /accept }\ninbox: { GET: /inbox }\n'
const TARGET = '--target http://127.0.0.1:1/webhook'
const STEPS = '{ "press": "handover" }, '.repeat(6)
const UPSTREAM = '--upstream https://bot.example.test'
const WEBHOOK = '--webhook-url http://127.0.0.1:9/'
const VERIFY = 'verify --body body.json --signature x'
const BODY = { 'body.json': '{}' }

describe('flags and arguments', () => {
  it.for<Row>([
    ['', 'Usage: handover-sim'],
    ['strat', /unknown command 'strat'\n\(Did you mean start\?\)/],
    ['start --prot 1', /unknown option '--prot'\n\(Did you mean --port\?\)/],
    ['start --webhook http://127.0.0.1:1/', /unknown option '--webhook'\n\(Did you mean --webhook-url\?\)\n\(--help/],
    ['start --xyzzy', /unknown option '--xyzzy'\n\(--help/],
    ['start --output loud', "argument 'loud' is invalid. Allowed choices are pretty, compact"],
    ['start now', 'too many arguments'],
    ['start --port', "option '--port <number>' argument missing"],
    ['start --port 99999', /^--port: must be a whole number from 0 to 65535 .*, got "99999"\.\n$/],
    ['start --demo --webhook-url http://x.example.test/', /^--demo brings its own webhook: /],
    ['start --demo --agent-driver driver.yaml', /^--demo brings its own help desk: /],
    ['start --open --no-inspector', /^--open opens the page: leave out --no-inspector\.\n$/],
    ['start --agent-driver none.yaml --port 0', /^none\.yaml: cannot be read: there is no such file/],
    ['start --port 0 --ready-file no/where.json', /^--ready-file: cannot write "no\/where\.json": /],
    [['start', '--token', 'two words'], /^--token: must be a text of visible ASCII .* character 4 is U\+0020\.\n$/],
    ['wait --timeout 5', /^--timeout: must be a duration such as 500ms, 30s, 2m, got "5"\.\n$/],
    ['wait --url localhost', /^--url: must be an http or https URL .*, got "localhost"\.\n$/],
    ['wait --port 0', /^--url or --ready-file is needed: the configured port is 0/],
    ['complete tcsh', 'SHELL must be one of bash, zsh, fish, powershell, got "tcsh".'],
    [`run s.yaml --target 127.0.0.1:3000`, 'such as http:', { 's.yaml': SCENARIO }],
  ])('%j', row => expectMistake(row))

  it.for<Row>([
    ['trigger', "missing required argument 'event'"],
    [['trigger', ''], /^EVENT: must not be empty\.\n$/],
    ['trigger X --unknown Y', 'too many arguments'],
    ['trigger X --unknown --sign bad', 'Allowed choices are valid, none, wrong-key, tampered, truncated, hex'],
    ['trigger X --unknown --body {', /^--body: is not JSON: /],
    ['trigger X --unknown --body [1]', /^--body: must be a JSON object such as/],
    ['trigger X --unknown --body @none.json', /^--body: none\.json cannot be read: ENOENT/],
    ['trigger X --unknown --body -', /^--body: stdin: is not JSON/],
    ['trigger X --unknown --url http://127.0.0.1:1 --port 1', /^--url and --port name the simulator more than once/],
    ['trigger X --unknown --ready-file bad.json', /^--ready-file: "bad\.json" has no ready line/, { 'bad.json': '{}' }],
    ['resend', "missing required argument 'id'"],
    [['resend', ''], /^ID: must not be empty\.\n$/],
    ['resend x --fault http=chunked --fault http=header-case', /^--fault http: given twice; a list is written/],
  ])('%j of a running simulator', row => expectMistake(row))

  it.for<Row>([
    ['verify --signature x', "required option '--body <file>' not specified", BODY],
    ['verify --body body.json', "required option '--signature <text>' not specified", BODY],
    ['verify --body . --signature x --key k', /^--body: \. cannot be read: EISDIR/],
    [[...VERIFY.split(' '), '--key', ''], /^--key: must not be empty\.\n$/, BODY],
    [`${VERIFY} --key-env NOT_THERE`, /^--key-env: the variable NOT_THERE is not set\.\n$/, BODY],
    [`${VERIFY} --key-env EMPTY`, /^--key-env: the variable EMPTY is empty\.\n$/, BODY],
    [`${VERIFY} --key k --candidate-key-env NO`, /^--candidate-key-env: the variable NO is not set\.\n$/, BODY],
    [`${VERIFY} --key k --key-env MY_KEY`, /^--key and --key-env: give one of them\.\n$/, BODY],
  ])('%j', row => expectMistake(row, { EMPTY: '' }))

  it.for<Row>([
    [`proxy ${WEBHOOK}`, /^npx handover-sim proxy needs --upstream URL \(or proxy\.upstream in the config file\)\.$/m],
    [`proxy ${UPSTREAM}`, /^npx handover-sim proxy needs --webhook-url URL \(or webhook\.url in the config file\)\.$/m],
    [`proxy --upstream ftp://x ${WEBHOOK}`, /^--upstream: must be an http or https URL .*, got "ftp:\/\/x"\.$/m],
    [`proxy --upstream http://localhost:4747 ${WEBHOOK}`, /^--upstream: .* is the address of the proxy itself/],
    [`proxy ${UPSTREAM} --webhook-url http://127.0.0.1:4747/x`, /^--webhook-url: .* is the address of the proxy/],
    [`proxy ${UPSTREAM} ${WEBHOOK} --rewrite-links`, /^--rewrite-links changes deliveries.*: add --api-key KEY\./],
    [`proxy ${UPSTREAM} ${WEBHOOK} --delivery-path /hook`, /^--delivery-path: must be .* at least 16 characters/],
    [`proxy ${UPSTREAM} ${WEBHOOK} --delivery-path /_sim/0123456789abcdef`, /^--delivery-path: must be a path/],
    ['exec', 'exec needs a command after --, such as: npx handover-sim exec -- npm test'],
    ['exec --wait-for localhost -- true', /--wait-for must be an http or https URL .* got "localhost"/],
    ['exec --report journal=j.jsonl -- true', '--report: journal is a report of run, not of this command'],
  ])('%j', row => expectMistake(row))
})

describe('files', () => {
  const moduleWith = (text: string) => ({ 's.mjs': text })
  const jsonWith = (head: string, steps = '') => ({ 's.json': `${head}\n"steps": [${steps}]\n}\n` })
  const MERGE = '  - check: &c { status: agent }\n  - check: { <<: *c, typing: false }\n'

  it.for<Row>([
    [`run d.yaml ${TARGET}`, /^d\.yaml:1:1: is an agent driver and not .*: pass it with --agent/, { 'd.yaml': DRIVER }],
    [`run s.yaml --port 0 --agent-driver s.yaml ${TARGET}`, /^s\.yaml:3:1: this is a scenario/, { 's.yaml': SCENARIO }],
    [`run ${TARGET}`, /^There is no folder scenarios here: name the files .* --builtin/],
    ['report none.jsonl', /^none\.jsonl: cannot be read: there is no such file/],
    ['validate s.json', /^s\.json:2:161: is not valid JSON/, jsonWith('{ "version": 1,', STEPS)],
    ['validate s.json', /^s\.json:1:13: is not valid JSON/, jsonWith('{"a":1,"b":[,],')],
    [
      'validate s.mjs --allow-modules',
      's.mjs: cannot be loaded: the package no-such-package is not installed; install it: npm install --save-dev',
      moduleWith(`import { press } from 'no-such-package'\nexport default press\n`),
    ],
    ['validate s.mjs --allow-modules', 'loaded: boom (line 3:7).', moduleWith(`\n\nthrow new Error('boom')\n`)],
    ['validate s.yaml', /<<: is not a known key; YAML 1\.2 has no merge keys/, { 's.yaml': SCENARIO + MERGE }],
  ])('%j', row => expectMistake(row))

  it('a module that never finishes loading', async () => {
    const folder = folderWith({ 's.mjs': 'await new Promise(() => {})\nexport default 1\n' })
    const file = { name: 's.mjs', path: join(folder, 's.mjs'), extension: '.mjs' }
    await expect(loadExports(file, process.version, 50)).rejects.toThrow(
      's.mjs: cannot be loaded: it does not finish loading; see what it awaits at its top level.',
    )
  })
})

describe('help', () => {
  it('says what to begin with in eight lines when a person types the name alone', async () => {
    const io = fakeIo(folderWith(), true)
    expect(await main([], {}, io)).toBe(0)
    expect(io.stdout.lines.length).toBeLessThanOrEqual(8)
    expect(io.stdout.text.match(/npx handover-sim (start|run) --?\S+/g)).toHaveLength(3)
  })

  it.each([
    ['--version', /^\d+\.\d+\.\d+\n$/],
    ['--help', /start --demo\n.*\nWatch:\n +start .*\nJudge a service:\n.*\nSmall tools:\n(?!.*Commands:).* help /s],
    ['start --help', /--ready-file/],
    ['help start', /--ready-file/],
  ])('%s is on stdout, with exit code 0', async (line, message) => {
    const { code, out, err } = await runCommand(line.split(' '))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(message)
  })
})
