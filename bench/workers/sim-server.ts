/** The built package as a server, with as many chats as asked for. Prints one JSON line with what a client needs. */
const { startSimulator } = (await import('../../dist/index.js' as string)) as typeof import('../../src/index.ts')

const options = JSON.parse(process.argv[2] ?? '{}') as {
  chats?: number
  webhookUrl?: string
  knobs?: Record<string, unknown>
}
const server = await startSimulator({
  port: 0,
  knobs: options.knobs ?? {},
  ...(options.webhookUrl ? { webhook: { url: options.webhookUrl } } : {}),
})
const ids: string[] = []
for (let i = 0; i < (options.chats ?? 1); i++) ids.push((await server.chat()).id)
const { port, apiKey, botId } = server
process.stdout.write(`${JSON.stringify({ port, apiKey, botId, chat: ids[0], last: ids.at(-1) })}\n`)
process.on('message', message => {
  if (message === 'memory') {
    globalThis.gc?.()
    process.send?.(process.memoryUsage())
  }
})
