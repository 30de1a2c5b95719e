/** Follows the width of the window and of an element, for what style sheets cannot decide. */
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const changed = () => setMatches(list.matches)
    list.addEventListener('change', changed)
    return () => list.removeEventListener('change', changed)
  }, [query])
  return matches
}

export function useIsWider(element: { readonly current: HTMLElement | null }, pixels: number): boolean {
  const [isWider, setWider] = useState(false)
  useLayoutEffect(() => {
    if (element.current === null) return
    const measure = () => setWider((element.current?.clientWidth ?? 0) > pixels)
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [element, pixels])
  return isWider
}
