// Starts the system's Chromium, with nothing in it that talks to the world.
import { chromium } from 'playwright-core'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome']

export async function browser(options = {}) {
  const executablePath = places.find((p) => p && existsSync(p))
  if (!executablePath) throw new Error('no Chromium was found: install one, or name it in CHROMIUM')
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath,
    headless: true,
    ...options,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync', '--font-render-hinting=none'],
  })
  return { context, close: () => context.close().finally(() => rmSync(profile, { recursive: true, force: true })) }
}
