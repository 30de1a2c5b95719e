/** Runs the demo; `npm test` builds first. */
import { spawn } from 'node:child_process'
import { expect, it, onTestFinished } from 'vitest'
import { EXAMPLES } from './program.ts'

it('ends, prints the transcript, and leaves no process running', async () => {
  const child = spawn(process.execPath, ['demo/demo.js'], {
    cwd: EXAMPLES,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // The simulator and the intermediary are in the same process group.
  onTestFinished(() => void (child.exitCode === null && process.kill(-child.pid!, 'SIGKILL')))
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', text => (stderr += text))
  const code = await new Promise(resolve => child.on('close', resolve))
  expect(code, stderr).toBe(0)

  const expected = [
    'The chat as the user sees it:',
    'Et øyeblikk, jeg setter deg over til en kollega.',
    'Anna har blitt med i chatten.',
    'Her er kvitteringen 🧾 ([nb>en] Her er kvitteringen 🧾) [file kvittering.pdf, 87 KB]',
    '[en>nb] Thank you! We are sending a new parcel today.',
    'Anna har forlatt chatten.',
    'Tusen takk!',
    'Teamet vårt er ikke tilgjengelig akkurat nå. Prøv igjen senere.',
    'Where to go next:',
  ]
  const places = expected.map(text => stdout.indexOf(text))
  expect(places).not.toContain(-1)
  expect(places).toEqual([...places].sort((a, b) => a - b))
  for (const step of [1, 2, 3, 4, 5, 6]) expect(stderr).toContain(`── ${step}. `)

  const ports = new Set([...stderr.matchAll(/http:\/\/127\.0\.0\.1:\d+/g)].map(([url]) => url))
  expect(ports.size).toBe(2)
  for (const url of ports) await expect(fetch(url), url).rejects.toThrow()
})
