/** Checks that docs/how-to/troubleshooting.md shows the texts of its symptoms, and that each fix ends its symptom. */
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../../src/index.ts'
import { blocks, read } from '../pages.ts'
import { CALL_SYMPTOMS } from './call-symptoms.ts'
import { COMMAND_SYMPTOMS } from './command-symptoms.ts'

const SYMPTOMS = { ...CALL_SYMPTOMS, ...COMMAND_SYMPTOMS }
const [, ...SECTIONS] = read('docs/how-to/troubleshooting.md').split('\n## ')

/** Removes what differs in each run: durations, the process that has a port, line breaks. */
const stable = (text: string) =>
  text
    .replaceAll(/\d+(\.\d+)? ms/g, '0 ms')
    .replaceAll(/ by [^;]+ \(process \d+\)/g, '')
    .replaceAll(/--port \d{4,5}/g, '--port 4747')
    .replaceAll(/process \d+/g, 'process 0')
    .replaceAll(/\s+/g, ' ')
    .trim()

const symptomOf = (heading: string) => SYMPTOMS[heading] ?? (() => Promise.resolve(''))

it('has a section for each symptom, in the same order', () => {
  expect(SECTIONS.map(text => text.split('\n')[0])).toEqual(Object.keys(SYMPTOMS))
})

describe.each(SECTIONS.map(text => [text.split('\n')[0]!, text]))('%s', (heading, text) => {
  const [shown = '', ...others] = blocks(text, '')

  it('shows the text that a user sees', async () => {
    expect(others).toEqual([])
    expect(stable(await symptomOf(heading)(false))).toContain(stable(shown))
  })

  it('has a fix after which the text is gone', async () => {
    const after = stable(await symptomOf(heading)(true))
    expect(after).not.toContain(stable(shown))
    expect(after).not.toMatch(/Error: |"error":|handover_sim|did you mean|^[45]\d\d |exit [1-4]:/)
  })
})

it('names only faults that exist', () => {
  const linked = [...read('docs/how-to/troubleshooting.md').matchAll(/\[`(\w+)`\]\(\.\.\/reference\/faults\.md#/g)]
  const names = linked.map(([, name]) => name)
  expect(names).toEqual(['duplicate', 'swap', 'hold'])
  const sim = createSimulator()
  for (const fault of [{ duplicate: 2 }, { swap: true }, { hold: 1 }] as const)
    expect(() => sim.faults.add({ on: 'webhook', ...fault, times: 1 })).not.toThrow()
})
