/** Prints the OpenAPI document of the platform or of the control API (`handover-sim openapi`). */

import { resolveSettings } from '../server/config/resolve.ts'
import type { SettingFlags } from '../server/config/settings.ts'
import { urlOf } from '../server/control/addresses.ts'
import { configSources, defineCommand } from './command.ts'
import type { Context } from './io.ts'

export const openApiCommand = defineCommand({
  flags: {
    '--control': 'the control API instead of the platform',
    '--base-url <url>': 'the address the document names',
    '--config <file>': 'config file',
  },
  async run(context, flags) {
    const document = flags.control ? await controlDocument() : await platformDocument(context, flags)
    context.io.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  },
})

async function platformDocument(context: Context, flags: SettingFlags): Promise<unknown> {
  const { options, values } = await resolveSettings(flags, configSources(context))
  const baseUrl = options.baseUrl ?? urlOf(String(values.host), Number(values.port))
  return (await import('../platform/contract/openapi.ts')).platformOpenApi({ baseUrl })
}

const controlDocument = async () => (await import('../server/control/openapi.ts')).controlOpenApi()
