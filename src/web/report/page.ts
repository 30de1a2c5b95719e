/** Renders the frame of the page: head, style, script, side panel and keyboard help. */
import { icons } from './icons.ts'
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
