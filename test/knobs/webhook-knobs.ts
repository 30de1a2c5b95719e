/** What the webhook receives, for each knob of deliveries. */

import { takenOver, type World } from '../support/test-simulator.ts'
import { type Behaviours, behaviour, matching, signatureOf } from './behaviour.ts'

const TEXT = 'Blåbær / سلام 🫐'

/** Delivers one message of the user. */
async function delivery({ sim, inbox }: World) {
  const chat = await takenOver(sim)
  const { ack, deliveryId } = await chat.says(TEXT)
  return { ...inbox.at(-1)!, ack, deliveryId }
}

const USUAL = 'sha256, base64, of the body'
const USUAL_ALGORITHM = 'HMAC-SHA-256 (base64 encoded)'

async function signatureHeaders(world: World) {
  const delivered = await delivery(world)
  return [signatureOf(delivered), delivered.headers.get('Kindly-HMAC-algorithm')]
}

export const WEBHOOK_KNOBS = {
  'webhook.signature': behaviour(
    {
      '*base64': [USUAL, USUAL_ALGORITHM],
      hex: ['sha256, hex, of the body', 'HMAC-SHA-256 (hex encoded)'],
      off: [null, null],
    },
    signatureHeaders,
  ),
  'webhook.signatureHeader': behaviour({ '*Kindly-HMAC': [USUAL, null], 'X-Hub-Signature': [null, USUAL] }, async w => {
    const delivered = await delivery(w)
    return [signatureOf(delivered), signatureOf(delivered, { header: 'X-Hub-Signature' })]
  }),
  'webhook.algorithmHeader': behaviour(
    { '*Kindly-HMAC-algorithm': [USUAL_ALGORITHM, null], 'X-Algorithm': [null, USUAL_ALGORITHM] },
    async w => {
      const { headers } = await delivery(w)
      return [headers.get('Kindly-HMAC-algorithm'), headers.get('X-Algorithm')]
    },
  ),
  'webhook.algorithm': behaviour(
    {
      '*sha256': [USUAL, USUAL_ALGORITHM],
      sha1: ['sha1, base64, of the body', 'HMAC-SHA-1 (base64 encoded)'],
      sha512: ['sha512, base64, of the body', 'HMAC-SHA-512 (base64 encoded)'],
    },
    signatureHeaders,
  ),
  'webhook.signedContent': behaviour(
    { '*body': USUAL, 'url-and-body': 'sha256, base64, of the URL and the body' },
    async w => signatureOf(await delivery(w)),
  ),
  'webhook.json': behaviour(
    {
      '*compact': matching(/^\{"event":"MESSAGE FROM USER","bot":\{"id":.*Blåbær \/ سلام 🫐.*[^\n]$/),
      spaced: matching(/^\{"event": "MESSAGE FROM USER", "bot": \{"id": /),
      ascii: matching(/^[\x20-\x7e]*Bl\\u00e5b\\u00e6r[\x20-\x7e]*\\ud83e\\uded0[\x20-\x7e]*$/),
      slashes: matching(/^((?!https:\/\/).)*https:\\\/\\\/((?!https:\/\/).)*$/),
      pretty: matching(/^\{\n {2}"event": "MESSAGE FROM USER",\n {2}"bot": \{\n {4}"id": /),
      newline: matching(/^\{"event":.*\}\n$/),
      reordered: matching(/^\{"message":.*"event":"MESSAGE FROM USER"\}$/),
    },
    async w => (await delivery(w)).text,
  ),
  'webhook.retry': behaviour({ '*off': [1], '1s,5s': [1, 2, 3] }, async w => {
    w.answerWith(() => new Response('no', { status: 500 }))
    await delivery(w)
    await w.sim.clock.advance('24h')
    return w.sim.deliveries.map(({ attempt }) => attempt)
  }),
  'webhook.timeout': behaviour({ '*10s': undefined, '1ms': 'timeout: no complete answer within 1 ms' }, async w => {
    w.answerWith(() => new Promise(resolve => setTimeout(() => resolve(new Response('late')), 50)))
    return (await delivery(w)).ack!.error
  }),
  'webhook.redirect': behaviour({ '*fail': [307, '/webhook'], follow: [200, '/new'] }, async w => {
    const moved = { status: 307, headers: { location: '/new' } }
    w.answerWith(({ url }) => (url.endsWith('/new') ? new Response('ok') : new Response(null, moved)))
    const { ack, url } = await delivery(w)
    return [ack!.status, new URL(url).pathname]
  }),
  'webhook.order': behaviour(
    {
      '*chat': ['1234567', 'one by one'],
      none: [matching(/^[1-7]{7}$/), 'together'],
      shuffle: [matching(/^(?!1234567)[1-7]{7}$/), 'one by one'],
    },
    async w => {
      let open = 0
      let mostOpen = 0
      w.answerWith(async () => {
        mostOpen = Math.max(mostOpen, ++open)
        await new Promise(resolve => setImmediate(resolve))
        open--
        return new Response('ok')
      })
      const chat = await takenOver(w.sim)
      await Promise.all([...'1234567'].map(text => chat.says(text)))
      return [w.inbox.map(({ json }) => json.message).join(''), mostOpen > 1 ? 'together' : 'one by one']
    },
  ),
  'webhook.basicAuth': behaviour({ '*off': null, on: 'Basic w6VzZTpwQHNz' }, async w => {
    await w.sim.configure({ 'webhook.url': 'https://%C3%A5se:p%40ss@desk.example.test/webhook' })
    return (await delivery(w)).headers.get('authorization')
  }),
  'webhook.idHeader': behaviour({ '*off': [], 'X-Delivery-Id': ['x-delivery-id'] }, async w => {
    const { headers, deliveryId } = await delivery(w)
    return [...headers].flatMap(([name, value]) => (value === deliveryId ? [name] : []))
  }),
} satisfies Partial<Behaviours>
