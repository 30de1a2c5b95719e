/** Renders Markdown for a job's summary, a release page or a pull request, and annotations of GitHub's workflows. */
import { visible } from '../../base/text/terminal-text.ts'
import { BUILTIN } from '../../evaluation/scenario/load/find.ts'
import type { Report } from './report-model.ts'

/** GitHub shows at most ten annotations per step. */
const MAX_ANNOTATIONS = 10

/** `fileOf` converts a path to one from the root of the repository. */
export function githubAnnotations({ notable, noun }: Report, fileOf = (file: string) => file): string {
  let text = ''
  let failed = 0
  for (const { status, failedAt, word, title, name, annotation } of notable) {
    if (status !== 'failure' && status !== 'error') continue
    if (++failed > MAX_ANNOTATIONS) continue
    // A shipped scenario is no file of the repository.
    const place = failedAt?.file.startsWith(BUILTIN) ? undefined : failedAt
    const values = {
      file: place === undefined ? null : fileOf(place.file),
      line: place?.line ?? null,
      col: place?.column ?? null,
      title: `${word} ${place === undefined ? title : name}`,
    }
    const properties: string[] = []
    for (const [key, value] of Object.entries(values)) {
      if (value === null) continue
      const escaped = escapeData(visible(String(value)))
        .replaceAll(':', '%3A')
        .replaceAll(',', '%2C')
      properties.push(`${key}=${escaped}`)
    }
    text += `::error ${properties.join(',')}::${escapeData(annotation.join('\n'))}\n`
  }
  const left = failed - MAX_ANNOTATIONS
  if (left > 0) text += `::notice::${escapeData(`${left} more ${noun}s failed: see the summary of the job`)}\n`
  return text
}

/** Escapes line ends, which would end the command, and shows invisible characters. */
const escapeData = (text: string) =>
  text.split('\n').map(visible).join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A')
/** Escapes text in GitHub's log that looks like a workflow command. */
export const withoutCommands = (text: string): string =>
  text.replace(/^(\s*):(?=:)/gm, '$1.:').replaceAll('##[', '# #[')

const MAX_ROWS = 200
const MAX_DETAILS = 20

export function markdownReport(report: Report): string {
  const { heading, summary, stopped, notable, noun } = report
  const blocks = [`## ${markdown(heading)}`]
  for (const { lead, text } of report.causes) blocks.push(`**${lead}:** ${markdown(text)}`)
  if (summary !== '') blocks.push(markdown(summary))
  if (stopped !== null) blocks.push(`**Stopped early:** ${markdown(stopped)}`)
  if (notable.length > 0) {
    const heads = { check: ['Check', 'Level'], scenario: ['Scenario', 'Time'], threshold: ['Threshold', ''] }[noun]
    const rows = notable.slice(0, MAX_ROWS).map(({ word, title, column, cause }) => [word, title, column, cause])
    blocks.push(table(['', ...heads, 'What happened'], rows))
  }
  if (notable.length > MAX_ROWS) blocks.push(`and ${notable.length - MAX_ROWS} more`)
  let left = MAX_DETAILS
  for (const item of notable) {
    if (!item.hasDetails || left-- <= 0) continue
    // A blank line ends the HTML of Markdown.
    const details = htmlText(item.details().join('\n')).replace(/^[^\S\n]*$/gm, '&nbsp;')
    blocks.push(folded(`${item.word} ${item.title}`, `<pre>${details}</pre>`))
  }
  for (const { title, parts } of report.tables) {
    const tables = parts.map(({ heads, rows }) => table(heads, rows))
    blocks.push(folded(title, tables.join('\n\n')))
  }
  if (report.facts.length > 0) blocks.push(report.facts.map(markdown).join('<br>\n'))
  return `${blocks.join('\n\n')}\n`
}

export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  let text = `| ${heads.join(' | ')} |\n|${' --- |'.repeat(heads.length)}`
  for (const cells of rows) text += `\n| ${cells.map(markdown).join(' | ')} |`
  return text
}

const folded = (summary: string, content: string): string =>
  `<details><summary>${htmlText(summary)}</summary>\n\n${content}\n\n</details>`

const htmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Escapes text for Markdown, also in the cell of a table. */
export const markdown = (text: string) =>
  htmlText(visible(text)).replace(/[\\`*_|[\]~@#]/g, char => `&#${char.charCodeAt(0)};`)
