/** What can stand beside a verb, and how it is told from the verb's own options. */
import type { Step } from '../format/step.ts'

export interface StepOptions {
  /** So that `since` and `replay` can name it. */
  readonly id?: string
  /** What it is for; shown in reports. */
  readonly name?: string
  /** The chat it is about, when there are several. */
  readonly chat?: string
  /** A failure does not stop the chat. */
  readonly soft?: boolean
}

const COMMON = ['id', 'name', 'chat', 'soft'] as const

/** The step with what belongs beside its verb; what is left goes to `verb`. Nothing undefined stays. */
export function stepOf<Options extends StepOptions>(
  options: Options,
  verb: (own: Omit<Options, keyof StepOptions>) => Step,
): Step {
  const { id, name, chat, soft, ...own } = options
  const beside = { id, name, chat, soft }
  const given = COMMON.filter(key => beside[key] !== undefined).map(key => [key, beside[key]] as const)
  return { ...verb(withoutGaps(own)), ...Object.fromEntries(given) }
}

/** Without keys that hold nothing. */
const withoutGaps = <Value extends object>(value: Value): Value =>
  Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined)) as Value
