// @ts-check
// Plays one handover against the reference intermediary and prints it: a request, an agent with another language,
// messages in both directions, a file, typing, the end, and closed hours. It uses only HTTP, so any language can do the
// same.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { client } from './client.js'
import { printStep, printTranscript } from './output.js'

const BIN = fileURLToPath(new URL('../../bin/handover-sim.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'handover-sim-demo-'))
const readyFile = join(folder, 'ready.json')
const simulator = spawn(process.execPath, [BIN, 'start', '--demo', '--port', '0', '--ready-file', readyFile], {
  stdio: ['ignore', 'pipe', 'inherit'],
})

try {
  await readyLine()
  await play(client(readyFile))
} catch (error) {
  console.error(error)
  process.exitCode = 1
} finally {
  simulator.kill('SIGTERM')
  if (simulator.exitCode === null && simulator.signalCode === null) await once(simulator, 'exit')
  rmSync(folder, { recursive: true, force: true })
}

/** Waits for the ready line, after which both servers answer. */
async function readyLine() {
  for await (const line of createInterface({ input: simulator.stdout })) {
    if (line.startsWith('Ready: ')) return
  }
  throw new Error('The simulator exited before it was ready.')
}

/** @param {import('./client.js').Client} http */
async function play(http) {
  printStep('A customer of a Norwegian shop chats with the bot. The agent reads English.')
  const chat = await http.newChat({ transcript: 'nb-shop' })

  printStep('1. The user presses the handover button.')
  await http.press(chat, 'handover')

  printStep('2. Anna accepts at the help desk; the intermediary starts the handover.')
  await http.desk(`/desk/${chat}/accept`)
  await http.called('start', chat)

  printStep('3. The user writes, and sends a receipt. The platform translates for Anna.')
  await http.writes(chat, 'Her er kvitteringen 🧾', [{ name: 'kvittering.pdf', type: 'application/pdf', size_kb: 87 }])

  printStep('4. Anna types, then answers. The platform translates for the user.')
  await http.desk(`/desk/${chat}/typing`, { on: true })
  await http.called('typing_start', chat)
  await http.desk(`/desk/${chat}/messages`, { text: 'Thank you! We are sending a new parcel today.' })
  await http.called('message', chat)

  printStep('5. Anna leaves, and the bot answers again.')
  await http.desk(`/desk/${chat}/close`)
  await http.called('end', chat)
  await http.writes(chat, 'Tusen takk!')

  printStep('6. The last agent logs off: a new request gets the closed text and causes no event.')
  await http.desk('/desk/availability', { open: false })
  await http.called('availability')
  await http.press(chat, 'handover')

  await http.settle()
  await printTranscript(http, chat)
}
