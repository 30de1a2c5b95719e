/** Calls the platform's API, with one retry after a 503. */
export interface Platform {
  readonly url: string
  readonly key: string
}

export async function call(platform: Platform, name: string, body: object): Promise<void> {
  const response = (await send(platform, name, body)) ?? (await send(platform, name, body))
  if (response === null) throw new Error(`${name}: the platform is busy`)
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`)
}

async function send({ url, key }: Platform, name: string, body: object): Promise<Response | null> {
  const response = await fetch(`${url}/api/v2/handover/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.status === 503 ? null : response
}
