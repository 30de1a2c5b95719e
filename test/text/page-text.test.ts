import { expect, it } from 'vitest'
import { pageText } from '../../src/base/text/error-text.ts'

const EXPRESS = `<!DOCTYPE html><html lang="en"><head><title>Error</title></head><body>
<pre>TypeError: no &#39;id&#39;<br> &nbsp; &nbsp;at file:///srv/desk.mjs:20:40</pre></body></html>`
const STYLE = 'p { margin: 0 }\n'.repeat(500)
const DJANGO = `<!DOCTYPE html><head><title>KeyError at /desk</title><style>${STYLE}</style></head><body>too far</body>`
const NGINX = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>'

it.each([
  [EXPRESS, "TypeError: no 'id'"],
  [DJANGO, 'KeyError at /desk'],
  [NGINX, '502 Bad Gateway'],
  ['<html>a &lt;b&gt; &#x1F600; &copy; c<script>no</script> d', 'a <b> 😀 c d'],
  ['<html>&#9999999;&#xffffff;<', '<html>&#9999999;&#xffffff;<'],
  ['<html><body></body></html>', '<html><body></body></html>'],
  ['{"error":"<html>"}', '{"error":"<html>"}'],
  ['', ''],
])('%j', (body, text) => {
  expect(pageText(body)).toBe(text)
})
