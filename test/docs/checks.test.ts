import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CHECKS } from '../../src/running/certifier/checks/index.ts'
import { blocks, pathOf, read, section } from './pages.ts'

const SECTIONS = ['How it goes wrong', 'How to fix it']

const linesOf = (page: string, start: RegExp) => page.split('\n').flatMap(line => start.exec(line)?.[1] ?? [])

describe('help pages', () => {
  it('exist for each check, and for nothing else', () => {
    const pages = readdirSync(pathOf('docs/reference/checks')).filter(name => name !== 'README.md')
    expect(pages.sort()).toEqual(CHECKS.map(({ id }) => `${id}.md`).sort())
  })

  it.each(CHECKS)('$id says what it means, how it goes wrong, and how to fix it', ({ id, title }) => {
    const path = `docs/reference/checks/${id}.md`
    expect(existsSync(pathOf(path)), path).toBe(true)
    const page = read(path)
    expect(page.split('\n')[0]).toBe(`# ${id} ${title}`)
    expect(linesOf(page, /^## (.+)$/)).toEqual(SECTIONS)
    // After the title, a paragraph says what it means.
    expect(page.split('\n\n')[1]).toMatch(/^[^#`].+|^`[^`]/)
  })

  it.each(CHECKS)('$id has the command that runs it alone', ({ id, profile }) => {
    const driver = profile === 'webhook' ? '' : ' --agent-driver driver.yaml'
    const command = `npx handover-sim certify --target http://127.0.0.1:3000/webhook${driver} --only ${id}\n`
    expect(blocks(read(`docs/reference/checks/${id}.md`), 'sh')).toEqual([command])
  })

  it.each(CHECKS)('$id has example code in three languages', ({ id }) => {
    const page = section(read(`docs/reference/checks/${id}.md`), 'How to fix it')
    const languages = new Set(linesOf(page, /^```(\w+)$/))
    expect(languages.size).toBeGreaterThanOrEqual(3)
  })
})
