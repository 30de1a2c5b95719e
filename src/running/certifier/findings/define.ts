/** Defines the texts of findings: what happened, what was expected, and what to try next. */

type FindingText<Details> = string | ((details: Details) => string)

/** The three texts of one code. Each is complete sentences. */
// A type and not an interface, which has no index signature.
export type FindingTexts<Details> = {
  readonly happened: FindingText<Details>
  readonly expected: FindingText<Details>
  /** The next thing to try. */
  readonly next: FindingText<Details>
}

export type FindingTable<Family> = { readonly [Code in keyof Family]: FindingTexts<Family[Code]> }

/**
 * The texts of one family of findings by code.
 *
 * @example
 * const ACK_FINDINGS = defineFindings<AckDetails>({
 *   'not-200': { happened: ({ status }) => `The webhook answered ${status}.`, expected: 'It answers 200.', next: '...' },
 * })
 */
export const defineFindings = <Family>(table: FindingTable<Family>): FindingTable<Family> => table
