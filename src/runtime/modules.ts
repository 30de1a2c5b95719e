/** Loads a user's own module by path, relative to the working folder. */
export async function loadModule(path: string): Promise<Record<string, unknown>> {
  const { resolve } = await import('node:path')
  const { pathToFileURL } = await import('node:url')
  return import(/* @vite-ignore */ pathToFileURL(resolve(path)).href)
}
