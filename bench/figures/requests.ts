/** Measures requests per second and p99 of POST message, and the effect of many chats. */
import { type Figure, type Load, load, median, messageTo, start } from '../process.ts'

const ROUNDS = 7
const REQUESTS = 40_000
const perSecond = (result: Load) => result.requests / result.seconds

export async function requests(): Promise<Figure[]> {
  await using bare = await start(0, 'bare-server.mjs')
  await using ours = await start(0, 'sim-server.mjs')
  const body = messageTo(ours.line.chat)
  const bareRuns: Load[] = []
  const runs: Load[] = []
  for (let round = 0; round < ROUNDS; round++) {
    bareRuns.push(load({ port: bare.line.port, requests: REQUESTS, body }))
    runs.push(load({ port: ours.line.port, requests: REQUESTS, body }))
  }
  const [rps, bareRps] = [median(runs.map(perSecond)), median(bareRuns.map(perSecond))]
  const [p99, bareP99] = [median(runs.map(one => one.p99)), median(bareRuns.map(one => one.p99))]
  return [
    {
      name: 'POST message, 50 connections',
      value: `${rps.toFixed(0)}/s`,
      baseline: `${bareRps.toFixed(0)}/s`,
      ratio: (rps / bareRps).toFixed(2),
      goal: '>= 0.80',
    },
    {
      name: 'the same, p99',
      value: `${p99.toFixed(2)} ms`,
      baseline: `${bareP99.toFixed(2)} ms`,
      ratio: (p99 / bareP99).toFixed(2),
      goal: '',
    },
  ]
}

export async function manyChats(): Promise<Figure[]> {
  await using few = await start(0, 'sim-server.mjs', [JSON.stringify({ chats: 100 })])
  await using many = await start(0, 'sim-server.mjs', [JSON.stringify({ chats: 100_000 })])
  const fewRuns: number[] = []
  const manyRuns: number[] = []
  for (let round = 0; round < 5; round++) {
    fewRuns.push(perSecond(load({ port: few.line.port, requests: REQUESTS / 2, body: messageTo(few.line.last) })))
    manyRuns.push(perSecond(load({ port: many.line.port, requests: REQUESTS / 2, body: messageTo(many.line.last) })))
  }
  const [at100, at100k] = [median(fewRuns), median(manyRuns)]
  return [
    {
      name: 'POST message at 100,000 chats',
      value: `${at100k.toFixed(0)}/s`,
      baseline: `${at100.toFixed(0)}/s at 100`,
      ratio: (at100k / at100).toFixed(2),
      goal: 'flat',
    },
  ]
}
