/** Renders warnings: findings of the linter, and failures that are only warnings in their scenario. */
import { findingText } from '../linter/texts.ts'
import type { Warning } from './verdict.ts'

export const warningText = (warning: Warning): string =>
  'failure' in warning ? `${warning.failure.wanted}: ${warning.failure.happened}` : findingText(warning)
