/**
 * `z.object` with zod's compiled parser. `zod/mini` leaves that parser out of its own objects; every request and every
 * answer passes through one, and compiled they cost about half.
 */
import * as z from 'zod/mini'

type Init = (instance: unknown, def: z.core.$ZodObjectDef) => void
const initMini: Init = z.ZodMiniObject.init as never
const initCompiled: Init = z.core.$ZodObjectJIT.init as never

const CompiledObject = z.core.$constructor('CompiledObject', (instance, def: z.core.$ZodObjectDef) => {
  initMini(instance, def)
  initCompiled(instance, def)
})

export function object<Shape extends z.core.$ZodShape>(shape: Shape): z.ZodMiniObject<Shape> {
  return new CompiledObject({ type: 'object', shape }) as unknown as z.ZodMiniObject<Shape>
}
