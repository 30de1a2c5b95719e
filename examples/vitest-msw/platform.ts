/** Calls of the platform's API. A busy platform is asked once more. */
export interface Platform {
  readonly url: string
  readonly key: string
}

export async function call(platform: Platform, name: string, body: object): Promise<void> {
  const response = (await once(platform, name, body)) ?? (await once(platform, name, body))
  if (response === null) throw new Error(`${name}: the platform is busy`)
  if (!response.ok) throw new Error(`${name}: ${response.status} ${await response.text()}`)
}

async function once({ url, key }: Platform, name: string, body: object): Promise<Response | null> {
  const response = await fetch(`${url}/api/v2/handover/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.status === 503 ? null : response
}
