/** Runs the scenarios that need `does.announce` and `does.transfer` with the recipe of docs/reference/driver.md. */
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createSimulator } from '../../src/index.ts'
import { loadDriver } from '../../src/running/agent-driver/load-driver.ts'
import { runScenario } from '../../src/testing/scenario.ts'
import { around } from '../agent-driver/desk.ts'
import { folderWith } from '../config/folder.ts'
import { blocks, pathOf, read, section } from './pages.ts'

const RECIPE = section(read('docs/reference/driver.md'), 'Verbs of your own')

const newChat = ({ chat, bot }: { chat: { id: string }; bot: { id: number } }) => ({
  ...{ id: chat.id, botId: bot.id, isWaiting: true, inbox: [] as { request?: true; text?: string }[] },
  sender: { name: 'Anna', avatar: 'https://desk.example.test/anna.png' },
})
type Chat = ReturnType<typeof newChat>

/** An intermediary of a few lines, with the two functions of the page. */
async function intermediary() {
  const folder = folderWith({ 'recipe.mjs': blocks(RECIPE, 'js')[0]! })
  const recipe = (await import(join(folder, 'recipe.mjs'))) as Record<string, (options: object) => Promise<void>>
  const chats = new Map<string, Chat>()
  const chatOf = (id: string) => chats.get(id)!
  const call = async (endpoint: string, body: object) => {
    const headers = { authorization: `Bearer ${sim.apiKey}`, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await sim.fetch(new Request(`${sim.baseUrl}/api/v2/handover/${endpoint}`, init))
    expect(response.status).toBe(200)
  }
  const about = ({ id, botId }: Chat) => ({ bot_id: botId, chat_id: id })
  const sim = createSimulator({
    webhook: {
      async fetch(request) {
        const event = await request.json()
        const chat = chats.get(event.chat.id) ?? newChat(event)
        chats.set(chat.id, chat)
        chat.inbox.push(event.event === 'REQUESTING TAKEOVER' ? { request: true } : { text: event.message })
        return new Response('ok')
      },
    },
    agent: {
      accept({ chat: { id } }) {
        const chat = chatOf(id)
        chat.isWaiting = false
        return call('start', { ...about(chat), sender: chat.sender })
      },
      says: ({ chat: { id }, text }) =>
        call('message/', { ...about(chatOf(id)), message: text, sender: chatOf(id).sender }),
      leave: ({ chat: { id } }) => call('end', { ...about(chatOf(id)), sender: chatOf(id).sender }),
      inbox: ({ chat: { id } }) => chatOf(id).inbox,
      does: {
        announce: ({ chat: { id } }) =>
          recipe.announce!({
            chat: chatOf(id),
            waiting: [...chats.values()].filter(({ isWaiting }) => isWaiting),
            call,
          }),
        transfer: ({ chat: { id }, with: { team } }) => recipe.transfer!({ chat: chatOf(id), team, call }),
      },
    },
  })
  return sim
}

it('the driver of the page defines both verbs', async () => {
  const cwd = folderWith({ 'driver.yaml': blocks(RECIPE, 'yaml')[0]! })
  const driver = await loadDriver('driver.yaml', around({ cwd }))
  expect(Object.keys(driver.verbs)).toEqual(['does.announce', 'does.transfer'])
})

it.each(['notice-before-takeover', 'queue-position', 'transfer'])('%s passes with the code of the page', async name => {
  const run = await runScenario(await intermediary(), pathOf(`scenarios/${name}.yaml`))
  run.assertPassed()
  expect(RECIPE).toContain(`\`${run.scenarios[0]!.name}\``)
})
