// Renders the pictures of the status item from their vectors, for Linux (22
// points) and macOS (16 points) at 1x and 2x: `node build/icons/icons.mjs`.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { browser } from '../../frontend/e2e/browser.mjs'

const folder = resolve(dirname(fileURLToPath(import.meta.url)), '../../app/menubar/icons')
const { context, close } = await browser()
const page = await context.newPage()
for (const name of readdirSync(folder).filter((f) => f.endsWith('.svg'))) {
  const vector = readFileSync(join(folder, name), 'utf8')
  for (const size of [16, 22, 32, 44]) {
    await page.setViewportSize({ width: size, height: size })
    await page.setContent(`<style>body { margin: 0 } svg { display: block; width: ${size}px; height: ${size}px }</style>${vector}`)
    writeFileSync(join(folder, name.replace('.svg', `-${size}.png`)), await page.screenshot({ omitBackground: true }))
  }
}
await close()
process.exit(0)
