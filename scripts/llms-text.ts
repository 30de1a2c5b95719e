/** Writes llms.txt, which lists the pages with their first sentence, and llms-full.txt, which has them whole: for coding assistants. */
import { readdirSync, readFileSync } from 'node:fs'

const ROOT = new URL('../', import.meta.url)
/** For those who change the package; the package does not have them. */
const OWN = ['explanation/architecture.md', 'explanation/contributing.md', 'explanation/figures.md']

function sectionOf(file: string): string {
  if (file.startsWith('reference/checks/')) return 'Checks'
  const [folder = ''] = file.split('/')
  const names: Readonly<Record<string, string>> = {
    tutorials: 'Tutorials',
    'how-to': 'How to',
    explanation: 'Explanation',
  }
  return names[folder] ?? 'Reference'
}

const textOf = (file: string): string => readFileSync(new URL(file, ROOT), 'utf8')
const description = (): string => (JSON.parse(textOf('package.json')) as { description: string }).description
const pages = (): string[] =>
  readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md') && !OWN.includes(file) && !file.endsWith('README.md'))
    .sort()

export function llmsText(): string {
  const sections: Record<string, string[]> = { Tutorials: [], 'How to': [], Reference: [], Explanation: [], Checks: [] }
  for (const file of pages()) {
    const text = textOf(`docs/${file}`)
    const title = /^# (.+)$/m.exec(text)?.[1] ?? file
    const paragraph = text.split('\n\n').find(part => /^[A-Z`]/.test(part)) ?? ''
    const sentence = /^.*?[.:](?=\s|$)/s.exec(paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'))?.[0] ?? ''
    const section = sectionOf(file)
    const about =
      section === 'Checks' || sentence === '' ? '' : `: ${sentence.replaceAll('\n', ' ').replace(/:$/, '.')}`
    sections[section]!.push(`- [${title}](docs/${file})${about}`)
  }
  const parts = Object.entries(sections).map(([name, lines]) => `## ${name}\n\n${lines.join('\n')}\n`)
  return `# handover-sim\n\n> ${description()}\n\nHow to work with it, in thirty lines: [SKILL.md](SKILL.md)\n\n${parts.join('\n')}`
}

/** SKILL.md and the pages, each below its path: tutorials, how-to, reference, explanation. */
export function llmsFullText(): string {
  const order = ['Tutorials', 'How to', 'Reference', 'Checks', 'Explanation']
  const sorted = pages().sort(
    (a, b) => order.indexOf(sectionOf(a)) - order.indexOf(sectionOf(b)) || a.localeCompare(b, 'en'),
  )
  const files = ['SKILL.md', ...sorted.map(file => `docs/${file}`)]
  const texts = files.map(file => `<!-- ${file} -->\n\n${textOf(file).trim()}\n`)
  return `# handover-sim\n\n> ${description()}\n\n${texts.join('\n')}`
}
