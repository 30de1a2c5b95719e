/** Creates the scenario file of a conversation that fails: its name, what the failure needs, and how to run it again. */
import { join } from 'node:path'
import { annotatedYaml } from '../../evaluation/scenario/build/yaml.ts'
import { INVARIANTS, type InvariantId } from './invariants.ts'
import { ACT_FAULTS, type ActSequence, inModel, ruleOf } from './model.ts'
import { labelOf } from './situations.ts'
import { chatName, type ScenarioSettings, toScenario } from './to-scenario.ts'

export interface FailingScenario {
  readonly path: string
  readonly yaml: string
}

interface FileOptions {
  /** The seed of the whole exploration. */
  readonly seed: number
  readonly folder: string
  /** The command or the call that runs the conversation with this seed again. */
  rerun(seed: number): string
  readonly settings: ScenarioSettings
}

const MAX_FILE_NAME_CHARS = 80

export function createFailingScenario(
  sequence: ActSequence,
  invariant: InvariantId,
  { seed, folder, rerun, settings }: FileOptions,
): FailingScenario {
  const { scenario } = toScenario(sequence, settings)
  const head = [
    `${invariant}: ${INVARIANTS[invariant].about}.`,
    ...needsOf(sequence).map(need => `It fails ${need}.`),
    `Found in conversation ${sequence.seed} of seed ${seed}.`,
    `The whole conversation again: ${rerun(sequence.seed)}`,
  ]
  const yaml = annotatedYaml(scenario, { head, steps: [], end: [] })
  const words = settings.name.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const slug = words.join('-').slice(0, MAX_FILE_NAME_CHARS).replace(/-+$/, '')
  return { path: join(folder, `${slug}-${sequence.seed}.yaml`), yaml }
}

const MAX_PATH_CHARS = 90

/** `A text of the user does not reach the agent: press, accept, user (digits)` */
export function nameOf(sequence: ActSequence, invariant: InvariantId): string {
  const acts = inModel(sequence)
  const isSeveral = (acts[0]?.before.chats.length ?? 1) > 1
  const words: string[] = []
  for (const { act } of acts) {
    const where = isSeveral && !ruleOf(act.kind).isOfDesk ? `${chatName(act.chat)} ` : ''
    words.push(`${where}${labelOf(act).replace(/:(\w+)/, ' ($1)')}`)
  }
  const { broken } = INVARIANTS[invariant]
  const path = words.join(', ')
  const last = path.length > MAX_PATH_CHARS ? `${acts.length} acts, the last ${words.at(-1)}` : path
  return `${broken.charAt(0).toUpperCase()}${broken.slice(1)}: ${last}`
}

/** What a conversation has beside its acts: the shortest one has it because it does not fail without. */
export function needsOf({ acts, knobs }: ActSequence): string[] {
  const needs: string[] = []
  const chats = new Set(acts.filter(({ kind }) => !ruleOf(kind).isOfDesk).map(({ chat }) => chat)).size
  if (chats > 1) needs.push(`only with ${chats} chats`)
  for (const [knob, value] of Object.entries(knobs)) needs.push(`only with the knob ${knob}=${String(value)}`)
  for (const { fault } of acts) if (fault !== undefined) needs.push(`only when ${ACT_FAULTS[fault].about}`)
  const paces = new Set(acts.map(({ pace }) => pace))
  if (paces.has('quick')) needs.push('only when one act follows the other at once')
  if (paces.has('slow')) needs.push('only after a pause of seconds')
  if (paces.has('during')) needs.push('only when an act falls into a call that is still being answered')
  const kinds = new Set(acts.map(({ text }) => text?.kind ?? 'plain'))
  kinds.delete('plain')
  if (kinds.size > 0) needs.push(`only with texts of the kind ${[...kinds].join(', ')}`)
  return needs
}
