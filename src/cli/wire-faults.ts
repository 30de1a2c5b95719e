/** `--fault duplicate=2 --fault truncate`: what is unusual about how an event sent by hand travels. */
import type { Command } from 'commander'
import { sendingShape } from '../faults/schema.ts'
import { suggest } from '../text/near-names.ts'
import { collect } from './collect.ts'
import { UsageError } from './errors.ts'

const NAMES = Object.keys(sendingShape)

export type WireFaults = Readonly<Record<string, unknown>>

export const addFaultFlag = (command: Command): Command =>
  command.option('--fault <name=value>', `on its way: ${NAMES.join(', ')}; may be repeated`, collect)

/** The names only: what each may be is told by the simulator that is asked. */
export function readFaults(given: readonly string[] = []): WireFaults {
  const faults = new Map<string, unknown>()
  for (const assignment of given) {
    const [name, value] = split(assignment)
    if (!NAMES.includes(name)) throw new UsageError(unknown(name))
    if (faults.has(name)) throw new UsageError(`--fault ${name}: given twice; a list is written with commas.`)
    faults.set(name, value)
  }
  return Object.fromEntries(faults)
}

/** `truncate` alone means that it is so. */
function split(assignment: string): [string, unknown] {
  const at = assignment.indexOf('=')
  if (at < 0) return [assignment, true]
  const name = assignment.slice(0, at)
  return [name, readValue(name, assignment.slice(at + 1))]
}

/** A bare number counts; where a duration is wanted, it is told to have a unit. */
function readValue(name: string, text: string): unknown {
  if (name === 'duplicate' && /^\d+$/.test(text)) return Number(text)
  if (text === 'true' || text === 'false') return text === 'true'
  return text.includes(',') ? text.split(',') : text
}

const unknown = (name: string) =>
  `--fault: ${JSON.stringify(name)} is not one of ${NAMES.join(', ')}${suggest(name, NAMES)}`

/** `duplicate=2, truncate`, as given. */
export const faultText = (given: readonly string[] = []): string => given.join(', ')
