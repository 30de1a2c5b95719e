/** Prints every effective setting with its origin (`handover-sim config`), and the OpenAPI documents (`handover-sim openapi`). */

import { urlOf } from '../base/text/hosts.ts'
import { visible } from '../base/text/terminal-text.ts'
import { maskSetting } from '../platform/journal/mask.ts'
import { resolveSettings } from '../server/config/resolve.ts'
import { configSources, defineCommand, SETTING_FLAGS } from './command.ts'

/** Longer values do not widen the column. */
const MAX_VALUE_COLUMNS = 39

export const configCommand = defineCommand({
  flags: {
    ...SETTING_FLAGS,
    '--show-keys': 'show the keys instead of ***',
    '--json': 'one line of JSON: { v, type, settings: { name: { value, from } } }',
  },
  examples: {
    'config --set typing.webhook=off': 'every setting, and where it comes from',
  },
  async run(context, flags) {
    const { values, sources, warnings } = await resolveSettings(flags, configSources(context))
    for (const warning of warnings) context.io.stderr.write(`${warning}\n`)
    const { stdout } = flags.showKeys ? context.unredacted : context.io
    const settings: Record<string, { value: unknown; from: string }> = {}
    const rows: [string, string, string][] = []
    for (const [name, actual] of Object.entries(values)) {
      const from = sources[name] ?? 'default'
      // The default keys are published.
      const value = flags.showKeys || from === 'default' ? actual : maskSetting(name, actual)
      settings[name] = { value, from }
      rows.push([
        name,
        visible(typeof value === 'string' && value !== '' ? value : JSON.stringify(value)),
        visible(from),
      ])
    }
    if (flags.json) {
      stdout.write(`${JSON.stringify({ v: 1, type: 'config', settings })}\n`)
      return 0
    }
    let nameColumns = 0
    let valueColumns = 0
    for (const [name, { length }] of rows) {
      nameColumns = Math.max(nameColumns, name.length)
      if (length <= MAX_VALUE_COLUMNS) valueColumns = Math.max(valueColumns, length)
    }
    for (const [name, text, from] of rows)
      stdout.write(`${name.padEnd(nameColumns)}  ${text.padEnd(valueColumns)}  ${from}\n`)
    return 0
  },
})

export const openApiCommand = defineCommand({
  flags: {
    '--control': 'the control API instead of the platform',
    '--base-url <url>': 'the address the document names',
    '--config <file>': 'config file',
  },
  examples: {
    openapi: 'the platform',
    'openapi --control': 'the control API',
  },
  async run(context, { control, ...flags }) {
    let document: unknown
    if (control) {
      const { controlOpenApi } = await import('../server/control/openapi.ts')
      document = controlOpenApi()
    } else {
      const { options, values } = await resolveSettings(flags, configSources(context))
      const { platformOpenApi } = await import('../platform/contract/openapi.ts')
      document = platformOpenApi({ baseUrl: options.baseUrl ?? urlOf(String(values.host), Number(values.port)) })
    }
    context.io.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
    return 0
  },
})
