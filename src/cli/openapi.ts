/** Prints the OpenAPI document of the platform or of the control API (`handover-sim openapi`). */
import type { Command } from 'commander'
import { resolveSettings } from '../config/resolve.ts'
import type { SettingFlags } from '../config/settings.ts'
import { urlOf } from '../server/addresses.ts'
import type { Context } from './io.ts'
import { configSources } from './shared-flags.ts'

interface OpenApiFlags extends SettingFlags {
  readonly control?: boolean
}

export function define(command: Command): void {
  command
    .option('--control', 'the control API instead of the platform')
    .option('--base-url <url>', 'the address the document names')
    .option('--config <file>', 'config file')
}

export async function run(context: Context, flags: OpenApiFlags): Promise<number> {
  const document = flags.control ? await controlDocument() : await platformDocument(context, flags)
  context.io.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
  return 0
}

async function platformDocument(context: Context, flags: OpenApiFlags): Promise<unknown> {
  const { options, values } = await resolveSettings(flags, configSources(context))
  const baseUrl = options.baseUrl ?? urlOf(String(values.host), Number(values.port))
  const { platformOpenApi } = await import('../contract/openapi.ts')
  return platformOpenApi({ baseUrl })
}

async function controlDocument(): Promise<unknown> {
  const { controlOpenApi } = await import('../server/control/openapi.ts')
  return controlOpenApi()
}
