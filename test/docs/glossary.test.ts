/** Checks that docs/reference/glossary.md defines each term once, and that code or pages use it. */
import { expect, it } from 'vitest'
import { filesIn } from '../architecture/files.ts'
import { PAGES, read, rows } from './pages.ts'

const GLOSSARY = 'docs/reference/glossary.md'
const definitions = rows(read(GLOSSARY)).filter(([term]) => term !== 'term')
const terms = definitions.map(([term]) => term!)

it('defines each term once, in one sentence', () => {
  expect(new Set(terms).size).toBe(terms.length)
  const wrong = definitions.filter(([, meaning]) => !/^[A-Z][^.]*(\.\w[^.]*)*\.$/.test(meaning!))
  expect(wrong).toEqual([])
})

it('defines the terms of scenarios, webhooks and the journal', () => {
  const needed = [
    'ack',
    'assumption',
    'attempt',
    'claim',
    'conversation',
    'delivery',
    'evaluator',
    'event',
    'expectation',
  ]
  const more = [
    'fault',
    'finding',
    'intermediary',
    'journal',
    'knob',
    'matcher',
    'plan',
    'step',
    'verdict',
    'workspace',
  ]
  expect([...needed, ...more].filter(term => !terms.includes(term))).toEqual([])
})

const texts = [
  ...PAGES.filter(page => page !== GLOSSARY).map(read),
  ...filesIn('src', '.ts').map(file => read(`src/${file}`)),
]
/** Plurals and the camelCase of identifiers count as uses. */
const uses = (term: string) => new RegExp(`\\b${term.replace(/[ -]/g, '[ \\-_]?')}`, 'i')

it.each(terms)('code or another page uses %s', term => {
  expect(texts.some(text => uses(term).test(text))).toBe(true)
})

/** Words of the glossary that readers do not know from other tools, as they stand in a sentence. */
const UNUSUAL = {
  knob: /\bknobs?\b/i,
  turn: /\b(the|a|each) turn\b|\*\*\[?turn/i,
  claim: /\bclaim(s|ed)?\b/i,
  settle: /\bsettle[sd]?\b/i,
  workspace: /\bworkspaces?\b/i,
  verb: /\bverbs?\b/i,
  capability: /\bcapabilit(y|ies)\b/i,
  finding: /\bfindings?\b/i,
  handover: /\bhandovers?\b(?!-)/i,
}

it.each(['tutorials/getting-started', 'reference/scenarios', 'reference/certification', 'how-to/unit-tests'])(
  'docs/%s.md links the glossary where it uses an unusual term first',
  page => {
    const prose = read(`docs/${page}.md`)
      .replace(/^```.*?^```$/gms, '')
      .replace(/<!-- generated.*?<!-- end -->/gs, '')
      .replace(/^#.*$/gm, '')
      .replace(/`[^`\n]*`/g, '`')
    const unlinked = Object.entries(UNUSUAL).flatMap(([term, use]) => {
      const at = use.exec(prose)?.index
      if (at === undefined) return []
      const [line = ''] = prose.slice(prose.lastIndexOf('\n', at) + 1).split('\n')
      return new RegExp(`\\[[^\\]]*(${use.source})[^\\]]*\\]\\((?:\\.\\./reference/)?glossary\\.md#`, 'i').test(line)
        ? []
        : [`${term}: ${line}`]
    })
    expect(unlinked).toEqual([])
  },
)
