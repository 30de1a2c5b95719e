import { expect, it } from 'vitest'
import { firefox, openFirefox } from './firefox.ts'
import { startInspected } from './inspector-page.ts'

const BUTTON = (name: string) =>
  `[...document.querySelectorAll('button')].find(one => one.textContent.trim() === ${JSON.stringify(name)})`

it.skipIf(firefox === null)('the inspector plays a handover in Firefox', async () => {
  const { url, journal } = await startInspected()
  const page = await openFirefox(firefox!)
  const press = async (name: string) => {
    await page.until(`${BUTTON(name)} && !${BUTTON(name)}.disabled`)
    await page.evaluate(`${BUTTON(name)}.click()`)
  }
  await page.goto(url)
  await press('New chat')
  await press('Ask for a person')
  await press('Accept')
  await press('Hand back')
  const calls = () =>
    journal.query({ kind: 'api' }).map(call => (call.kind === 'api' ? [call.endpoint, call.status] : []))
  await expect.poll(calls).toEqual(
    expect.arrayContaining([
      ['start', 200],
      ['end', 200],
    ]),
  )
  await page.until(`document.querySelectorAll('[role=option]').length > 4`)
})
