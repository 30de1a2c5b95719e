/** Defines flags that several commands share. */
import type { Command } from 'commander'
import type { ConfigEnvironment } from '../config/resolve.ts'
import type { Context } from './io.ts'

export function addSettingFlags(command: Command): Command {
  return command
    .option('--port <number>', 'port to listen on; 0 takes any free one (default: 4747)')
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--webhook-url <url>', 'where events are sent: the webhook of the intermediary')
    .option('--api-key <key>', 'handover API key; it also signs the webhooks')
    .option('--bot-api-key <key>', 'bot API key that may read chats')
    .option('--base-url <url>', 'what _links.self and attachment links begin with')
    .option('--config <file>', 'config file (default: handover-sim.config.{yaml,yml,json,js,mjs,ts})')
    .option('--seed <number>', 'same seed: same ids, names and texts (default: 1)')
    .option('--clock <mode>', 'real | virtual (default: real)')
    .option('--set <knob=value>', 'set a knob; may be repeated', collect)
    .option('--no-inspector', 'serve no page for people')
    .option('--no-markers', 'do not name the assumptions of an answer in its header')
}

export const configSources = ({ io, env }: Context): ConfigEnvironment => ({
  cwd: io.cwd,
  env,
  nodeVersion: io.nodeVersion,
})

export const collect = (value: string, earlier: readonly string[] = []): string[] => [...earlier, value]
