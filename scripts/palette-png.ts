/** Writes a screenshot with at most 256 colours, which makes it a third of the size: all pictures are in the package. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex')
const CHUNK_FRAME = 12

interface Pixels {
  readonly width: number
  readonly height: number
  /** Three bytes for each pixel. */
  readonly rgb: Buffer
}

/** `png`: 8 bits, RGB, not interlaced, as Chromium writes it. */
export function withPalette(png: Buffer): Buffer {
  const { width, height, rgb } = readPixels(png)
  const colors = paletteOf(rgb)
  const nearest = new Map(colors.map((color, index) => [color, index]))
  const rows = Buffer.alloc((width + 1) * height)
  for (let pixel = 0; pixel < width * height; pixel++) {
    const color = rgb.readUIntBE(pixel * 3, 3)
    if (!nearest.has(color)) nearest.set(color, indexOfNearest(color, colors))
    rows[pixel + Math.floor(pixel / width) + 1] = nearest.get(color) ?? 0
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 3, 0, 0, 0], 8)
  const palette = Buffer.concat(colors.map(color => Buffer.from(bytesOf(color))))
  const parts = [chunk('IHDR', header), chunk('PLTE', palette), chunk('IDAT', deflateSync(rows, { level: 9 }))]
  return Buffer.concat([SIGNATURE, ...parts, chunk('IEND', Buffer.alloc(0))])
}

/** The most frequent colours that are not almost equal to a more frequent one. */
function paletteOf(rgb: Buffer): number[] {
  const counts = new Map<number, number>()
  for (let at = 0; at < rgb.length; at += 3) {
    const color = rgb.readUIntBE(at, 3)
    counts.set(color, (counts.get(color) ?? 0) + 1)
  }
  const frequent = [...counts].sort((a, b) => b[1] - a[1]).map(([color]) => color)
  const distinct = frequent.slice(0, 64)
  for (const color of frequent.slice(64)) {
    if (distinct.length === 256) break
    if (distinct.every(one => distance(one, color) > 150)) distinct.push(color)
  }
  return distinct
}

const bytesOf = (color: number): [number, number, number] => [color >> 16, (color >> 8) & 255, color & 255]

function distance(one: number, other: number): number {
  const [a, b] = [bytesOf(one), bytesOf(other)]
  return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2
}

function indexOfNearest(color: number, colors: readonly number[]): number {
  const distances = colors.map(one => distance(one, color))
  return distances.indexOf(Math.min(...distances))
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  length.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, sum])
}

function readPixels(png: Buffer): Pixels {
  const [width, height] = [png.readUInt32BE(16), png.readUInt32BE(20)]
  const data: Buffer[] = []
  for (let at = SIGNATURE.length; at < png.length; at += png.readUInt32BE(at) + CHUNK_FRAME)
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT')
      data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)))
  const raw = inflateSync(Buffer.concat(data))
  const stride = width * 3
  const rgb = Buffer.alloc(stride * height)
  for (let y = 0; y < height; y++)
    for (let x = 0; x < stride; x++)
      rgb[y * stride + x] = raw[y * (stride + 1) + 1 + x]! + predicted(raw, rgb, x, y, stride)
  return { width, height, rgb }
}

/** The filters of PNG: none, left, above, average, Paeth. */
function predicted(raw: Buffer, rgb: Buffer, x: number, y: number, stride: number): number {
  const at = y * stride + x
  const left = x < 3 ? 0 : rgb[at - 3]!
  const above = y === 0 ? 0 : rgb[at - stride]!
  const corner = x < 3 || y === 0 ? 0 : rgb[at - stride - 3]!
  const filter = raw[y * (stride + 1)]!
  return [0, left, above, (left + above) >> 1, paeth(left, above, corner)][filter] ?? 0
}

function paeth(left: number, above: number, corner: number): number {
  const guess = left + above - corner
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - above), Math.abs(guess - corner)]
  if (a <= b && a <= c) return left
  return b <= c ? above : corner
}
