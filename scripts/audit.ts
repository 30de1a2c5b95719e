/** Audits the packages that `dist/` contains. They are development dependencies, which `npm audit --omit=dev` leaves out. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

interface Audit {
  readonly message?: string
  /** By name of package. `via`: its advisories, and the names of its dependencies that have some. */
  readonly vulnerabilities?: Record<
    string,
    {
      readonly via: readonly (string | { readonly title: string; readonly url: string })[]
      /** Its folders. */
      readonly nodes: readonly string[]
    }
  >
}

const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object }
/** `undici 7.30.2` */
const bundled = new Set<string>()
for (const [, name, version] of readFileSync('THIRD-PARTY-LICENSES.txt', 'utf8').matchAll(/^## (\S+) (\S+) \(/gm))
  bundled.add(`${name} ${version}`)

const { stdout } = spawnSync('npm', ['audit', '--json'], { encoding: 'utf8' })
let audit: Audit = { message: 'npm audit printed no JSON' }
try {
  audit = JSON.parse(stdout) as Audit
} catch {}
if (audit.vulnerabilities === undefined)
  console.log(
    `Nothing was audited, because the audit cannot be reached: ${(audit.message ?? 'npm audit says no reason').replace(/ - \w+ https?:.*/, '')}.`,
  )
else {
  const lines: string[] = []
  for (const [name, { via, nodes }] of Object.entries(audit.vulnerabilities))
    for (const node of nodes) {
      const { version } = JSON.parse(readFileSync(`${node}/package.json`, 'utf8')) as { version: string }
      if (!bundled.has(`${name} ${version}`) && !(name in dependencies)) continue
      for (const one of via) if (typeof one !== 'string') lines.push(`${name} ${version}: ${one.title} ${one.url}`)
    }
  console.log(lines.length === 0 ? `None of ${bundled.size} packages has an advisory.` : lines.join('\n'))
  process.exitCode = lines.length === 0 ? 0 : 1
}
