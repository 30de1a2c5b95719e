// @ts-check
// Reads the settings from the environment. The part of the platform can change while running.

import { badInput } from './http.js'

/**
 * @typedef {object} PlatformSettings
 * @property {string} url                   base address, without a slash at the end
 * @property {string} apiKey                bearer key of every call
 * @property {string | null} botApiKey      key of the chat transcript, with the scope 'Read chats'; null: none
 * @property {string | null} webhookSecret  null: webhooks are signed with the API key, as the platform does
 * @property {number | null} botId          used only when an event does not name its bot
 */

/**
 * @typedef {object} Settings
 * @property {number} port
 * @property {string} host
 * @property {PlatformSettings} platform
 * @property {{ name: string, avatar: string, languages: string[] }} agent
 * @property {string | null} stateFile
 */

/**
 * @param {Record<string, string | undefined>} env an empty variable counts as not set
 * @returns {Settings}
 */
export function readSettings(env) {
  return {
    port: portNumber(env.PORT || '3000'),
    host: env.HOST || '127.0.0.1',
    platform: readPlatform(env),
    agent: {
      name: env.AGENT_NAME || 'Anna',
      avatar: env.AGENT_AVATAR || 'https://desk.example.test/anna.png',
      languages: (env.AGENT_LANGUAGES || 'en').split(/[ ,]+/).filter(Boolean),
    },
    stateFile: env.STATE_FILE || null,
  }
}

/**
 * @param {Record<string, string | undefined>} env
 * @returns {PlatformSettings}
 */
function readPlatform(env) {
  const botId = env.HANDOVER_SIM_BOT_ID
  return {
    url: httpUrl(env.HANDOVER_SIM_URL || 'http://127.0.0.1:4747', 'HANDOVER_SIM_URL'),
    apiKey: env.HANDOVER_SIM_API_KEY || 'sim-handover-key',
    // The default is for the default of the other key only: a platform with other keys would refuse it.
    botApiKey: env.HANDOVER_SIM_BOT_API_KEY || (env.HANDOVER_SIM_API_KEY ? null : 'sim-bot-key'),
    webhookSecret: env.HANDOVER_SIM_WEBHOOK_SECRET || null,
    botId: botId ? integer(Number(botId), 'HANDOVER_SIM_BOT_ID') : null,
  }
}

/**
 * Changes the given fields. Checks all of them before it changes the first one.
 * @param {PlatformSettings} platform
 * @param {Record<string, any>} change
 */
export function changePlatform(platform, change) {
  const { url, api_key: apiKey, bot_api_key: botApiKey, webhook_secret: webhookSecret, bot_id: botId } = change
  /** @type {Partial<PlatformSettings>} */
  const checked = {}
  if (url != null) checked.url = httpUrl(url, 'url')
  if (apiKey != null) Object.assign(checked, { apiKey: nonEmptyString(apiKey, 'api_key'), botApiKey: null })
  if (botApiKey != null) checked.botApiKey = nonEmptyString(botApiKey, 'bot_api_key')
  if (webhookSecret != null) checked.webhookSecret = nonEmptyString(webhookSecret, 'webhook_secret')
  if (botId != null) checked.botId = integer(botId, 'bot_id')
  Object.assign(platform, checked)
}

/** @param {PlatformSettings} platform */
export function webhookSecretOf(platform) {
  return platform.webhookSecret ?? platform.apiKey
}

/** @param {string} value */
function portNumber(value) {
  const port = Number(value)
  if (!Number.isInteger(port) || port < 0 || port > 65535) {
    throw badInput('PORT', 'must be a number from 0 to 65535')
  }
  return port
}

/** @type {(value: unknown, field: string) => string} */
function httpUrl(value, field) {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value)) {
    throw badInput(field, 'must be an http or https address')
  }
  return value.replace(/\/+$/, '')
}

/** @type {(value: unknown, field: string) => string} */
export function nonEmptyString(value, field) {
  if (typeof value !== 'string' || value === '') throw badInput(field, 'must be a non-empty string')
  return value
}

/** @type {(value: unknown, field: string) => number} */
function integer(value, field) {
  if (!Number.isInteger(value)) throw badInput(field, 'must be an integer')
  return Number(value)
}
