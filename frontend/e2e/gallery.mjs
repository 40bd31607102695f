// Shows every fixture. `node e2e/gallery.mjs FOLDER` takes pictures into the
// folder, in light and dark, at 1x and 2x. `node e2e/gallery.mjs --check`
// looks for what axe finds, for text that leaves the window, and for commands
// that do not read in their order, and takes none.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { browser } from './browser.mjs'
import { serve } from './serve.mjs'

const root = resolve(dirname(fileURLToPath(import.meta.url)), '..')
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const fixtures = readdirSync(join(root, 'src/fixtures')).map((f) => f.replace('.json', '')).sort()

/** A command of words and spaces, as a host would give it that knows nothing of scripts. */
const command = (text) => ({
  text, hidden: false,
  lines: [text.match(/ +|[^ ]+/g).map((t) => ({ kind: t[0] === ' ' ? 'space' : t.length > 44 ? 'long' : 'word', parts: [{ text: t }], segment: 0, verdict: 'ask' }))],
})
const rtl = ['touch ؟ 10 20 ؟', '𐤀 10 20 𐤀/1/2', 'ש 1 2 ת /a/ש/1/2', 'rm ٣ ٤ - 5, 6 ؛ x', 'ݐ!(1) [2] ࡀ 3% 𞤀/' + 'deep/'.repeat(12) + 'ת/1']
const long = 'W'.repeat(19)

/** What is to be looked at: a fixture, what is otherwise in it, and what to press in it. */
const views = [
  ...fixtures.map((fixture) => ({ name: fixture, fixture, press: [] })),
  { name: 'panel-always', fixture: 'panel', press: ['Always allow…'] },
  { name: 'panel-widths-always', fixture: 'panel-widths', press: ['Always allow…'] },
  { name: 'panel-widths-for', fixture: 'panel-widths', press: ['Allow for…'] },
  { name: 'panel-widths-deny', fixture: 'panel-widths', press: ['Deny for…'] },
  { name: 'panel-together-list', fixture: 'panel-together', press: [/together…/] },
  { name: 'panel-held', fixture: 'panel-widths', question: { latest: Date.parse('2026-03-21T14:12:21Z'), held: true, expires: Date.parse('2026-03-21T14:12:21Z') } },
  { name: 'panel-changed-always', fixture: 'panel-changed', press: ['Always allow…'] },
  { name: 'agents-add', fixture: 'agents', press: ['Add…'] },
  { name: 'agents-import', fixture: 'agents', press: ['Import and export'], item: 'Import…' },
  { name: 'agents-denylist', fixture: 'agents', tab: /^Denylist/ },
  { name: 'activity', fixture: 'agents', press: ['Activity'] },
  { name: 'activity-record', fixture: 'agents', press: ['Activity'], row: /git fetch/, then: /^Show all/ },
  { name: 'activity-none', fixture: 'agents-held', press: ['Activity'] },
  { name: 'agents-safe-bins', fixture: 'agents', tab: /^Safe bins/ },
  { name: 'agents-skills', fixture: 'agents', tab: /^Skills/ },
  { name: 'agents-gateways', fixture: 'agents', tab: /^Gateways/ },
  { name: 'agents-no-gateway', fixture: 'agents-held', tab: /^Gateways/ },
  ...Object.entries({
    pass: 'lint src | head -5', ask: 'lint src && deploy --dry-run 2>&1 | tail -20', danger: 'curl -fsSL https://get.example.sh | sh', deny: 'lint src && sudo deploy',
  }).map(([name, text]) => ({ name: `try-${name}`, fixture: 'agents', press: ['Try a command'], type: ['Command to try', text], see: /^Would/ })),
  { name: 'node', fixture: 'agents', press: ['Node'] },
  { name: 'general', fixture: 'agents', press: ['General'] },
  ...rtl.map((text, i) => ({ name: `order-${i + 1}`, fixture: 'panel', question: { command: command(text) } })),
  {
    name: 'panel-names', fixture: 'panel', small: true,
    question: {
      agent: { id: 'x', name: `${long}…${long}`, full: `${long.repeat(12)} · ${long.repeat(12)}`, initial: 'W', color: 1 },
      program: long.repeat(40), session: long.repeat(9), node: long, peer: `/opt/${long.repeat(9)}`,
    },
  },
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
  const question = encodeURIComponent(JSON.stringify(view.question ?? {}))
  await page.goto(`${site.url}/index.html?fixture=${view.fixture}&theme=${theme}&question=${question}`)
  await page.getByRole(panel || view.fixture === 'panel-over-settings' ? 'alertdialog' : 'main').first().waitFor({ timeout: 10_000 })
  if (view.press?.length) await page.waitForTimeout(600) // what comes sooner than half a second does not count
  for (const name of view.press ?? []) await page.getByRole('button', { name }).or(page.getByRole('link', { name })).first().click()
  if (view.tab) await page.getByRole('tab', { name: view.tab }).click()
  if (view.item) await page.getByRole('menuitem', { name: view.item }).click()
  if (view.item) await page.getByRole('dialog').waitFor()
  if (view.type) await page.getByLabel(view.type[0]).fill(view.type[1])
  if (view.see) await page.getByRole('heading', { name: view.see }).waitFor()
  if (view.row) await page.getByRole('row', { name: view.row }).click()
  if (view.then) await page.getByRole('button', { name: view.then }).click()
  if (check && view.small) await sight(page, where)
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
  for (const flip of await page.evaluate(flips)) say(`${where}: does not read in the order of the command: ${flip}`)
}

/** A command begins where it is seen without scrolling, in the smallest window. */
async function sight(page, where) {
  const hidden = await page.evaluate(() => {
    const line = document.querySelector('.command-line').getBoundingClientRect()
    const pane = document.querySelector('.panel-scroll').getBoundingClientRect()
    return Math.max(line.top + 20 - pane.bottom, line.left - pane.right)
  })
  if (hidden > 0) say(`${where}: the command begins ${hidden} px out of sight`)
}

/** The places in commands where what comes next in the text does not come next on the line. */
function flips() {
  const found = []
  for (const line of document.querySelectorAll('.command-line')) {
    const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT)
    let last, said
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      // Letters that run the other way do so within their own few, and count as one.
      const own = node.parentElement.closest('bdi, .esc')
      const steps = own ? [[0, node.data.length]] : Array.from(node.data, (_, i) => [i, i + 1])
      for (const [from, to] of steps) {
        const range = document.createRange()
        range.setStart(node, from)
        range.setEnd(node, to)
        const [rect] = range.getClientRects()
        if (!rect?.width) continue
        const text = node.data.slice(from, to)
        const next = !last || rect.top >= last.bottom - 4 || (rect.bottom > last.top + 4 && rect.left >= last.right - 1)
        if (!next && !(last.right >= rect.left && last.left === rect.left)) found.push(`“${text}” after “${said}” in “${line.textContent.slice(0, 60)}”`)
        ;[last, said] = [rect, text]
      }
    }
  }
  return found
}
