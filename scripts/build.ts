/** Builds what is published: bundles with rolldown, types with tsc, and the licences of what is bundled. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { build } from 'rolldown'
import { collectLicences } from './licences.ts'

/**
 * What `start` needs before it serves, in one file: each further file costs the start a millisecond. The rest is
 * loaded when it is first used.
 */
const LATER =
  /src\/(control|report)\/|src\/cli\/(openapi|wait|config|demo-target)\.ts|src\/(config\/(file-layer|json-schema|load)|source\/(document|known-keys))\.ts|src\/contract\/openapi|undici-transport|personas|transcripts\.ts/
const atStart = (id: string) => (/\/src\//.test(id) && !LATER.test(id)) || /node_modules\/(zod|commander)\//.test(id)

const root = new URL('..', import.meta.url).pathname
rmSync(`${root}dist`, { recursive: true, force: true })

const result = await build({
  cwd: root,
  input: { index: 'src/index.ts', cli: 'src/cli/main.ts' },
  platform: 'node',
  external: [/^node:/],
  output: {
    dir: 'dist',
    format: 'esm',
    sourcemap: true,
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
    codeSplitting: { groups: [{ name: 'start', test: atStart }] },
  },
  logLevel: 'warn',
})
collectLicences(root, result.output)
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`], {
  stdio: 'inherit',
})
// Rooms no public type leads to; their types would name packages that are not installed.
for (const room of ['cli', 'control', 'config', 'report'])
  rmSync(`${root}dist/types/${room}`, { recursive: true, force: true })
