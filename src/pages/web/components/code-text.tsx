/** Shows a text in which names stand between backticks: the names as code. */
import { visible } from '../../../base/text/terminal-text.ts'

export function CodeText({ text }: { readonly text: string }) {
  const parts = text.split('`').map(visible)
  return <>{parts.map((part, index) => (index % 2 === 0 ? part : <code key={index}>{part}</code>))}</>
}
