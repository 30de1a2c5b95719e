/** Lists how an event that is sent manually can be signed: `valid` as the platform does, or invalid in one way that a receiver must detect. */
import * as z from 'zod/mini'

export const SIGN_MODES = ['valid', 'none', 'wrong-key', 'tampered', 'truncated', 'hex'] as const
export const SignMode = z
  .enum(SIGN_MODES)
  .check(z.meta({ id: 'SignMode', description: 'How an event is signed; all but `valid` are wrong on purpose' }))
export type SignMode = z.infer<typeof SignMode>
