// @ts-check
// Prints the steps of the demo and the transcript.

/** @param {string} text */
export function printStep(text) {
  console.error(`\n── ${text}`)
}

/** @type {(http: import('./client.js').Client, chat: string) => Promise<void>} */
export async function printTranscript(http, chat) {
  const { messages } = await http.chat(chat)
  console.log('\nThe chat as the user sees it:\n')
  for (const message of messages) console.log(`  ${`${message.name}:`.padEnd(18)}${describe(message)}`)
  console.log(NEXT)
}

/** @param {any} message */
function describe({ text, original, attachments, buttons }) {
  const parts = [text.replaceAll('\n', ' ')]
  if (original) parts.push(`(${original})`)
  for (const file of attachments) parts.push(`[file ${file.name}, ${file.size_kb} KB]`)
  for (const button of buttons) parts.push(`[${button.label}]`)
  return parts.join(' ')
}

const NEXT = `
Where to go next:
  node bin/handover-sim.js start --demo     the same two servers
  docs/tutorials/getting-started.md         a handover by hand, with curl
  examples/intermediary/                    the intermediary of this demo
`
