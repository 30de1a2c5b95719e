/** Checks that no files of a folder import each other in a circle, types included. */
import { dirname } from 'node:path'
import { expect, it } from 'vitest'
import { importersBySource, SOURCES } from './source.ts'

/** Returns a path from the file to itself through files of its folder. */
function circleOf(file: string, importers: ReadonlyMap<string, readonly string[]>): string[] | null {
  const cameFrom = new Map<string, string>()
  const queue = [file]
  for (const one of queue) {
    for (const importer of importers.get(one) ?? []) {
      if (importer === file) {
        const path = [file]
        for (let at = one; at !== file; at = cameFrom.get(at)!) path.push(at)
        return [...path, file]
      }
      if (dirname(importer) !== dirname(file) || cameFrom.has(importer)) continue
      cameFrom.set(importer, one)
      queue.push(importer)
    }
  }
  return null
}

it('the files of a folder do not import each other in a circle', () => {
  const importers = importersBySource()
  const circles = SOURCES.flatMap(file => {
    const circle = circleOf(file, importers)
    return circle === null ? [] : [circle.join(' -> ')]
  })
  expect(circles).toEqual([])
})
