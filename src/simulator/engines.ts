/** Chooses the engines: the functions in the options, otherwise those that the knobs name. */
import { allowedFor } from '../contract/knobs.ts'
import type { PlatformContext } from '../platform/context.ts'
import type { Engines } from '../platform/engines.ts'
import { fillTemplate } from '../platform/summary.ts'
import { markTranslation, sameText, type Translate } from '../platform/translation.ts'
import { loadModule } from '../runtime/modules.ts'
import { InvalidOptionError, type PlatformSimulatorOptions } from './options.ts'

/** Loads the `translate` function that a module exports. Throws `InvalidOptionError` if there is none. */
export async function loadTranslate(path: string): Promise<Translate> {
  const name = 'translation.engine'
  const loaded = await loadModule(path).catch((error: Error) => {
    const message = `${name}: cannot load ${JSON.stringify(path)}: ${error.message}`
    throw new InvalidOptionError([{ name, message, allowed: allowedFor(name) }])
  })
  const translate =
    loaded.translate ?? (loaded.default as { translate?: unknown } | undefined)?.translate ?? loaded.default
  if (typeof translate === 'function') return translate as Translate
  const message = `${name}: ${JSON.stringify(path)} exports no function translate(text, from, to).`
  throw new InvalidOptionError([{ name, message, allowed: allowedFor(name) }])
}

export function createEngines(options: PlatformSimulatorOptions, platform: PlatformContext): Engines {
  const loaded = new Map<string, Promise<Translate>>()
  const load = (path: string) => {
    const known = loaded.get(path) ?? loadTranslate(path)
    loaded.set(path, known)
    return known
  }
  return {
    translate(text, from, to) {
      if (options.translate) return options.translate(text, from, to)
      const engine = platform.knobs['translation.engine']
      if (engine === 'marker') return markTranslation(text, from, to)
      if (engine === 'identity') return sameText(text, from, to)
      return load(engine).then(translate => translate(text, from, to))
    },
    summarize: options.summarize ?? (input => fillTemplate(platform, input)),
  }
}
