/** The output of a target: in a file, below failures, in every report, and again from the saved journal. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { fakeOutput } from '../cli/fake-io.ts'
import { folderWith } from '../config/folder.ts'
import { NON_INTERACTIVE } from '../shipped/target.ts'
import { freePort } from '../support/port.ts'

/** Its desk and its webhook answer 200; it ends, or answers 500, at what the word in a text or the verb asks for. */
const SERVICE = `
const { createServer } = require('node:http')
const env = process.env
const call = (name, body) => fetch(env.HANDOVER_SIM_URL + '/api/v2/handover/' + name + '/', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + env.HANDOVER_SIM_API_KEY, 'content-type': 'application/json' },
  body: JSON.stringify({ bot_id: Number(env.HANDOVER_SIM_BOT_ID), ...body }),
})
console.log('\\u001b[32mstarted\\u001b[0m with ' + env.DESK_TOKEN + ' <b>\\u202e')
createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request) body += chunk
  if (body !== '') console.log('received ' + (JSON.parse(body).message ?? request.url))
  if (/kaboom/.test(body)) setImmediate(() => { throw new Error('out of order') })
  else if (/refuse/.test(body)) console.error('cannot store it'), response.writeHead(500).end()
  else if (request.url.startsWith('/accept/')) await call('start', { chat_id: request.url.slice(8) }), response.end()
  else response.end()
}).listen(Number(env.PORT), '127.0.0.1')
`

const scenario = (name: string, steps: string) =>
  `version: 1\nname: ${name}\nsteps: [{ press: handover }, { agent: accept }, { expect: start }, ${steps}]\n`

/** What tests read of the JSON report. */
interface ReportedRun {
  readonly scenarios: readonly {
    readonly outcome: string
    readonly failures: readonly { readonly happened: string; readonly hint_code: string | null }[]
    readonly target_output: { readonly lines: readonly string[] } | null
  }[]
  readonly causes: object
}

/** Runs scenarios, one after the other, with every report. */
async function runScenarios(files: Readonly<Record<string, string>>, ...flags: string[]) {
  const port = await freePort()
  const folder = folderWith({
    'service.cjs': SERVICE,
    'driver.yaml': `version: 1
http: http://127.0.0.1:${port}
headers: { x-token: $(env.DESK_TOKEN) }
accept: { POST: /accept/$(chat.id) }
says: { POST: /says/$(chat.id), json: { text: $(text) } }
target: { start: ['${process.execPath}', service.cjs], env: { PORT: '${port}' }, ready: 'http://127.0.0.1:${port}/' }
`,
    ...files,
  })
  const command = async (...args: string[]) => {
    const [stdout, stderr] = [fakeOutput(), fakeOutput()]
    const env = { ...process.env, DESK_TOKEN: 'sesame-open', GITHUB_STEP_SUMMARY: join(folder, 'summary.md') }
    const exitCode = await main(args, env, { ...NON_INTERACTIVE, cwd: folder, stdout, stderr })
    return { exitCode, stdout: stdout.text, stderr: stderr.text }
  }
  const where = ['--target', `http://127.0.0.1:${port}/`, '--agent-driver', 'driver.yaml', '--port', '0', '--jobs', '1']
  const reports = 'pretty,json=run.json,junit=run.xml,html=run.html,tap=run.tap,github'
  const run = await command('run', ...Object.keys(files), ...where, '--report', reports, ...flags)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  return { ...run, folder, command, read, report: JSON.parse(read('run.json')) as ReportedRun }
}

it('a crash is told with its exit code and its last lines, in every report, and again from the saved journal', async () => {
  const { command, read, report, stdout, stderr } = await runScenarios({
    'crash.yaml': scenario('Crash', '{ user: kaboom }'),
    'later.yaml': scenario('Later', '{ user: hello }'),
  })
  const ended = 'the intermediary ended by itself with exit code 1'
  const lines = expect.arrayContaining(['started with *** <b>\u202e', 'Error: out of order'])
  const told = { target_output: { ended, file: '.handover-sim/target.log', lines } }
  const failures = [{ hint_code: 'target_ended', hint: expect.stringMatching(/^The intermediary ended by itself/) }]
  expect(report.scenarios).toMatchObject(['fail', 'error'].map(outcome => ({ ...told, outcome, failures })))
  expect(report.causes).toMatchObject([{ code: 'target_ended', text: ended, scenarios: [0, 1] }])
  // The story has a row in words, and the lines without control characters.
  for (const text of [stdout, read('run.xml'), read('run.tap'), read('summary.md')]) {
    expect(text).toMatch(/#\d+ +the intermediary ended by itself with exit code 1/)
    expect(text).toMatch(/\| .*Error: out of order/)
    expect(text).toContain('last output of the intermediary, from .handover-sim/target.log:')
    expect(text).toContain('U+202E')
    expect(text).not.toMatch(/\u202e|sesame|target_unreachable/)
  }
  expect(read('run.html')).toContain('Error: out of order')
  expect(read('run.html')).not.toContain('sesame')
  expect(stdout.match(/Error: out of order/g)).toHaveLength(1)
  expect(stderr).toContain(
    'The target ended during the run: it ended with exit code 1. Its output is in .handover-sim/target.log.\n',
  )
  expect(read('.handover-sim/target.log')).toMatch(/^started with \*\*\* .*\nreceived [\s\S]*\nError: out of order\n/)
  expect(read('.handover-sim/journal.jsonl')).not.toContain('sesame')

  const again = await command('report', '.handover-sim/journal.jsonl', '--report', 'pretty,json=again.json')
  expect(again.stdout).toBe(stdout)
  expect((JSON.parse(read('again.json')) as ReportedRun).scenarios).toEqual(report.scenarios)
})

it('a crash at a call of the agent driver is not taken for a wrong address of the help desk', async () => {
  const desk = scenario('Desk', '{ agent: { says: kaboom } }, { expect: message }')
  const { report } = await runScenarios({ 'desk.yaml': desk })
  const happened = expect.stringMatching(/^agent says "kaboom" failed: .*connection closed/)
  expect(report.scenarios).toMatchObject([{ failures: [{ happened, hint_code: 'target_ended' }] }])
})

it('a failure shows the last lines that the target printed since the scenario began, and a passed scenario none', async () => {
  const { read, report, stdout } = await runScenarios({
    'passes.yaml': scenario('Passes', '{ user: hello }'),
    'fails.yaml': scenario('Fails', '{ user: refuse it }'),
  })
  const [passes, fails] = report.scenarios
  expect(passes).toMatchObject({ outcome: 'pass', target_output: null })
  expect(fails!.failures[0]!.hint_code).not.toBe('target_ended')
  const { lines } = fails!.target_output!
  expect(lines.slice(-2)).toEqual(['received refuse it', 'cannot store it'])
  expect(lines).not.toContain('received hello')
  expect(stdout).toContain('    | cannot store it\n')
  expect(read('.handover-sim/target.log')).toContain('received hello\n')
  expect(read('.handover-sim/journal.jsonl').match(/"note":"target_output"/g)).toHaveLength(1)
})

it('the file of an earlier run is gone when this run starts no target', async () => {
  const { command, folder } = await runScenarios({ 'passes.yaml': scenario('Passes', '{ user: hello }') })
  const log = join(folder, '.handover-sim/target.log')
  expect(existsSync(log)).toBe(true)
  await command('run', 'passes.yaml', '--target', 'http://127.0.0.1:9/', '--port', '0')
  expect(existsSync(log)).toBe(false)
})
