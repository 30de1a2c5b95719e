import { expect, it } from 'vitest'
import { main } from '../../src/commands/main.ts'
import { folderWith } from '../config/folder.ts'
import { pathOf, run } from '../docs/pages.ts'
import { fakeIo } from './fake-io.ts'

const someFiles = () => folderWith({ 'driver.yaml': '', '.hidden': '', scenarios: null, 'scenarios/own.yaml': '' })

/** The values that a shell is given for the last of these words, and how it treats them. */
async function complete(...words: string[]): Promise<{ values: string[]; directive: string | undefined }> {
  const io = fakeIo(someFiles())
  expect(await main(['complete', '--', ...words], {}, io)).toBe(0)
  const values = io.stdout.lines.map(line => line.split('\t')[0]!)
  return { directive: values.pop(), values }
}

it.each([
  [['ce'], ['certify']],
  [['--ver'], ['--version']],
  [['certify', '--on'], ['--only']],
  [['certify', '--profile', 'w'], ['webhook']],
  [['certify', '--only', 'SIG-0'], Array.from({ length: 9 }, (_, index) => `SIG-0${index + 1}`)],
  [['certify', '--explain=SIG-01'], ['--explain=SIG-01']],
  [
    ['run', '--set', 'typing.webhook='],
    ['typing.webhook=echo', 'typing.webhook=off'],
  ],
  [['run', '--skip', 'happy'], ['happy-path']],
  [
    ['run', '--tag', ''],
    ['smoke', 'flow', 'robustness'],
  ],
  [['run', 'builtin:happy'], ['builtin:happy-path.yaml']],
  [['run', 'scenarios/'], ['scenarios/own.yaml']],
  [['run', 'no-such-folder/'], []],
  [['run', '--agent-driver', 'd'], ['driver.yaml']],
  [
    ['run', '--report', 'pretty,j'],
    ['pretty,json=', 'pretty,junit=', 'pretty,journal='],
  ],
  [
    ['start', '--output', ''],
    ['pretty', 'compact', 'quiet'],
  ],
  [['trigger', 'MESSAGE'], ['MESSAGE FROM USER']],
  [
    ['trigger', 'MESSAGE FROM USER', '--fault', 'd'],
    ['delay=', 'duplicate=', 'drip='],
  ],
  [['exec', '--', 'npm', ''], []],
  [['no-such-command', ''], []],
])('%j may be one of %j', async (words, expected) => {
  expect((await complete(...words)).values).toEqual(expected)
})

it('offers a flag once, unless it may be repeated', async () => {
  expect((await complete('run', '--list', '--li')).values).toEqual([])
  expect((await complete('run', '--tag', 'smoke', '--ta')).values).toEqual(['--target', '--tag'])
})

it('lets the shell add a space after what is whole', async () => {
  expect((await complete('run', '--report', 'ht')).directive).toBe(':6')
  expect((await complete('run', '--report', 'pr')).directive).toBe(':4')
  expect((await complete('run', 'scen')).directive).toBe(':6')
})

it.each(['bash', 'zsh', 'fish', 'powershell'])('prints the script of %s', async shell => {
  const { stdout } = await run(process.execPath, [pathOf('bin/handover-sim.js'), 'complete', shell])
  expect(stdout).toMatch(/handover-sim complete '?--/)
})

it('says which shells there are', async () => {
  const io = fakeIo('/')
  expect(await main(['complete', 'tcsh'], {}, io)).toBe(2)
  expect(io.stderr.text).toContain('SHELL must be one of bash, zsh, fish, powershell, got "tcsh".')
})

it('the script of bash completes values with a colon, an equals sign and spaces', async () => {
  const io = fakeIo('/')
  await main(['complete', 'bash'], {}, io)
  const handoverSim = `handover-sim() { "${process.execPath}" "${pathOf('bin/handover-sim.js')}" "$@"; }`
  const typed = [
    ['handover-sim', 'run', 'builtin', ':', 'happy'],
    ['handover-sim', 'run', '--report', '=', 'pr'],
    ['handover-sim', 'trigger', 'MESS'],
  ]
  const asks = typed.map(
    words =>
      `COMP_WORDS=(${words.map(word => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _handover_sim; echo "\${COMPREPLY[@]}"`,
  )
  const script = [handoverSim, io.stdout.text, ...asks].join('\n')
  const { stdout } = await run('bash', ['--norc', '-c', script])
  expect(stdout).toBe('happy-path.yaml\npretty\nMESSAGE\\ FROM\\ USER\n')
})
