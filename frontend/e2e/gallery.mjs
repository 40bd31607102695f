// Shows every fixture. `node e2e/gallery.mjs FOLDER` takes pictures into the
// folder, in light and dark, at 1x and 2x. `node e2e/gallery.mjs --check`
// looks for what axe finds and for text that leaves the window, and takes none.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { browser } from './browser.mjs'
import { serve } from './serve.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const fixtures = readdirSync(join(root, 'src/fixtures')).map((f) => f.replace('.json', '')).sort()

/** What is to be looked at: a fixture, and what to press in it. */
const views = [
  ...fixtures.map((fixture) => ({ name: fixture, fixture, press: [] })),
  { name: 'panel-always', fixture: 'panel', press: ['Always allow…'] },
  { name: 'agents-add', fixture: 'agents', press: ['Add…'] },
  { name: 'agents-denylist', fixture: 'agents', tab: /^Denylist/ },
  { name: 'node', fixture: 'agents', press: ['Node'] },
  { name: 'general', fixture: 'agents', press: ['General'] },
  { name: 'first-run-review', fixture: 'first-run', press: [/^Review/] },
]

const check = process.argv[2] === '--check'
const folder = check ? '' : resolve(process.argv[2] ?? 'gallery')
if (!check) mkdirSync(folder, { recursive: true })
const site = await serve(join(root, 'dist-gallery'))
let problems = 0
const say = (text) => { problems++; console.error(text) }

for (const scale of check ? [1] : [1, 2]) {
  const { context, close } = await browser({ deviceScaleFactor: scale, reducedMotion: 'reduce' })
  for (const theme of ['light', 'dark']) {
    for (const view of views) await look(context, view, theme, scale)
  }
  await close()
}
site.close()
if (check) console.log(`${views.length} views, light and dark: ${problems} problems`)
process.exit(problems ? 1 : 0)

async function look(context, view, theme, scale) {
  const page = await context.newPage()
  const where = `${view.name} ${theme}`
  page.on('pageerror', (e) => say(`${where}: ${e.message}`))
  page.on('console', (m) => m.type() === 'error' && say(`${where}: ${m.text()}`))
  const panel = /^panel/.test(view.fixture) && view.fixture !== 'panel-over-settings'
  await page.setViewportSize(panel ? { width: 560, height: 480 } : view.fixture === 'first-run' ? { width: 720, height: 504 } : { width: 920, height: 640 })
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' })
  // The clock of the fixtures: what is told in minutes stays true.
  await page.clock.setFixedTime(new Date('2026-03-21T14:02:41Z'))
  await page.goto(`${site.url}/index.html?fixture=${view.fixture}&theme=${theme}`)
  await page.getByRole(panel || view.fixture === 'panel-over-settings' ? 'alertdialog' : 'main').first().waitFor({ timeout: 10_000 })
  if (view.press?.length) await page.waitForTimeout(600) // what comes sooner than half a second does not count
  for (const name of view.press ?? []) await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click()
  if (view.tab) await page.getByRole('tab', { name: view.tab }).click()
  if (panel) await grow(page)
  if (check) await inspect(page, where)
  else await page.screenshot({ path: join(folder, `${view.name}-${theme}@${scale}x.png`) })
  await page.close()
}

/** The window grows with the panel, as the host makes it. */
async function grow(page) {
  const more = await page.evaluate(() => {
    const body = document.querySelector('.panel-scroll')
    return body ? body.scrollHeight - body.clientHeight : 0
  })
  await page.setViewportSize({ width: 560, height: Math.min(480 + more, 720) })
}

async function inspect(page, where) {
  await page.evaluate(axe)
  const found = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] }))
  for (const v of found.violations) say(`${where}: ${v.id}: ${v.help}\n    ${v.nodes.map((n) => n.html.slice(0, 160)).slice(0, 3).join('\n    ')}`)
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  if (over > 0) say(`${where}: the page is ${over} px too wide`)
}
