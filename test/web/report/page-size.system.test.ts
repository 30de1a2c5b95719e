import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ROOT } from '../../architecture/files.ts'

const LIMIT = 150 * 1024

/** A page and all files that it loads. */
function filesOf(page: string): string[] {
  const html = readFileSync(`${ROOT}dist/web/${page}`, 'utf8')
  const files = [...html.matchAll(/(?:src|href)="\.\/([^"]+)"/g)].map(([, file]) => file!)
  return [page, ...files]
}

it.each(['index.html', 'ui-mode.html'])('%s and its files have at most 150 KB, compressed', page => {
  const files = filesOf(page)
  expect(files.filter(file => file.endsWith('.js')).length).toBeGreaterThan(0)
  const sizes = files.map(file => gzipSync(readFileSync(`${ROOT}dist/web/${file}`)).length)
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(LIMIT)
})
