/** Renders Markdown for a job's summary, a release page or a pull request, and annotations of GitHub's workflows. */
import { visible } from '../../base/text/terminal-text.ts'
import type { Report, ReportItem } from './report-model.ts'

/** GitHub shows at most ten annotations per step. */
const MAX_ANNOTATIONS = 10

/** `fileOf` converts a path to one from the root of the repository. */
export function githubAnnotations({ notable, noun }: Report, fileOf = (file: string) => file): string {
  const failed = notable.filter(({ status }) => status === 'failure' || status === 'error')
  const lines = failed.slice(0, MAX_ANNOTATIONS).map(item => {
    const { file, line, column } = item.failedAt ?? { file: null, line: null, column: null }
    const title = `${item.word} ${item.failedAt === undefined ? item.title : item.name}`
    const properties = Object.entries({ file: file === null ? null : fileOf(file), line, col: column, title })
      .filter(([, value]) => value !== null)
      .map(
        ([key, value]) =>
          `${key}=${escapeData(visible(String(value)))
            .replaceAll(':', '%3A')
            .replaceAll(',', '%2C')}`,
      )
    return `::error ${properties.join(',')}::${escapeData(item.annotation.join('\n'))}`
  })
  const left = failed.length - MAX_ANNOTATIONS
  if (left > 0) lines.push(`::notice::${escapeData(`${left} more ${noun}s failed: see the summary of the job`)}`)
  return lines.map(line => `${line}\n`).join('')
}

/** Escapes line ends, which would end the command, and shows invisible characters. */
const escapeData = (text: string) =>
  text.split('\n').map(visible).join('\n').replaceAll('%', '%25').replaceAll('\n', '%0A')
/** Escapes text in GitHub's log that looks like a workflow command. */
export const withoutCommands = (text: string): string =>
  text.replace(/^(\s*):(?=:)/gm, '$1.:').replaceAll('##[', '# #[')

const MAX_ROWS = 200
const MAX_DETAILS = 20

export function markdownReport({ heading, summary, stopped, notable, noun, ...report }: Report): string {
  const heads = ['', noun === 'check' ? 'Check' : 'Scenario', noun === 'check' ? 'Level' : 'Time', 'What happened']
  const rows = notable.slice(0, MAX_ROWS).map(({ word, title, column, cause }) => [word, title, column, cause])
  const left = notable.length - MAX_ROWS
  const blocks = [
    `## ${markdown(heading)}`,
    ...(summary === '' ? [] : [markdown(summary)]),
    ...(stopped === null ? [] : [`**Stopped early:** ${markdown(stopped)}`]),
    ...(rows.length === 0 ? [] : [table(heads, rows)]),
    ...(left > 0 ? [`and ${left} more`] : []),
    ...report.causes.map(({ count, text }) => `**One cause in ${count} scenarios:** ${markdown(text)}`),
    ...notable
      .filter(({ hasDetails }) => hasDetails)
      .slice(0, MAX_DETAILS)
      .map(evidenceOf),
    ...report.tables.map(({ title, parts }) =>
      folded(title, parts.map(part => table(part.heads, part.rows)).join('\n\n')),
    ),
    ...(report.facts.length === 0 ? [] : [report.facts.map(markdown).join('<br>\n')]),
  ]
  return `${blocks.join('\n\n')}\n`
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), line(heads.map(() => '---')), ...rows.map(cells => line(cells.map(markdown)))].join('\n')
}

function evidenceOf(item: ReportItem): string {
  const lines = htmlText(item.details().join('\n')).split('\n')
  // A blank line ends the HTML of Markdown.
  const text = lines.map(line => (line.trim() === '' ? '&nbsp;' : line)).join('\n')
  return folded(`${item.word} ${item.title}`, `<pre>${text}</pre>`)
}

const folded = (summary: string, content: string): string =>
  `<details><summary>${htmlText(summary)}</summary>\n\n${content}\n\n</details>`

const htmlText = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Escapes text for Markdown, also in the cell of a table. */
const markdown = (text: string) =>
  htmlText(visible(text)).replace(/[\\`*_|[\]~@#]/g, char => `&#${char.charCodeAt(0)};`)
