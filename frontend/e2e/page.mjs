// One step of the test of the page: `node page.mjs STEP ADDRESS`. The Go test
// that starts it has put the question, and looks at what came of it.
import assert from 'node:assert/strict'
import { browser } from './browser.mjs'

const [step, address] = process.argv.slice(2)
const { context, close } = await browser({ viewport: { width: 560, height: 520 } })
const page = await context.newPage()
const errors = []
page.on('pageerror', (e) => errors.push(e.stack))
page.on('console', (m) => m.type() === 'error' && errors.push(m.text()))

const button = (name) => page.getByRole('button', { name })
const deny = () => page.getByRole('button', { name: 'Deny', exact: true })
const panel = () => page.getByRole('alertdialog')
/** Longer than the time in which nothing counts. */
const guard = () => page.waitForTimeout(700)
const gone = () => panel().waitFor({ state: 'detached' })

// Steps in which something is pressed at once. There the page's clock goes only
// as far as it is let: no machine is too slow for that. In the last two it stands
// from the start.
const early = ['together', 'paging', 'early keys', 'outside edit']
const stop = async () => {
  for (;;) {
    const soon = (await page.evaluate(() => Date.now())) + 100
    try {
      return await page.clock.pauseAt(soon)
    } catch (e) {
      if (!/to the past/.test(String(e))) throw e // the machine took longer than that
    }
  }
}
const until = async (visible) => {
  for (let i = 0; i < 500 && !(await visible.isVisible()); i++) await page.clock.runFor(20)
  assert.equal(await visible.isVisible(), true, 'it does not come')
}

const steps = {
  async 'allow once'() {
    await panel().waitFor()
    assert.match(await panel().textContent(), /May main run touch\?/)
    assert.equal(await page.evaluate(() => document.activeElement.textContent.trim().startsWith('Deny')), true)
    await guard()
    await button(/^Allow once/).click()
    await gone()
  },
  async deny() {
    await guard()
    await page.getByRole('textbox', { name: 'Tell the agent why' }).fill('not now')
    await deny().click()
    await gone()
  },
  async escape() {
    await panel().waitFor()
    await guard()
    await page.keyboard.press('Escape')
    await gone()
  },
  async 'early keys'() {
    await until(panel())
    for (const key of ['Control+o', 'Enter', 'Escape']) await page.keyboard.press(key)
    await button(/^Allow once/).click()
    assert.equal(await panel().isVisible(), true, 'a key answered at once')
    await page.clock.resume()
    await guard()
    await page.getByRole('textbox', { name: 'Tell the agent why' }).focus()
    for (const key of ['Control+o', 'Enter', 'Control+a']) await page.keyboard.press(key)
    assert.equal(await panel().isVisible(), true, 'a key answered from a text field')
    await deny().click()
    await gone()
  },
  async always() {
    await panel().waitFor()
    await guard()
    await page.keyboard.press('Control+a')
    await page.getByText('What may main run from now on?').waitFor()
    await guard()
    for (const key of ['Control+a', 'Control+o']) await page.keyboard.press(key)
    assert.equal(await panel().isVisible(), true, 'a key saved an entry')
    await page.keyboard.press('Escape')
    await page.getByText('May main run').waitFor()
    await guard()
    await button('Always allow…').click()
    await page.getByText('What may main run from now on?').waitFor()
    assert.match(await panel().textContent(), /~\/tool/)
    await guard()
    await button(/^Always allow/).click()
    await gone()
  },
  async widths() {
    await panel().waitFor()
    await guard()
    await page.keyboard.press('Control+a')
    await page.getByText('What may main run from now on?').waitFor()
    const exact = page.getByRole('radio', { name: 'This exact command, here' })
    assert.equal(await exact.isChecked(), true, 'the narrowest is not the one that is chosen')
    await page.getByText(/Would have allowed 2 of your last 3 requests/).first().waitFor() // an earlier one, and this one
    await guard()
    // By keyboard alone: to the widths, down to the program, which is only here as it is suggested, for an hour.
    await exact.focus()
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.getByRole('radio', { name: 'Any tool build' }).isChecked(), true)
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.getByRole('radio', { name: 'Any tool command' }).isChecked(), true)
    await page.getByText(/Would have allowed 3 of your last 3 requests/).first().waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.getByRole('checkbox', { name: /^Only in/ }).isChecked(), true)
    await page.keyboard.press('Tab')
    await page.waitForFunction(() => document.activeElement.textContent === 'For good')
    await page.getByRole('radio', { name: '1 hour' }).focus()
    await page.keyboard.press('Space')
    assert.equal(await page.getByRole('radio', { name: '1 hour' }).getAttribute('aria-checked'), 'true')
    await page.keyboard.press('Enter') // nothing is pressed by it
    assert.equal(await panel().isVisible(), true, 'Enter saved from a choice')
    await guard()
    await button(/^Always allow/).focus()
    await page.keyboard.press('Enter')
    await gone()
  },
  async 'for a while'() {
    await panel().waitFor()
    await guard()
    await button(/^Allow for/).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: '10 minutes' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('menu').waitFor({ state: 'detached' })
    assert.equal(await panel().isVisible(), true, 'closing the menu denied')
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: '10 minutes' }).waitFor()
    for (const key of ['ArrowDown', 'ArrowDown', 'Control+o']) await page.keyboard.press(key)
    assert.equal(await panel().isVisible(), true, 'a key answered from the menu')
    await page.keyboard.down('Enter')
    for (let i = 0; i < 3; i++) await page.keyboard.down('Enter') // it is held down
    await page.keyboard.up('Enter')
    await page.getByRole('menu').waitFor({ state: 'detached' }).catch(() => {})
    assert.equal(await panel().isVisible(), true, 'a key answered as soon as the menu was open')
    if ((await page.getByRole('menu').count()) === 0) await button(/^Allow for/).click()
    await guard()
    await page.getByRole('menuitem', { name: 'Next 5 runs' }).click()
    await gone()
  },
  async 'deny for a while'() {
    await panel().waitFor()
    await guard()
    await button('Deny for…').focus()
    await page.keyboard.press('Enter')
    await page.getByRole('menuitem', { name: '10 minutes' }).waitFor()
    assert.equal(await page.getByRole('menuitem', { name: 'Always: any touch' }).isVisible(), true)
    await guard()
    await page.getByRole('menuitem', { name: '10 minutes' }).click()
    await gone()
  },
  async 'one of them'() {
    await page.getByText('×2: one answer for 2 identical requests.').waitFor()
    await guard()
    await button('Allow one, deny the rest').click()
    await gone()
  },
  async together() {
    await button('Answer three together…').waitFor()
    await guard()
    await stop()
    await button('Answer three together…').click()
    await until(page.getByText('main asks three small questions'))
    assert.equal(await page.getByRole('checkbox', { checked: true }).count(), 0, 'something is checked by itself')
    assert.equal(await button(/^Allow 0 once/).isDisabled(), true)
    await page.getByRole('checkbox', { name: 'uname -s' }).focus()
    await page.keyboard.press('Space')
    await button('Allow 1 once, deny 2').click()
    assert.equal(await panel().isVisible(), true, 'a click counted at once')
    await page.clock.resume()
    await guard()
    await button('Allow 1 once, deny 2').click()
    await gone()
  },
  async again() {
    await panel().waitFor()
    console.log('seen')
    await page.getByText('main stopped waiting').waitFor()
    await guard()
    await button('Allow if it asks again').click()
    await gone()
  },
  async 'take back'() {
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByRole('tab', { name: /^Allowlist/ }).waitFor()
    const row = page.getByRole('row').filter({ hasText: '~/tool' })
    await row.click()
    await button(/^Delete/).click()
    await row.waitFor({ state: 'detached' })
  },
  async hostile() {
    await panel().waitFor()
    const text = await page.locator('.command').first().textContent()
    for (const part of ['<img src=x onerror="window.pwned=1">', '</script><b>x</b>', 'U+202E', 'שלום', '🦞']) {
      assert.ok(text.includes(part), `the command does not show ${part}: ${text}`)
    }
    assert.equal(await page.evaluate(() => 'pwned' in window), false)
    assert.equal(await page.locator('.command img, .command b, .command script').count(), 0)
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    assert.ok(wide <= 0, `the page is ${wide} px too wide`)
    await guard()
    await page.keyboard.press('Control+o') // no key for what hides something
    assert.equal(await panel().isVisible(), true)
    await deny().click()
    await gone()
  },
  async complete() {
    await panel().waitFor()
    const text = await page.locator('.command').first().textContent()
    assert.equal((text.match(/0123456789 /g) ?? []).length, 5500)
    const end = page.locator('.command-line').last()
    await end.evaluate((e) => e.scrollIntoView({ block: 'end' }))
    assert.ok((await end.textContent()).includes('the end'))
    assert.equal(await deny().isVisible(), true)
    await guard()
    await deny().click()
    await gone()
  },
  async elsewhere() {
    await panel().waitFor()
    console.log('seen')
    await gone()
  },
  async 'hang up'() {
    await panel().waitFor()
    console.log('seen')
    await page.getByText('main stopped waiting').waitFor()
    assert.equal(await button(/^(Allow once|Always allow|Allow for)/).count(), 0)
    await guard()
    await button(/^Close/).click()
    await gone()
  },
  async 'would do'() {
    await panel().waitFor()
    // The host may give up on a slow disk, and says so; then nothing more is known.
    const would = page.locator('.would')
    await would.waitFor()
    const said = await would.innerText()
    if (!/in 50 ms/.test(said)) {
      assert.match(said, /Deletes build \(2 files, 2 KB, 1 of them not in git\)/)
      assert.match(said, /Deletes same\.txt \(4 bytes, in git as it is\)/)
    }
    assert.match(await panel().textContent(), /Risk\s*Medium: rm deletes or overwrites files here\./)
    assert.equal(await button(/^Allow once/).getAttribute('aria-keyshortcuts'), 'Control+O')
    await guard()
    await deny().click()
    await gone()
  },
  async expired() {
    // What is read aloud, and how often.
    await page.evaluate(() => {
      globalThis.said = []
      new MutationObserver((changes) => {
        for (const { target } of changes) {
          const live = (target.nodeType === Node.TEXT_NODE ? target.parentElement : target).closest('[role="status"], [role="alert"], [aria-live]')
          if (live && live.textContent.trim()) globalThis.said.push(live.textContent.trim())
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
    })
    await panel().waitFor()
    assert.equal(await button('Hold').count(), 0, 'there is nothing to hold')
    await page.getByRole('heading', { name: 'Time ran out' }).waitFor({ timeout: 60_000 })
    // At 20 seconds too, if the browser was there by then.
    const said = await page.evaluate(() => globalThis.said)
    assert.deepEqual(said, ['Denies in 20 seconds', 'Denies in 5 seconds'].slice(-said.length || -1))
    assert.equal(await button(/^(Deny|Allow once|Always allow|Allow for)/).count(), 0)
    assert.match(await panel().textContent(), /Nothing was run\./)
    await guard()
    await page.keyboard.press('Escape')
    await gone()
  },
  async hold() {
    const clock = page.locator('.clock time')
    await panel().waitFor()
    await guard()
    const before = await clock.textContent()
    await page.keyboard.press('Control+Shift+h')
    await page.getByText(/^Held, .* at most$/).waitFor()
    assert.match(before, /^(10:00|9:\d\d)$/)
    assert.match(await clock.textContent(), /^5\d:\d\d$/) // as long as its caller waits
    console.log('seen')
    await button('Resume').click()
    await page.getByText(/^Denies in/).first().waitFor()
    await guard()
    await button(/^Allow once/).click()
    await gone()
  },
  /** The same question in two windows, which answer it otherwise at the same time. */
  async 'two clients'() {
    const other = await context.newPage()
    await other.goto(address)
    const both = [page, other].map((p) => p.getByRole('alertdialog'))
    await Promise.all(both.map((p) => p.waitFor()))
    await guard()
    const press = (button) => button.click({ timeout: 5000 }).catch(() => {}) // it may be gone by then
    await Promise.all([press(both[0].getByRole('button', { name: /^Allow once/ })), press(both[1].getByRole('button', { name: 'Deny', exact: true }))])
    await Promise.all(both.map((p) => p.waitFor({ state: 'detached' })))
  },
  async 'deny for good'() {
    await panel().waitFor()
    await guard()
    await button('Deny for…').click()
    await guard()
    await page.getByRole('menuitem', { name: 'Always: any touch' }).click()
    await gone()
  },
  async 'take the edit'() {
    await page.getByText('Something changed the policy file').waitFor()
    await guard()
    await button('Take the change').click()
    await gone()
  },
  async paused() {
    await panel().waitFor()
    await page.getByText('Paused: nothing starts, and what you allow waits.').waitFor()
    await guard()
    await button(/^Allow once/).click()
    await gone()
    console.log('seen') // and the settings are opened
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByText('Paused: nothing starts, and what you allow waits.').waitFor()
    await guard()
    await button('Resume').click()
    await page.getByText(/^Paused/).waitFor({ state: 'detached' })
  },
  async stopped() {
    await panel().waitFor()
    console.log('seen')
    await gone()
  },
  async suggested() {
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByRole('link', { name: 'Activity' }).click()
    const list = page.getByRole('list', { name: 'Suggestions' })
    await list.getByRole('heading', { name: 'One entry would have saved 3 questions' }).waitFor()
    await list.getByRole('button', { name: 'Look at the entry…' }).click()
    const form = page.getByRole('dialog')
    await form.getByText(/Would have allowed 3 of your last 3 requests/).waitFor()
    await page.keyboard.press('Escape')
    await form.waitFor({ state: 'detached' })
    await page.getByRole('link', { name: 'Activity' }).click()
    await list.getByRole('button', { name: 'Add this entry' }).click()
    await page.getByText('Saved', { exact: true }).waitFor()
    await list.waitFor({ state: 'detached' })
  },
  async paging() {
    await page.getByText('1 of 2 waiting').waitFor()
    assert.match(await panel().textContent(), /May one run touch\?/)
    await stop()
    await button('Next question').click()
    await until(page.getByText('2 of 2 waiting'))
    assert.match(await panel().textContent(), /May two run touch\?/)
    await button(/^Allow once/).click()
    assert.match(await panel().textContent(), /May two run touch\?/, 'a click counted at once')
    await page.clock.resume()
    await guard()
    await button(/^Allow once/).click()
    await page.getByText('May one run').waitFor()
    await guard()
    await deny().click()
    await gone()
  },
  async 'outside edit'() {
    await until(page.getByText('Something changed the policy file'))
    assert.match(await panel().textContent(), /defaults\.security goes from allowlist to full/)
    await button('Take the change').click()
    assert.equal(await panel().isVisible(), true, 'a click counted at once')
    await page.clock.resume()
    console.log('seen') // a question comes
    await page.getByText('May main run').waitFor()
    await guard()
    await deny().click()
    await page.getByText('Something changed the policy file').waitFor()
    await guard()
    await page.keyboard.press('Escape')
    await gone()
  },
  async settings() {
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByRole('tab', { name: /^Allowlist/ }).waitFor()
    await button(/^Add/).click()
    await page.getByRole('dialog').getByLabel('Program').fill('/usr/bin/uname')
    await page.getByText(/Matches .*uname/).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: /^(Add|Save)/ }).click()
    const row = page.getByRole('row').filter({ hasText: '/usr/bin/uname' })
    await row.waitFor()
    await row.click()
    await button(/^Delete/).click()
    await row.waitFor({ state: 'detached' })
    await button(/^Undo/).click()
    await row.waitFor()
  },
  async activity() {
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByRole('link', { name: 'Activity' }).click()
    const grid = page.getByRole('grid', { name: 'History' })
    const first = grid.getByRole('row').nth(1)
    await first.filter({ hasText: 'Denied by rule' }).waitFor()
    await page.getByText('The latest 200 commands').waitFor()
    await first.focus()
    await page.keyboard.press('End') // and so the next page is read
    await page.getByText('205 commands', { exact: true }).waitFor()
    await page.getByLabel('Search commands').fill('sudo nothing')
    await page.getByText('1 command', { exact: true }).waitFor()
    assert.equal(await page.evaluate(() => 'pwned' in window), false)
    await grid.getByRole('row').nth(1).focus()
    await page.keyboard.press('Enter')
    const record = page.getByRole('dialog', { name: 'Request' })
    assert.match(await record.textContent(), /<img src=x onerror="window.pwned=1">/)
    assert.match(await record.textContent(), /U\+202E/)
    assert.match(await record.textContent(), /Denied by rule: .*sudo/)
    await page.keyboard.press('Escape')
    await record.waitFor({ state: 'detached' })
    await page.getByLabel('Search commands').fill('')
    await page.getByLabel('Outcome').selectOption({ label: 'Passed' })
    await grid.getByRole('row').nth(1).filter({ hasText: 'Passed' }).dblclick()
    assert.match(await record.textContent(), /The 2 programs that ran/)
    await record.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('img', { name: /^Questions per 100 commands/ }).waitFor()
    await button('Export…').click()
    await page.getByText(/^\d+ rows written to .*out\.jsonl$/).waitFor()
  },
  async warnings() {
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByText('Leads nowhere: there is no such program here.').waitFor()
    await page.getByText(/^Runs any code it is given/).waitFor()
    await page.getByText(/· 2 need a look/).waitFor()
    await page.getByRole('button', { name: 'Delete ~/gone' }).click()
    await page.getByText(/· 1 needs a look/).waitFor()
    await button(/^Undo/).click()
    await page.getByText(/· 2 need a look/).waitFor()
  },
  async import() {
    await page.setViewportSize({ width: 920, height: 640 })
    const choose = async (what) => {
      await button('Import and export').click()
      await page.getByRole('menuitem', { name: what }).click()
    }
    await choose('Export…')
    await page.getByText(/^1 entry written to .*list\.json$/).waitFor()
    await choose('Import…')
    await page.getByText('2 entries would be added. 1 is there already.').waitFor()
    await button('Add 2 entries').click()
    await page.getByText(/^3 entries/).waitFor()
    await button(/^Undo/).click()
    await page.getByText(/^1 entry/).first().waitFor()
    await choose('Import…')
    await page.getByText(/Nothing is imported: list\.json:1: agents\.a\.allowlist\[0\]: cannot use/).waitFor()
  },
  async lists() {
    await page.setViewportSize({ width: 920, height: 640 })
    const add = async (label, word) => {
      await button(/^Add/).click()
      await page.getByRole('dialog').getByLabel(label).fill(word)
      await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    }
    const tab = (name) => page.getByRole('tab', { name })
    await tab('Safe bins 6').click()
    await add('Filter or folder', 'rev')
    await tab('Safe bins 7').waitFor()
    await add('Filter or folder', '~/filters')
    await page.getByRole('row').filter({ hasText: '~/filters' }).click()
    await button(/^Delete/).click()
    await page.getByRole('row').filter({ hasText: '~/filters' }).waitFor({ state: 'detached' })
    await add('Filter or folder', 'not a name')
    await page.getByRole('dialog').getByText(/must be the name of a program/).waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await tab(/^Skills/).click()
    await add('Program', '~/tool')
    await page.getByRole('row').filter({ hasText: 'As accepted' }).waitFor()
    await page.getByRole('checkbox', { name: 'Run skills without a question' }).focus()
    await page.keyboard.press('Space')
    await page.getByRole('checkbox', { name: 'Run skills without a question', checked: true }).waitFor()
    await tab('Gateways').click()
    await page.getByText('No gateway yet').waitFor()
    await page.getByRole('link', { name: 'General' }).click()
    await page.getByText(/^\d+ rows, /).waitFor()
  },
  async try() {
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByRole('link', { name: 'Try a command' }).click()
    const field = page.getByLabel('Command to try')
    const said = (title) => page.getByRole('heading', { name: title }).waitFor()
    await field.fill('id -u | id -g')
    await said('Would pass')
    await page.getByLabel('Folder').fill('/not/there')
    await page.getByText(/cwd-unavailable/).waitFor()
    await page.getByLabel('Folder').fill('~')
    await field.fill('id && touch ~/proof')
    await said('Would ask you')
    assert.equal(await page.getByRole('list', { name: 'What runs' }).getByRole('listitem').count(), 2)
    await field.fill('sudo id')
    await said('Would be denied')
    await page.getByText(/^“SYSTEM_RUN_DENIED: denylisted/).waitFor()
    await field.fill('echo <img src=x onerror="window.pwned=1"> \u202e')
    await page.getByText('U+202E').first().waitFor()
    await field.fill('id;'.repeat(21_000))
    await said('Would ask you')
    assert.equal(await page.evaluate(() => 'pwned' in window), false)
  },
  /** Where Tab goes on the panel, and where the focus is after what was open in the settings closes. */
  async keyboard() {
    const focused = () => page.evaluate(() => {
      const e = document.activeElement
      return (e.ariaLabel || e.labels?.[0]?.textContent || e.textContent || e.placeholder).trim().split(/\s{2,}|⌃| esc/)[0]
    })
    await panel().waitFor()
    const order = []
    for (let i = 0; i < 9; i++) {
      order.push(await focused())
      await page.keyboard.press('Tab')
    }
    assert.deepEqual(order.slice(0, 6), ['Deny', 'Deny for…', 'Tell the agent why', 'Allow once', 'Allow for…', 'Always allow…'])
    await guard()
    await page.keyboard.press('Control+a')
    await page.getByText('What may main run from now on?').waitFor()
    await guard()
    await page.keyboard.press('Escape')
    await page.waitForFunction(() => document.activeElement.textContent.trim().startsWith('Deny')) // as when it came
    await guard()
    await page.keyboard.press('Escape')
    await gone()

    console.log('seen') // and the settings are opened
    await page.setViewportSize({ width: 920, height: 640 })
    await page.getByRole('tab', { name: /^Allowlist/ }).waitFor()
    const opens = async (opener, key, what) => {
      await opener.focus()
      const name = await focused()
      await page.keyboard.press(key)
      await what.waitFor()
      await page.waitForFunction((e) => e.contains(document.activeElement), await what.elementHandle())
      await page.keyboard.press('Escape')
      await what.waitFor({ state: 'detached' }).catch(() => what.waitFor({ state: 'hidden' }))
      await page.waitForFunction((n) => (document.activeElement.ariaLabel || document.activeElement.textContent).trim().startsWith(n), name)
    }
    await opens(button('Add…'), 'Enter', page.getByRole('dialog', { name: 'Add an entry' }))
    await opens(button('Import and export'), 'Enter', page.getByRole('menu'))
    await page.getByRole('tab', { name: /^Allowlist/ }).focus()
    for (const name of ['Denylist', 'Safe bins', 'Skills', 'Projects', 'Gateways']) {
      await page.keyboard.press('ArrowRight')
      await page.getByRole('tab', { name: new RegExp(`^${name}`), selected: true }).waitFor()
    }
    await page.keyboard.press('Home')
    await page.getByRole('tab', { name: /^Allowlist/, selected: true }).waitFor()
    await page.getByRole('row').filter({ hasText: '~/tool' }).focus()
    await page.keyboard.press('Delete')
    await page.getByRole('row').filter({ hasText: '~/tool' }).waitFor({ state: 'detached' })
    await page.keyboard.press('Control+z')
    const entry = page.getByRole('row').filter({ hasText: '~/tool' })
    await entry.waitFor()
    await opens(entry, 'Enter', page.getByRole('dialog', { name: 'Edit an entry' }))
    await entry.focus()
    await page.keyboard.press('Space')
    await page.getByRole('checkbox', { name: /^In force/, checked: false }).waitFor()

    // Every control of every page is reached, and Tab comes round.
    for (const name of ['Agents', 'Activity', 'Try a command', 'Node', 'General']) {
      await page.getByRole('link', { name: new RegExp(`^${name}`) }).focus()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { name, level: 1 }).waitFor()
      const missed = () => page.evaluate(() => {
        const stops = [...document.querySelectorAll('a[href], :is(button, input, select, textarea):not([disabled]), [tabindex="0"]')]
        return stops.filter((e) => e.tabIndex >= 0 && e.checkVisibility({ visibilityProperty: true }) && !e.closest('[inert]') && !globalThis.met.has(e)).map((e) => e.outerHTML.slice(0, 100))
      })
      await page.evaluate(() => (globalThis.met = new Set()))
      for (let i = 0; i < 80 && (await missed()).length; i++) {
        await page.keyboard.press('Tab')
        await page.evaluate(() => {
          const e = document.activeElement
          globalThis.met.add(e)
          // Of a group one is a stop, and the arrow keys go to the others. A group that is a stop itself hands on to one of them at once.
          const group = e.closest('[role="group"], [role="radiogroup"], [role="tablist"]')
          for (const other of group ? [group, ...group.querySelectorAll('button, input')] : []) globalThis.met.add(other)
        })
      }
      assert.deepEqual(await missed(), [], `${name}: Tab does not come to all of it`)
    }
  },
  /** Once through all that a newcomer does, by keyboard alone and with at most three activations each. */
  async newcomer() {
    let presses = 0
    const press = async (key) => {
      if (key === 'Enter' || key === 'Space' || key === 'Delete') presses++
      await page.keyboard.press(key)
    }
    const part = (name) => {
      assert.ok(presses <= 3, `${name} takes ${presses}`)
      console.log(`${name} ${presses}`)
      presses = 0
    }
    const at = (thing) => thing.evaluate((e) => e === document.activeElement || e.contains(document.activeElement))
    const to = async (thing) => {
      await thing.waitFor()
      for (let i = 0; !(await at(thing)); i++) {
        assert.ok(i < 80, `Tab does not come to ${thing}`)
        await press('Tab')
        const ring = await page.evaluate(() => document.activeElement === document.body || document.activeElement.matches(':focus-visible'))
        assert.ok(ring, 'what has the focus is not shown')
      }
    }
    const done = async (name, thing) => (await thing.waitFor(), part(name))

    await panel().waitFor()
    assert.match(await panel().textContent(), /May main run tool\?\s+No entry covers it\./)
    await guard()
    await to(button(/^Allow for/))
    await press('Enter')
    const hour = page.getByRole('menuitem', { name: '1 hour' })
    await hour.waitFor()
    for (let i = 0; (await hour.getAttribute('data-highlighted')) === null; i++) {
      assert.ok(i < 9, 'the arrow keys do not come to 1 hour')
      await press('ArrowDown')
    }
    await guard()
    await press('Enter')
    await gone()
    part('allowed')

    presses++ // Settings… in the menu of the status item
    await page.setViewportSize({ width: 920, height: 640 })
    await to(page.getByRole('link', { name: 'Activity' }))
    await press('Enter')
    const row = page.getByRole('grid', { name: 'History' }).getByRole('row').nth(1)
    await row.filter({ hasText: 'Allowed a while' }).waitFor()
    await to(row)
    await press('Enter')
    const record = page.getByRole('dialog')
    await record.getByText(/^Allow for 1 hour, by you on the panel/).waitFor()
    part('found')

    await to(button('Make it an entry…'))
    await press('Enter')
    await page.getByRole('heading', { name: 'What may main run from now on?' }).waitFor()
    const exact = page.getByRole('radio', { name: 'This exact command, here' })
    await page.waitForFunction((e) => e === document.activeElement, await exact.elementHandle())
    await press('ArrowDown')
    assert.equal(await page.getByRole('radio', { name: 'Any tool build' }).isChecked(), true)
    await page.getByText('Takes the place of what you allowed for a while.').waitFor()
    await to(record.getByRole('button', { name: 'Back' }))
    await press('Enter')
    await page.waitForFunction(() => document.activeElement.textContent === 'Make it an entry…')
    presses = 0 // that was a way round
    await press('Enter')
    await page.waitForFunction((e) => e === document.activeElement, await exact.elementHandle())
    await press('ArrowDown')
    await to(record.getByRole('button', { name: 'Save' }))
    await press('Enter')
    await record.waitFor({ state: 'detached' })
    await done('kept', page.getByText('Saved', { exact: true }))
    await page.waitForFunction(() => document.activeElement.matches('tr')) // from where it was opened

    await to(page.getByRole('link', { name: 'Agents' }))
    await press('Enter')
    const entry = page.getByRole('row').filter({ hasText: '~/tool' })
    await to(entry)
    await press('Delete')
    await entry.waitFor({ state: 'detached' })
    part('taken back')
  },
  async 'first run'() {
    await page.setViewportSize({ width: 720, height: 504 })
    await page.getByText('How should agents start?').waitFor()
    await page.getByRole('radio', { name: /^Ask me/ }).waitFor()
    await button(/^Continue/).click()
    await button('Install… Claude Code').click()
    await button('Write it').click()
    await button('Done').waitFor()
    await page.waitForTimeout(600) // what comes sooner than half a second does not count
    await button('Done').click()
    await page.getByRole('tab', { name: /^Allowlist/ }).waitFor()
  },
}

let code = 0
try {
  page.setDefaultTimeout(15_000)
  if (early.includes(step)) await page.clock.install()
  if (early.indexOf(step) >= 2) await page.clock.pauseAt(Date.now() + 1000)
  await page.goto(address)
  await steps[step]()
  assert.deepEqual(errors, [])
} catch (e) {
  console.error(e)
  console.error('errors of the page:', errors)
  console.error((await page.locator('body').innerText().catch(() => '')).slice(0, 3000))
  code = 1
}
await close()
process.exit(code)
