/** The fault of a step: one to set, or which to clear. */
import * as z from 'zod/mini'
import { knownKeys } from '../../contract/known-keys.ts'
import { Fault, type FaultSpec } from '../../faults/schema.ts'
import { isMap } from '../../files/is-map.ts'
import { described } from '../../files/setting-schemas.ts'
import { namesIn } from '../interpolation.ts'
import { FILLED_SHAPE } from './values.ts'

const having = (name: string, schema: object) => ({ required: [name], properties: { [name]: schema } })

/** Texts anyway, filled or not. */
const TEXTS = ['name', 'chat_id']

/** With `$(...)` in it, it is held against the schema once that is filled. */
const Later = z.unknown().check(
  ctx => {
    if (isMap(ctx.value) && namesIn(ctx.value).length > 0) return
    ctx.issues.push({ code: 'invalid_type', expected: 'object', input: ctx.value, message: '' })
  },
  z.meta({
    type: 'object',
    anyOf: [
      ...knownKeys(Fault, [])
        .filter(name => !TEXTS.includes(name))
        .map(name => having(name, FILLED_SHAPE)),
      having('respond', having('status', FILLED_SHAPE)),
    ],
  }),
)

export const FaultStep = z.union([
  z.literal('clear').check(described('Clears every fault')),
  z.strictObject({ clear: z.string().check(described('Name of the fault to clear', 'flaky')) }),
  Fault,
  Later,
]) as unknown as z.ZodMiniType<'clear' | { clear: string } | FaultSpec>
