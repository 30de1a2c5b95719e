/** The site: the pages of docs/ as they are, with a sidebar from their indexes, search, and light and dark. */
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { llmsFullText, llmsText } from '../../scripts/llms-text.ts'

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url))
const KINDS = { tutorials: 'Tutorials', 'how-to': 'How to', reference: 'Reference', explanation: 'Explanation' }

const titleOf = (file: string): string =>
  /^# (.+)$/m.exec(readFileSync(join(DOCS, file), 'utf8'))?.[1]?.replaceAll('`', '') ?? file

/** The pages of a folder in the order in which its index links them. */
function pagesOf(folder: string): { text: string; link: string }[] {
  const index = readFileSync(join(DOCS, folder, 'README.md'), 'utf8')
  const linked = [...index.matchAll(/\]\(([a-z-]+)\.md\)/g)].map(([, name]) => name!)
  return linked.map(name => ({ text: titleOf(`${folder}/${name}.md`), link: `/${folder}/${name}` }))
}

const checks = readdirSync(join(DOCS, 'reference/checks'))
  .filter(name => /^[A-Z]+-\d+\.md$/.test(name))
  .map(name => ({ text: titleOf(`reference/checks/${name}`), link: `/reference/checks/${name.slice(0, -3)}` }))

/** `typing.webhook`, `--memory-limit` and `SIG-07` are one word each, beside their parts. */
const wordsOf = (text: string): string[] => {
  const words = text.toLowerCase().split(/[\s/|,;:()[\]{}"'`=]+/)
  return words.flatMap(word => [word, ...word.split(/[.\-_]+/)]).filter(Boolean)
}

const sidebar = Object.entries(KINDS).map(([folder, text]) => ({
  text,
  link: `/${folder}/`,
  collapsed: folder !== 'tutorials',
  items: pagesOf(folder),
}))
sidebar.push({ text: 'Checks', link: '/reference/checks/', collapsed: true, items: checks })

// Copied, because the packages of the site are found from where the pages are.
const pages = fileURLToPath(new URL('../pages', import.meta.url))
rmSync(pages, { recursive: true, force: true })
cpSync(DOCS, pages, { recursive: true })

export default defineConfig({
  title: 'handover-sim',
  description: "Plays a chatbot platform's handover API and its end user, offline",
  srcDir: 'pages',
  outDir: fileURLToPath(new URL('./dist', import.meta.url)),
  cleanUrls: true,
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, 'llms.txt'), llmsText())
    writeFileSync(join(outDir, 'llms-full.txt'), llmsFullText())
  },
  rewrites: {
    'README.md': 'index.md',
    ':folder/README.md': ':folder/index.md',
    'reference/checks/README.md': 'reference/checks/index.md',
  },
  themeConfig: {
    sidebar,
    nav: Object.entries(KINDS).map(([folder, text]) => ({ text, link: `/${folder}/` })),
    outline: [2, 3],
    search: {
      provider: 'local',
      options: {
        translations: { button: { buttonAriaLabel: 'Search K' } },
        miniSearch: {
          options: { tokenize: wordsOf },
          searchOptions: {
            // A query is whole words, so that `typing.webhook` does not find every page with "typing".
            tokenize: query => query.toLowerCase().split(/\s+/).filter(Boolean),
            fuzzy: term => (term.length > 5 && !/[.\d-]/.test(term) ? 0.1 : false),
            prefix: true,
            boost: { title: 6, titles: 2, text: 1 },
            // Where a term of this form is explained.
            boostDocument: (id, term) =>
              id === `/reference/cli#${term}` ||
              (/^[a-z]+\.[a-z]/i.test(term) && id.startsWith('/reference/assumptions')) ||
              (term.startsWith('--') && id.startsWith('/reference/cli'))
                ? 8
                : 1,
          },
        },
      },
    },
  },
  markdown: {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config(md) {
      // A header without text is no header for a reader that speaks.
      md.core.ruler.push('empty-headers', ({ tokens }) => {
        for (const [at, { type }] of tokens.entries())
          if (type === 'th_open' && tokens[at + 1]?.content === '')
            for (const cell of [tokens[at], tokens[at + 2]]) cell!.tag = 'td'
      })
      // Pages link to files beside docs/, which are not part of the site: they are shown as text.
      md.core.ruler.push('links-outside', state => {
        const page = posix.dirname(state.env.relativePath.replace(/index\.md$/, 'README.md'))
        for (const token of state.tokens)
          for (const child of token.children ?? []) {
            const href = child.type === 'link_open' ? child.attrGet('href') : null
            if (href !== null && !/^[a-z]+:|^#/.test(href) && posix.normalize(posix.join(page, href)).startsWith('..'))
              child.attrSet('href', '#')
          }
      })
    },
  },
})
