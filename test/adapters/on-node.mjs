/**
 * The interceptors as a bundle, on whatever Node runs this, twice: in its own global scope, and as a test runner loads
 * code, in a scope of its own with the outer `fetch`. Prints what each client got.
 */
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { createRequire } from 'node:module'
import vm from 'node:vm'

const require = createRequire(import.meta.url)
const code = readFileSync(process.argv[2], 'utf8')

const wrapped = `(function (module, exports, require, __filename) {${code}\n})`

function load(run) {
  const module = { exports: {} }
  run(wrapped)(module, module.exports, require, process.argv[2])
  return module.exports.intercept
}

const over = send => url =>
  new Promise((resolve, reject) => {
    const request = send(url, { method: 'POST' }, response => {
      response.setEncoding('utf8').on('data', text => resolve(`${response.statusCode} ${text}`))
    })
    request.on('error', reject).end('over http')
  })

async function overFetch(url) {
  const response = await fetch(url, { method: 'POST', body: 'over fetch' })
  return `${response.status} ${await response.text()}`
}

const answer = async request => new Response(`${new URL(request.url).pathname} ${await request.text()}`)

async function ask(intercept) {
  const clients = [overFetch, over(https.request)]
  const interception = intercept([
    { baseUrl: 'https://bot.example.test/base', fetch: answer },
    { baseUrl: 'http://bot.example.test', fetch: answer },
  ])
  const answers = []
  for (const client of clients) answers.push(await client('https://bot.example.test/base/x?y=1'))
  answers.push(await over(http.request)('http://bot.example.test/z'))
  interception.stop()
  const after = await overFetch('https://bot.example.test/base/x').catch(error => error.message)
  return [...answers, after]
}

/** What a language does not have by itself is taken over from outside, as Jest does. */
const own = new Set(vm.runInNewContext('Object.getOwnPropertyNames(globalThis)'))
const taken = Object.getOwnPropertyNames(globalThis).filter(name => !own.has(name) && name !== 'global')
const apart = vm.createContext(Object.fromEntries(taken.map(name => [name, globalThis[name]])))
const scopes = [load(text => vm.runInThisContext(text)), load(text => vm.runInContext(text, apart))]
const told = []
for (const intercept of scopes) told.push(await ask(intercept).catch(error => error.message))
process.stdout.write(JSON.stringify(told))
