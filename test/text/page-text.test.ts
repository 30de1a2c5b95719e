import { expect, it } from 'vitest'
import { pageText } from '../../src/base/text/error-text.ts'

const EXPRESS = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Error</title>
</head>
<body>
<pre>TypeError: Cannot read properties of undefined (reading &#39;id&#39;)<br> &nbsp; &nbsp;at file:///srv/desk.mjs:20:40<br> &nbsp; &nbsp;at next (/srv/node_modules/router/index.js:10:2)</pre>
</body>
</html>
`
const DJANGO = `<!DOCTYPE html>
<html><head><title>KeyError at /desk/accept</title><style>${'p { margin: 0 }\n'.repeat(500)}</style></head><body>too far</body></html>`

it.each([
  [EXPRESS, "TypeError: Cannot read properties of undefined (reading 'id')"],
  [DJANGO, 'KeyError at /desk/accept'],
  [
    '<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center></body></html>',
    '502 Bad Gateway',
  ],
  ['<html>a &lt;b&gt; &#x1F600; &copy; c<script>no</script> d', 'a <b> 😀 c d'],
  ['<html>&#9999999;&#xffffff;<', '<html>&#9999999;&#xffffff;<'],
  ['<html><body></body></html>', '<html><body></body></html>'],
  ['{"error":"<html>"}', '{"error":"<html>"}'],
  ['', ''],
])('%j', (body, text) => {
  expect(pageText(body)).toBe(text)
})
