/** Says when one side of the proxy is silent, and which links lead calls past the proxy. */
import { backgroundTimer, elapsedMs, type Timer } from '../../base/runtime/clock.ts'

/** Calls `onSilent` once when nothing was seen for `afterMs`; again only after something was seen. */
export function watchSilence(afterMs: number, onSilent: () => void) {
  let lastMs = elapsedMs()
  let timer: Timer | null = null
  const arm = (ms: number) => {
    timer = backgroundTimer(ms, () => {
      const leftMs = lastMs + afterMs - elapsedMs()
      if (leftMs > 0) return arm(leftMs)
      timer = null
      onSilent()
    })
  }
  arm(afterMs)
  return {
    seen() {
      lastMs = elapsedMs()
      if (timer === null) arm(afterMs)
    },
    end: () => timer?.cancel(),
  }
}

const LINK = /"(?:self|url)"\s*:\s*"(https?:\\?\/\\?\/[^"/\\?#]+)/g

/** The origins of the links in a JSON text that an intermediary follows: `_links.self`, and those of attachments. */
export function linkedOrigins(text: string): Set<string> {
  const origins = new Set<string>()
  for (const [, link = ''] of text.matchAll(LINK)) {
    const url = link.replaceAll('\\/', '/')
    if (URL.canParse(url)) origins.add(new URL(url).origin)
  }
  return origins
}
