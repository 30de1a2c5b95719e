// The module's promises without a test runner, for any runtime.

const HOOK = 'https://desk.example.test/webhook'
const BODY = '{"message":"Bl\u00e5b\u00e6r \ud83e\uded0"}'

/** `load` gives the module; a bare runtime has lost what is Node's own before it is loaded. */
export async function checkAll(load, vectors, bare) {
  // Node loads its own fetch classes when they are first used, with its own Buffer.
  await new Request(HOOK, { method: 'POST', body: 'x', headers: new Headers() }).text()
  const host = globalThis.process?.versions?.bun ? 'bun' : globalThis.Deno ? 'deno' : 'node'
  if (bare) for (const name of ['process', 'Buffer', 'global', 'setImmediate', 'require']) delete globalThis[name]
  const result = { host, buffer: typeof globalThis.Buffer, checked: 0, failed: [] }
  const check = (name, actual, expected) => {
    result.checked++
    if (actual !== expected) result.failed.push(`${name}: ${String(actual)} instead of ${String(expected)}`)
  }
  const module = await load()
  await checkVectors(module, vectors, check)
  await checkMistakes(module, check)
  return result
}

async function checkVectors({ explain, sign, verify, verifyRequest }, vectors, check) {
  for (const { name, key, body_base64, headers, valid } of vectors) {
    const body = Uint8Array.from(atob(body_base64), char => char.charCodeAt(0))
    const request = new Request(HOOK, { method: 'POST', body, headers })
    check(`verify: ${name}`, await verify(body, headers, key), valid)
    check(`explain: ${name}`, (await explain(body, new Headers(headers), key)).ok, valid)
    check(`verifyRequest: ${name}`, (await verifyRequest(request, ['another', key])).ok, valid)
    if (valid) check(`sign: ${name}`, await sign(body, key), new Headers(headers).get('Kindly-HMAC'))
  }
}

async function checkMistakes({ explain, sign, signatureHeaders, verify }, check) {
  const headers = await signatureHeaders(BODY, 'k')
  const signature = headers['Kindly-HMAC']
  check('both headers', Object.keys(headers).join(), 'Kindly-HMAC,Kindly-HMAC-algorithm')
  const mistakes = {
    right: signature,
    whitespace: `${signature}\n`,
    truncated: signature.slice(0, 30),
    latin1: await sign(new TextDecoder('latin1').decode(new TextEncoder().encode(BODY)), 'k'),
    'restringified-json': await sign(JSON.stringify(JSON.parse(BODY), null, 2), 'k'),
    unknown: await sign('{}!', 'k'),
  }
  for (const [id, given] of Object.entries(mistakes)) check(id, (await explain(BODY, given, 'k')).mistake, id)
  for (const given of [null, '', [signature, signature], {}]) check('garbage', await verify(BODY, given, 'k'), false)
  const parsed = await verify({}, signature, 'k').catch(error => error.name)
  check('a parsed body', parsed, 'TypeError')
}
