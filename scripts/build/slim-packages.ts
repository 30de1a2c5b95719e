/** Bundles only the needed part of two large packages: the names of faker's locales, and the dispatchers of undici. */
import { ar, de, en, nb_NO } from '@faker-js/faker'
import type { Plugin } from 'rolldown'

const DEFINITIONS = { en, nb_NO, de, ar }
type Locale = keyof typeof DEFINITIONS

/** Locale of `@faker-js/faker/locale/` -> the locales that it takes names from, the first one first. */
const LOCALES: Readonly<Record<string, readonly Locale[]>> = {
  en: ['en'],
  nb_NO: ['nb_NO', 'en'],
  de: ['de', 'en'],
  ar: ['ar', 'en'],
}
/** The definitions that personas use; a locale also has those of animals, cars, foods and so on. */
const NAMES = ['first_name', 'last_name', 'last_name_pattern']

const LOCALE = /^@faker-js\/faker\/locale\/(\w+)$/
const NAMES_OF = 'names-of/'

/** Returns a locale of faker that can only name people: 50 KB in place of 700 KB. */
export const namesOfLocales = (): Plugin => ({
  name: 'names-of-locales',
  resolveId(specifier) {
    const locale = LOCALE.exec(specifier)?.[1]
    if (locale !== undefined) return `\0locale/${locale}`
    return specifier.startsWith(NAMES_OF) ? `\0${specifier}` : null
  },
  load(id) {
    if (id.startsWith('\0locale/')) return localeModule(id.replace('\0locale/', ''))
    return id.startsWith(`\0${NAMES_OF}`) ? namesModule(id.replace(`\0${NAMES_OF}`, '')) : null
  },
})

function localeModule(locale: string): string {
  const chain = LOCALES[locale] ?? []
  const imports = chain.map(name => `import ${name} from '${NAMES_OF}${name}'`)
  return `import { Faker } from '@faker-js/faker'
${imports.join('\n')}
export const faker = new Faker({ locale: [${chain.join(', ')}] })`
}

function namesModule(locale: string): string {
  const { person } = DEFINITIONS[locale as Locale]
  const names = Object.entries(person ?? {}).filter(([key]) => NAMES.includes(key))
  return `export default ${JSON.stringify({ person: Object.fromEntries(names) })}`
}

const UNDICI = '\0undici-dispatchers'
const HTTP2 = '\0undici-http2'

/**
 * Replaces the entry of undici, which also loads its mocks, caches, proxies and interceptors, and its client of HTTP/2,
 * which is off by default and loads `node:http2`.
 */
export const dispatchersOfUndici = (): Plugin => ({
  name: 'dispatchers-of-undici',
  resolveId(specifier) {
    if (specifier === 'undici') return UNDICI
    return specifier === './client-h2.js' ? HTTP2 : null
  },
  load(id) {
    if (id === HTTP2) return HTTP2_MODULE
    return id === UNDICI ? UNDICI_MODULE : null
  },
})

const HTTP2_MODULE = `module.exports = () => {
  throw new Error('HTTP/2 is not part of this bundle')
}`

const UNDICI_MODULE = `
import Agent from 'undici/lib/dispatcher/agent.js'
import Client from 'undici/lib/dispatcher/client.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import buildConnector from 'undici/lib/core/connect.js'
import * as api from 'undici/lib/api/index.js'
Object.assign(Dispatcher.prototype, api.default)
export { Agent, buildConnector, Client, Dispatcher }
export async function request(url, { dispatcher, ...options }) {
  const { origin, pathname, search } = new URL(url)
  return dispatcher.request({ ...options, origin, path: pathname + search })
}`
