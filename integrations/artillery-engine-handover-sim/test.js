/**
 * Runs `node test.js PATH-OF-handover-sim.js`: plays 100 conversations with the installed Artillery, and one that must fail.
 * Prints what differs, and exits with 1.
 */
const { spawn, spawnSync } = require('node:child_process')
const { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const { join } = require('node:path')

const [cli] = process.argv.slice(2)
if (cli === undefined) throw new Error('Expected the path of bin/handover-sim.js, received nothing.')

// Artillery looks for an engine in the folder in which it is itself.
const linked = join(__dirname, 'node_modules/artillery-engine-handover-sim')
mkdirSync(join(__dirname, 'node_modules'), { recursive: true })
if (!existsSync(linked)) symlinkSync(__dirname, linked, 'dir')

const folder = mkdtempSync(join(tmpdir(), 'handover-artillery-'))
const ready = join(folder, 'ready.json')
const simulator = spawn(process.execPath, [cli, 'start', '--demo', '--port', '0', '--ready-file', ready], {
  stdio: 'ignore',
})

async function main() {
  for (let tries = 0; !existsSync(ready); tries++) {
    if (tries > 200 || simulator.exitCode !== null) throw new Error('The simulator did not start.')
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  const { url } = JSON.parse(readFileSync(ready, 'utf8'))
  const run = script => {
    const bin = join(__dirname, 'node_modules/artillery/bin/run')
    const args = [bin, 'run', '--target', url, join(__dirname, 'example', script)]
    const env = { ...process.env, ARTILLERY_DISABLE_TELEMETRY: 'true' }
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 180_000 })
    return { status, output: stdout + stderr }
  }
  const expect = (what, isTrue, output) => {
    if (!isTrue) throw new Error(`Expected ${what}, received:\n${output}`)
  }
  const passing = run('load.yaml')
  expect('exit code 0', passing.status === 0, passing.output)
  expect('100 verdicts', /handover\.verdict\.pass: \.+ 100\n/.test(passing.output), passing.output)
  expect('their times', /handover\.to_agent:/.test(passing.output), passing.output)
  const failing = run('failing.yaml')
  expect('exit code 1', failing.status === 1, failing.output)
  expect('the code of the failure', /errors\.no_call: \.+ 1\n/.test(failing.output), failing.output)
  process.stdout.write('Artillery played 100 conversations with 100 verdicts, and one that failed.\n')
}

main()
  .catch(error => {
    process.stderr.write(`${error.message}\n`)
    process.exitCode = 1
  })
  .finally(() => {
    simulator.kill()
    rmSync(folder, { recursive: true, force: true })
  })
