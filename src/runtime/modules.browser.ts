/** Loads a user's own module by its URL, relative to the page. */
export const loadModule = (path: string): Promise<Record<string, unknown>> =>
  import(/* @vite-ignore */ new URL(path, document.baseURI).href)
