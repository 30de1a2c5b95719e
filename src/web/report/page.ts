/** Renders the frame of the page: head, style, script, icons, side panel and keyboard help. */
import type { Outcome, StepVerdict } from '../../evaluator/verdict.ts'
import { OUTCOME_TEXTS } from '../../evaluator/wording/outcomes.ts'
import { html, Markup, type Part } from './markup.ts'
import { SCRIPT, STYLE } from './page-assets.ts'

export interface PageContent {
  readonly title: string
  readonly version: string
  readonly parts: readonly Part[]
}

/** Forbids every request and frame: the page holds its style and script itself. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"

/** Runs before the first paint, so that elements for scripts never flash without them. */
const MARK_SCRIPTED = "document.documentElement.classList.add('scripted')"

export const page = ({ title, version, parts }: PageContent): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Markup(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="handover-sim ${version}">
<title>${title}</title>
<style>${new Markup(STYLE)}</style>
<script>${new Markup(MARK_SCRIPTED)}</script>
</head>
<body>
${icons}
<a class="skip" href="#scenarios">Skip to the scenarios</a>
<main>
${parts}
${foot(version)}
</main>
${panel}
<script>${new Markup(SCRIPT)}</script>
</body>
</html>
`.text

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'search'],
  ['j k, arrow keys', 'next and previous scenario or row'],
  ['Home End, Page Up Page Down', 'further in a timeline'],
  ['f F', 'next and previous failure in a timeline'],
  ['Enter', 'open a scenario, or the entries behind a row'],
  ['Escape', 'close them'],
]

const foot = (version: string) => html`<footer>
<details class="keys scripted-only"><summary>Keyboard</summary><dl>${KEYS.map(([keys, what]) => html`<dt>${keys}</dt><dd>${what}</dd>`)}</dl></details>
<p>handover-sim ${version}. Keys and signatures are masked. This file holds the whole report and loads nothing.</p>
</footer>`

const panel = html`<aside id="panel" aria-labelledby="panel-title" tabindex="-1" hidden>
<header><h3 id="panel-title"></h3><div class="buttons"><button type="button" data-panel="previous" aria-label="Previous row">↑</button><button type="button" data-panel="next" aria-label="Next row">↓</button><button type="button" data-panel="close" aria-label="Close">✕</button></div></header>
<div class="content"></div>
</aside>
<p id="status" class="visually-hidden" role="status"></p>`

/** Drawn in a box of 16 by 16; arrow heads have their tip at the origin. */
const icons: Markup = html`<svg width="0" height="0" class="icons" aria-hidden="true" focusable="false"><defs>
<symbol id="mark-pass" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.25"/><path d="M4.8 8.3l2.2 2.2 4.3-4.7"/></symbol>
<symbol id="mark-fail" viewBox="0 0 16 16"><path class="solid" d="M5 .9h6L15.1 5v6L11 15.1H5L.9 11V5z"/><path d="M5.4 5.4l5.2 5.2m0-5.2l-5.2 5.2"/></symbol>
<symbol id="mark-error" viewBox="0 0 16 16"><path class="solid" d="M8 1.2l7.1 13.1H.9z"/><path d="M8 5.8v4.2m0 1.9v.3"/></symbol>
<symbol id="mark-inconclusive" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.25" stroke-dasharray="2.6 1.95"/><path d="M6 6.3c0-2.6 4.1-2.5 4.1 0 0 1.6-2.1 1.7-2.1 3.2m0 1.9v.3"/></symbol>
<symbol id="mark-skipped" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7.25"/><path d="M4.8 8h6.4"/></symbol>
<symbol id="mark-fault" viewBox="0 0 16 16"><path d="M9.5 1.2L3.6 9h4l-1 5.8L12.4 7h-4z"/></symbol>
<path id="head-right" d="M0 0l-8-4v8z"/><path id="head-left" d="M0 0l8-4v8z"/>
</defs></svg>`

/** The icon of an outcome, with a label for screen readers. */
export function outcomeIcon(outcome: Outcome | StepVerdict['outcome']): Markup {
  const kind = outcome === 'not reached' ? 'skipped' : outcome
  const words = outcome === 'not reached' ? outcome : OUTCOME_TEXTS[outcome]
  return html`<svg class="mark ${kind}" role="img" aria-label="${words}"><use href="#mark-${kind}"/></svg>`
}
