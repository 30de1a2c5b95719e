/** Infers from its steps which driver verbs a plan needs, and whether other scenarios can run at the same time. */
import type { FaultSpec } from '../../faults/schema.ts'
import type { Action, CallPattern } from '../action.ts'
import type { ScenarioFile } from '../format/scenario.ts'
import { type Plan, type PlannedStep, stepsOf } from '../plan.ts'
import { callsOf } from './call-patterns.ts'
import { envIn } from './names.ts'

/** The parts of a plan that its steps determine. */
export function requirementsOf(
  scenario: ScenarioFile,
  placed: Pick<Plan, 'steps' | 'finally'>,
  never: Plan['never'],
  hours: unknown,
  conversations: Plan['conversations'],
): Pick<Plan, 'exclusive' | 'needs' | 'env' | 'mentionsAvailability'> {
  const steps = [...stepsOf([...placed.steps, ...placed.finally])]
  const inferred = exclusiveReason(steps, never, hours)
  return {
    exclusive: inferred ?? (scenario.exclusive ? 'it says so' : null),
    needs: needsOf(steps, scenario.requires ?? []),
    env: [...new Set(envIn([steps.map(step => step.action), never, conversations]))],
    mentionsAvailability: mentionsAvailability(steps, never),
  }
}

/** Driver verbs that the plan needs. */
function needsOf(steps: readonly PlannedStep[], required: readonly string[]): string[] {
  const inferred = steps.flatMap(({ action }) => needOf(action))
  return [...new Set([...required.map(name => name.replace(/^agent\./, '')), ...inferred])]
}

function needOf(action: Action): string[] {
  if (action.verb === 'agent') return [action.does]
  if (action.verb === 'sees') return ['inbox']
  return action.verb === 'target' ? [`target.${action.does}`] : []
}

const patternsIn = (action: Action): CallPattern[] => {
  if (action.verb === 'expect') return [...callsOf(action.tree)]
  return action.verb === 'none' ? [...action.calls] : []
}

function mentionsAvailability(steps: readonly PlannedStep[], never: readonly CallPattern[]): boolean {
  const inCalls = [...never, ...steps.flatMap(({ action }) => patternsIn(action))]
  return inCalls.some(({ call }) => call === 'availability') || steps.some(({ action }) => isAboutAvailability(action))
}

const isAboutAvailability = (action: Action) =>
  action.verb === 'availability' || (action.verb === 'check' && action.check.availability !== undefined)

/** Availability calls name no chat and a restart ends every chat, so such a scenario runs alone. */
function exclusiveReason(steps: readonly PlannedStep[], never: readonly CallPattern[], hours: unknown): string | null {
  if (never.some(({ call }) => call === 'availability')) return 'never availability'
  if (hours !== null) return 'business hours'
  for (const { action, number } of steps) {
    const reason = reasonOf(action)
    if (reason !== null) return `${reason} (step ${number})`
  }
  return null
}

function reasonOf(action: Action): string | null {
  if (patternsIn(action).some(({ call }) => call === 'availability')) return `${action.verb} availability`
  if (action.verb === 'check' && action.check.availability !== undefined) return 'check availability'
  if (action.verb === 'agent' && (action.does === 'away' || action.does === 'back')) return `agent ${action.does}`
  if (action.verb === 'target') return `target ${action.does}`
  return action.verb === 'fault' && !('clear' in action.fault) ? faultReason(action.fault) : null
}

function faultReason({ on }: FaultSpec): string | null {
  const api = typeof on === 'object' ? on.api : undefined
  const names = api === undefined ? [] : [api].flat()
  return names.includes('availability') ? 'fault on availability' : null
}
