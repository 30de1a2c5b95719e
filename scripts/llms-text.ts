/** Writes llms.txt: what the package is, and its pages with their first sentence, for coding assistants. */
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

export function llmsText(): string {
  const { description } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as { description: string }
  const files = readdirSync(new URL('docs', ROOT), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.md') && !OWN.includes(file) && !file.endsWith('README.md'))
    .sort()
  const sections: Record<string, string[]> = { Tutorials: [], 'How to': [], Reference: [], Explanation: [], Checks: [] }
  for (const file of files) {
    const text = readFileSync(new URL(`docs/${file}`, ROOT), 'utf8')
    const title = /^# (.+)$/m.exec(text)?.[1] ?? file
    const paragraph = text.split('\n\n').find(part => /^[A-Z`]/.test(part)) ?? ''
    const sentence = /^.*?[.:](?=\s|$)/s.exec(paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1'))?.[0] ?? ''
    const section = sectionOf(file)
    const about =
      section === 'Checks' || sentence === '' ? '' : `: ${sentence.replaceAll('\n', ' ').replace(/:$/, '.')}`
    sections[section]!.push(`- [${title}](docs/${file})${about}`)
  }
  const parts = Object.entries(sections).map(([name, lines]) => `## ${name}\n\n${lines.join('\n')}\n`)
  return `# handover-sim\n\n> ${description}\n\nHow to work with it, in thirty lines: [SKILL.md](SKILL.md)\n\n${parts.join('\n')}`
}
