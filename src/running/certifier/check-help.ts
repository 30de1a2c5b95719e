/** Reads the help page of a check, and from it how to fix what the check finds. */
import { readFileSync } from 'node:fs'
import { packagePath } from '../../base/runtime/node.ts'
import type { CheckFix } from '../../server/control/readiness.ts'

/** Null where the package has no page for it. */
export function helpPageOf({ id }: { readonly id: string }): string | null {
  const path = packagePath(`docs/reference/checks/${id}.md`)
  return path === null ? null : readFileSync(path, 'utf8')
}

export function fixOf(check: { readonly id: string }): CheckFix {
  const section =
    helpPageOf(check)
      ?.split(/^## How to fix it$/m)[1]
      ?.split(/^## /m)[0] ?? ''
  const code: Record<string, string> = {}
  const text = section.replace(/^```(\w+)\n([\s\S]*?)^```$/gm, (_, language: string, lines: string) => {
    code[language] ??= lines.trimEnd()
    return ''
  })
  return { text: text.trim().replace(/\n{3,}/g, '\n\n'), code }
}
