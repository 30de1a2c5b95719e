/** Bundles the module into one file that any runtime can load. */
import { build } from 'rolldown'
import { ROOT } from '../architecture/files.ts'

export async function bundled(): Promise<string> {
  const { output } = await build({
    cwd: ROOT,
    input: 'src/platform/signature/index.ts',
    platform: 'neutral',
    output: { format: 'esm' },
    write: false,
    logLevel: 'silent',
  })
  return output[0].code
}
