/** Decides the width and the colours of output. */
import type { ColorLevel } from '../reporters/theme.ts'
import type { Context } from './io.ts'

const USUAL = 100

/** The columns in `COLUMNS`, else those of the terminal. */
export function columnsOf(
  env: Readonly<Record<string, string | undefined>>,
  stream: { readonly columns?: number | undefined },
): number {
  const answer = env.COLUMNS ?? ''
  return /^[1-9]\d{0,4}$/.test(answer) ? Number(answer) : (stream.columns ?? USUAL)
}

const on = (value: string | undefined) => value !== undefined && value !== '' && value !== '0' && value !== 'false'

export function colorLevel(env: Context['env'], isTTY: boolean): ColorLevel {
  if (env.NO_COLOR || env.FORCE_COLOR === '0' || env.FORCE_COLOR === 'false') return 0
  if (on(env.FORCE_COLOR)) return env.FORCE_COLOR === '2' ? 2 : env.FORCE_COLOR === '3' ? 3 : 1
  if (on(env.CLICOLOR_FORCE)) return 1
  if (!isTTY || env.TERM === 'dumb' || env.CLICOLOR === '0') return 0
  return 1
}
