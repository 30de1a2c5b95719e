/** Collects the licence texts of every bundled package. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'

interface Chunk {
  readonly type: string
  readonly moduleIds?: readonly string[]
}

export function collectLicences(root: string, output: readonly Chunk[]): void {
  const folders = new Set<string>()
  for (const chunk of output) {
    for (const id of chunk.moduleIds ?? []) {
      const folder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0]
      if (folder) folders.add(folder)
    }
  }
  const texts = [...[...folders].map(licenceOf), ...llhttpLicence(output)].sort()
  writeFileSync(`${root}THIRD-PARTY-LICENSES.txt`, `Bundled in dist/:\n\n${texts.join('\n\n')}\n`)
}

/** The licence of a parser that undici contains as WebAssembly, without its licence. */
function llhttpLicence(output: readonly Chunk[]): string[] {
  const isBundled = output.some(({ moduleIds = [] }) =>
    moduleIds.some(id => /undici\/lib\/llhttp\/|@mswjs\/interceptors/.test(id)),
  )
  const text = () => readFileSync(`${import.meta.dirname}/llhttp-licence.txt`, 'utf8').trim()
  return isBundled ? [`## llhttp, in undici and @mswjs/interceptors (MIT)\n\n${text()}`] : []
}

function licenceOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as Record<
    string,
    string
  >
  const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry))
  const text =
    file && existsSync(`${folder}/${file}`) ? readFileSync(`${folder}/${file}`, 'utf8').trim() : `Licence: ${license}`
  return `## ${name} ${version} (${license})\n\n${text}`
}
