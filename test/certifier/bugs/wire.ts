/** The bugs that the checks of `wire` find. */
import type { FoundBug } from '../mutants.ts'

export const WIRE_BUGS: readonly FoundBug[] = [
  {
    bug: 'wants-a-length',
    check: 'WIR-01',
    outcome: 'warn',
    code: 'variant-refused',
    says: /answered 411 to a validly signed .* with a body in chunks/,
  },
  {
    bug: 'reads-one-piece',
    check: 'WIR-01',
    outcome: 'warn',
    code: 'variant-refused',
    says: /answered 401 to .* with a body that arrives in pieces/,
  },
  {
    bug: 'wants-no-charset',
    check: 'WIR-01',
    outcome: 'warn',
    code: 'variant-refused',
    says: /answered 415 to .* with a charset in the Content-Type/,
  },
  {
    bug: 'breaks-on-byte-order-mark',
    check: 'WIR-02',
    outcome: 'warn',
    code: 'variant-error',
    says: /answered 500 to .* with a byte order mark/,
  },
  {
    bug: 'needs-a-content-type',
    check: 'WIR-02',
    outcome: 'warn',
    code: 'variant-error',
    says: /answered 500 to .* with no Content-Type/,
  },
]
