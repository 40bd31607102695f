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
  // A browser that dies while it starts says nothing about the page: it gets two more chances.
  for (let chances = 2; ; chances--) {
    const profile = mkdtempSync(join(tmpdir(), 'chromium-'))
    const remove = () => rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
    try {
      const context = await chromium.launchPersistentContext(profile, { executablePath, headless: true, ...options, args })
      return { context, close: () => context.close().finally(remove) }
    } catch (error) {
      remove()
      if (chances === 0) throw error
    }
  }
}

const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--font-render-hinting=none']
