/** Records the traffic between an intermediary and the real platform until a signal stops it (`handover-sim proxy`). */
import { appendFileSync, closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { prepareFolder } from '../base/files/user-files.ts'
import { wallDelay, wallTime } from '../base/runtime/clock.ts'
import { limitHeapGrowth } from '../base/runtime/node.ts'
import { isError, messageOf, systemCodeOf } from '../base/text/error-text.ts'
import { isLoopback } from '../base/text/hosts.ts'
import { withoutCredentials } from '../base/text/redactor.ts'
import { entryLine, observedRunLine } from '../evaluation/evaluator/journal-file.ts'
import { moreKeys } from '../platform/api/access.ts'
import { VERSION } from '../platform/contract/version.ts'
import type { Entry } from '../platform/journal/entry.ts'
import type { Journal } from '../platform/journal/journal.ts'
import { knobsFrom } from '../platform/simulator/options.ts'
import { coreOf } from '../platform/simulator/simulator.ts'
import { LazyReadiness } from '../running/certifier/load.ts'
import { loadRecorder } from '../running/recorder/load.ts'
import { type Resolved, resolveSettings } from '../server/config/resolve.ts'
import { createProxy, freshDeliveryPath, isOwnAddress } from '../server/proxy/proxy.ts'
import { type PlatformServer, startServer } from '../server/start.ts'
import { configSources, defineCommand, SETTING_FLAGS } from './command.ts'
import { type Context, createShutdown, END_CODES, EnvironmentError, UsageError } from './io.ts'
import { showTraffic, type Traffic } from './show-traffic.ts'
import { START_FLAGS } from './start.ts'

const FLAGS = {
  '--upstream <url>': 'the real platform: where calls go',
  '--webhook-url <url>': 'the webhook of the intermediary: where deliveries go',
  '--api-key <key>': 'handover API key of the platform, to check the signatures of deliveries',
  '--delivery-path <path>': 'where the platform sends events (default: a new secret path with every start)',
  '--journal <file>': 'file to record in (default: a new one below .handover-sim/)',
  '--anonymise': 'replace personal values in what is recorded and shown',
  '--rewrite-links': 'lead links to the platform through the proxy; needs --api-key, to sign again',
  '--port <number>': SETTING_FLAGS['--port <number>'],
  '--host <address>': SETTING_FLAGS['--host <address>'],
  '--base-url <url>': 'the address of the proxy in rewritten links (default: the one it listens on)',
  '--token <token>': SETTING_FLAGS['--token <token>'],
  '--config <file>': SETTING_FLAGS['--config <file>'],
  '--memory-limit <size>': 'bound of the journal in memory; the file has all of it (default: 64mb)',
  '--no-inspector': SETTING_FLAGS['--no-inspector'],
  '--open': START_FLAGS['--open'],
  '--output <style>': START_FLAGS['--output <style>'],
  '--json': START_FLAGS['--json'],
} as const

/** How long a shutdown waits for exchanges in flight. */
const DRAIN_MS = 3_000

export const proxyCommand = defineCommand({
  flags: FLAGS,
  examples: {
    'proxy --upstream https://bot.example.test --webhook-url http://127.0.0.1:3000/webhook': 'record, until stopped',
  },
  async run(context, flags) {
    const { io, unredacted, secrets } = context
    const resolved = await resolveSettings(flags, configSources(context))
    const { values } = resolved
    const upstream = urlSetting(resolved, 'proxy.upstream', '--upstream URL')
    const webhookUrl = urlSetting(resolved, 'webhook.url', '--webhook-url URL')
    const keys = handoverKeys(resolved)
    const rewriteLinks = values['proxy.rewrite_links'] === true
    if (rewriteLinks && keys.length === 0)
      throw new UsageError('--rewrite-links changes deliveries, which must be signed again: add --api-key KEY.')
    const { port, host } = values
    for (const [flag, url] of [
      ['--upstream', upstream],
      ['--webhook-url', webhookUrl],
    ] as const)
      if (isOwnAddress(url, String(host), Number(port)))
        throw new UsageError(
          `${flag}: ${withoutCredentials(url.href)} is the address of the proxy itself, so a request would never end. Name the other program, or give the proxy another --port.`,
        )

    const shutdown = createShutdown(io)
    try {
      const deliveryPath = String(values['proxy.delivery_path'] ?? freshDeliveryPath())
      secrets.add(deliveryPath)
      const file = journalFile(resolved)
      const proxy = createProxy({
        ...{ upstream, webhookUrl, deliveryPath, keys, rewriteLinks, file },
        anonymise: values['proxy.anonymise'] === true,
      })
      // The journal ends last: what ends with the server is in it.
      let writer: JournalWriter | null = null
      const endJournal = () => writer?.close()
      shutdown.defer(endJournal, endJournal)
      shutdown.defer(proxy.close, proxy.close)
      let traffic: Traffic | null = null
      const endTraffic = () => traffic?.end()
      shutdown.defer(endTraffic, endTraffic)
      // The simulator has no key of the user: it only holds what is recorded.
      const knobs = Object.fromEntries(
        Object.entries(resolved.options.knobs ?? {}).filter(([name]) => !name.startsWith('keys.')),
      )
      const server = await startServer(
        { ...resolved.options, clock: 'real', knobs, onStopRequested: shutdown.request },
        undefined,
        secrets,
        { proxy, loadRecorder, loadReadiness: new LazyReadiness(() => null).load },
      )
      shutdown.defer(() => server.close())
      // Traffic of real customers passes here: whatever nothing else catches ends one exchange, and not the process.
      const { onThrown } = coreOf(server)
      // Its message may quote what passed.
      const named = (error: unknown) =>
        new Error(`an error that nothing caught (${isError(error) ? error.name : typeof error})`)
      shutdown.defer(io.onUncaughtError?.(error => onThrown('call', named(error))) ?? (() => {}))
      writer = createWriter(file, `${upstream.origin} -> ${webhookUrl.origin}`, context)
      writer.follow(server.journal, (error, { seq }) =>
        io.stderr.write(
          `Failed to write ${JSON.stringify(file)}: ${messageOf(error)}. It ends before entry ${seq}; traffic still passes. Free some space and start the proxy again.\n`,
        ),
      )

      if (!flags.json) for (const warning of resolved.warnings) io.stderr.write(`${warning}\n`)
      if (!flags.json && !isLoopback(String(host)))
        io.stderr.write(`Warning: listening on ${host}, so other machines can reach this proxy.\n`)
      if (flags.open && server.inspectorUrl !== null) {
        const { openPage } = await import('./open-page.ts')
        await openPage(server.inspectorUrl, context, shutdown)
      }
      const ready = readyLine(server, { upstream, webhookUrl, deliveryPath, journal: file })
      unredacted.stdout.write(flags.json ? `${JSON.stringify(ready)}\n` : `Ready: ${server.url}\n`)
      // In every style, because the delivery path is nowhere else.
      if (!flags.json) unredacted.stderr.write(firstSteps(ready))
      traffic = showTraffic(server.journal, flags, resolved, context)
      limitHeapGrowth()

      const reason = await shutdown.ended
      if (!flags.json && flags.output === 'pretty')
        io.stderr.write(`Shutting down${reason === 'SIGINT' ? '; press Ctrl-C again to force' : ''}.\n`)
      const enough = new AbortController()
      await Promise.race([server.settled(), wallDelay(DRAIN_MS, enough.signal)])
      enough.abort()
      await shutdown.run()
      return END_CODES[reason]
    } finally {
      await shutdown.run()
    }
  },
})

function urlSetting({ values }: Resolved, name: string, flag: string): URL {
  const value = values[name]
  if (typeof value === 'string') return new URL(value)
  throw new UsageError(`npx handover-sim proxy needs ${flag} (or ${name} in the config file).`)
}

/** The handover keys that the user has given; none for the published default. */
function handoverKeys({ options, sources }: Resolved): string[] {
  const knobs = knobsFrom(options.knobs ?? {})
  const configured = sources['keys.handover'] === 'default' ? [] : [knobs['keys.handover']]
  return [...configured, ...moreKeys(knobs).map(([key]) => key)]
}

/** Another file with every start, because a journal of an earlier one is never changed. */
function journalFile({ values }: Resolved): string {
  const { 'proxy.journal': given } = values
  return typeof given === 'string' ? given : `.handover-sim/proxy-${wallTime().replace(/\D/g, '').slice(0, 17)}.jsonl`
}

interface JournalWriter {
  /** Writes the entries of the journal, also later ones. `onFailure`: one could not be written, and none follows. */
  follow(journal: Journal, onFailure: (error: unknown, entry: Entry) => void): void
  close(): void
}

/** Creates the file. Each entry is appended as it comes, so that an end in any way loses none. */
function createWriter(file: string, target: string, { io }: Context): JournalWriter {
  const path = resolve(io.cwd, file)
  let descriptor: number
  try {
    prepareFolder(path)
    descriptor = openSync(path, 'ax', 0o600)
    appendFileSync(descriptor, `${observedRunLine({ version: VERSION, started_at: wallTime(), target })}\n`)
  } catch (error) {
    const exists = systemCodeOf(error) === 'EEXIST'
    const why = exists ? 'the file exists, and a journal is never changed' : messageOf(error)
    const text = `Failed to create the journal ${JSON.stringify(file)}: ${why}. Name another file with --journal.`
    throw exists ? new UsageError(text) : new EnvironmentError(text)
  }
  let stop = () => {}
  return {
    follow(journal, onFailure) {
      const write = (entry: Entry) => {
        try {
          appendFileSync(descriptor, `${entryLine(null, entry)}\n`)
        } catch (error) {
          stop()
          onFailure(error, entry)
        }
      }
      stop = journal.subscribe(write)
      for (const entry of journal.query()) write(entry)
    },
    close() {
      stop()
      closeSync(descriptor)
    },
  }
}

interface Addresses {
  readonly upstream: URL
  readonly webhookUrl: URL
  readonly deliveryPath: string
  readonly journal: string
}

const readyLine = (server: PlatformServer, { upstream, webhookUrl, deliveryPath, journal }: Addresses) => ({
  v: 1,
  type: 'ready',
  url: server.url,
  inspectorUrl: server.inspectorUrl,
  upstream: withoutCredentials(upstream.href),
  webhookUrl: withoutCredentials(webhookUrl.href),
  deliveryUrl: server.url + deliveryPath,
  journal,
  pid: process.pid,
  ...(server.controlToken === null ? {} : { controlToken: server.controlToken }),
})

function firstSteps({
  url,
  inspectorUrl,
  upstream,
  webhookUrl,
  deliveryUrl,
  journal,
}: ReturnType<typeof readyLine>): string {
  const path = deliveryUrl.slice(url.length)
  const rows = [
    ['calls', `${url} -> ${upstream}   use this address as that of the platform`],
    ['events', `${deliveryUrl} -> ${webhookUrl}`],
    ['webhook', `to set on the platform: https://YOUR-TUNNEL${path}   lead the tunnel to ${url}`],
    ['journal', journal],
  ]
  if (inspectorUrl !== null) rows.unshift(['page', inspectorUrl])
  return rows.map(([name = '', text]) => `  ${name.padEnd(9)} ${text}\n`).join('')
}
