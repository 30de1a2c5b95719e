/** Collects the ids and captures that earlier steps define; each branch of a parallel has its own view. */
import { nearest } from '../../text/error-text.ts'
import type { Action } from '../action.ts'
import { placeOf } from '../format/loaded.ts'
import { callsOf } from './call-patterns.ts'
import { RESERVED_NAMES } from './names.ts'
import type { StepCompiler } from './step-compiler.ts'
import { COMPILE_TEXTS } from './texts.ts'

type Path = readonly PropertyKey[]

/** Where a name is defined; repeated steps share a spot. */
type Spot = string
const spotOf = ({ written, path }: StepCompiler): Spot => `${written.path} ${written.at.join('.')} ${path.join('.')}`

interface Definition {
  readonly spot: Spot
  /** Shown in errors. */
  readonly at: string
}

/** The definitions of the whole plan. */
interface Registry {
  readonly ids: Map<string, Definition & { uses: number }>
  readonly captures: Map<string, Definition>
}

interface StepId {
  /** In the plan: `s1`, and `s1#2` in the second round of a repeat. */
  readonly id: string
  readonly verb: Action['verb']
}

export class Definitions {
  readonly #registry: Registry
  readonly #ids: Map<string, StepId>
  readonly #captures: Set<string>

  constructor(from?: Definitions) {
    this.#registry = from ? from.#registry : { ids: new Map(), captures: new Map() }
    this.#ids = new Map(from ? from.#ids : [])
    this.#captures = new Set(from ? from.#captures : [])
  }

  /** Names captured so far. */
  names(): Iterable<string> {
    return this.#captures
  }

  merge(branch: Definitions): void {
    for (const [name, marked] of branch.#ids) this.#ids.set(name, marked)
    for (const name of branch.#captures) this.#captures.add(name)
  }

  /** Defines the id of a step and returns its id in the plan. */
  define(compiler: StepCompiler, name: string, verb: Action['verb']): string {
    const spot = spotOf(compiler)
    const known = this.#registry.ids.get(name) ?? { spot, at: whereIs(compiler), uses: 0 }
    if (known.spot !== spot) compiler.report(['id'], COMPILE_TEXTS.duplicateId(known.at))
    known.uses += 1
    this.#registry.ids.set(name, known)
    const id = known.uses === 1 ? name : `${name}#${known.uses}`
    this.#ids.set(name, { id, verb })
    return id
  }

  /** The planned id for `since`, or for `replay`, which must name a step that sends an event. */
  idOf(compiler: StepCompiler, name: string, path: Path, sending: boolean): string | null {
    const marked = this.#ids.get(name)
    if (marked === undefined) {
      const known = [...this.#ids.keys()]
      const hint = nearest(name, known) || (known.length === 0 ? COMPILE_TEXTS.giveId : COMPILE_TEXTS.thereAre(known))
      compiler.report(path, COMPILE_TEXTS.unknownId(hint))
      return null
    }
    if (sending && !SENDING.includes(marked.verb)) {
      compiler.report(path, COMPILE_TEXTS.noEvent(marked.verb))
    }
    return marked.id
  }

  captures(compiler: StepCompiler, action: Action): void {
    if (action.verb !== 'expect') return
    const names = [...callsOf(action.tree)].flatMap(call => Object.keys(call.capture))
    for (const name of names) this.#capture(compiler, name)
  }

  #capture(compiler: StepCompiler, name: string): void {
    const spot = spotOf(compiler)
    const { values, deferred } = compiler.scope
    const known = this.#registry.captures.get(name)
    const taken =
      (RESERVED_NAMES.includes(name) && COMPILE_TEXTS.alwaysDefined) ||
      ((Object.hasOwn(values, name) || Object.hasOwn(deferred, name)) && COMPILE_TEXTS.givenName) ||
      (known !== undefined && known.spot !== spot && COMPILE_TEXTS.capturedAt(known.at))
    if (taken) compiler.report(['expect', 'capture', name], COMPILE_TEXTS.takenCapture(taken), 'key')
    if (known === undefined) this.#registry.captures.set(name, { spot, at: whereIs(compiler) })
    this.#captures.add(name)
  }
}

const SENDING: readonly Action['verb'][] = ['user', 'press', 'deliver']

function whereIs({ written, path }: StepCompiler): string {
  const place = placeOf(written, path)
  return place === null ? `${written.file} steps[${path.slice(1).join('.')}]` : `${place.file}:${place.line}`
}
