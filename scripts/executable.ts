/**
 * Builds a single executable of handover-sim for this system, for machines without Node: `npm run executable -- FILE`. It is
 * Node 26, which npm installs into a temporary folder, with the files of the package inside.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const NODE = '26.10.0'
const root = new URL('..', import.meta.url).pathname
const isWindows = process.platform === 'win32'
const output = resolve(process.argv[2] ?? `dist-executable/handover-sim${isWindows ? '.exe' : ''}`)
const npm = isWindows ? 'npm.cmd' : 'npm'

/** What an executable does not need: types, what is for browsers and bundlers, and the examples beside the reference intermediary. */
const isLeftOut = (path: string): boolean =>
  /^(dist\/(types|browser)\/|integrations\/|fixtures\/signatures\/)/.test(path) ||
  (path.startsWith('examples/') && !path.startsWith('examples/intermediary/'))

/** A header in JSON, `[[path, bytes], ...]`, a zero byte, then the files. */
function packageFiles(): Buffer {
  const listed = execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root, encoding: 'utf8' })
  const [{ files }] = JSON.parse(listed) as [{ files: { path: string }[] }]
  const contents = files
    .filter(({ path }) => !isLeftOut(path))
    .map(({ path }): [string, Buffer] => [path, readFileSync(join(root, path))])
  // Runs a script, an ES module too.
  contents.push(['run.cjs', Buffer.from("import(require('node:url').pathToFileURL(process.argv[1]).href)\n")])
  const header = JSON.stringify(contents.map(([path, bytes]) => [path, bytes.length]))
  return gzipSync(Buffer.concat([Buffer.from(`${header}\0`), ...contents.map(([, bytes]) => bytes)]), { level: 9 })
}

const work = mkdtempSync(join(tmpdir(), 'handover-executable-'))
try {
  writeFileSync(join(work, 'package.json'), JSON.stringify({ private: true, allowScripts: { node: true } }))
  execFileSync(npm, ['install', '--no-audit', '--no-fund', '--silent', `node@${NODE}`], { cwd: work, stdio: 'inherit' })
  const files = join(work, 'package.gz')
  writeFileSync(files, packageFiles())
  const config = join(work, 'sea.json')
  writeFileSync(
    config,
    JSON.stringify({
      main: join(root, 'scripts/executable/main.cjs'),
      output,
      assets: { package: files },
      disableExperimentalSEAWarning: true,
    }),
  )
  mkdirSync(dirname(output), { recursive: true })
  const node = join(work, 'node_modules/node/bin', isWindows ? 'node.exe' : 'node')
  execFileSync(node, ['--build-sea', config], { stdio: 'inherit' })
  // macOS runs no program without a signature.
  if (process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', '--force', output], { stdio: 'inherit' })
  process.stdout.write(`${output}: ${(statSync(output).size / 1024 / 1024).toFixed(0)} MiB\n`)
} finally {
  rmSync(work, { recursive: true, force: true })
}
