/** Writes the assumptions of an answer as `name=value`, the way `--set` takes them. */
import type { ApiContent } from '../journal/entry.ts'

export const assumedIn = ({ unspecified }: Pick<ApiContent, 'unspecified'>): string[] =>
  Object.entries(unspecified).map(([name, value]) => (value === null ? name : `${name}=${String(value)}`))
