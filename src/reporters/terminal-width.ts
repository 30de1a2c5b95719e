/** How wide a report for people is. */

const USUAL = 100

/** What `COLUMNS` says, else the terminal. */
export function columnsOf(
  env: Readonly<Record<string, string | undefined>>,
  stream: { readonly columns?: number | undefined },
): number {
  const told = env.COLUMNS ?? ''
  return /^[1-9]\d{0,4}$/.test(told) ? Number(told) : (stream.columns ?? USUAL)
}
