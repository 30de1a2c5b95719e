/** Builds what is published: bundles with rolldown, types with tsc, and the licences of what is bundled. */
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { build } from 'rolldown'
import { collectLicences } from './licences.ts'

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
  },
  logLevel: 'warn',
})
collectLicences(root, result.output)
execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.build.json`], { stdio: 'inherit' })
