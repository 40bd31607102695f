// The twelve things that are looked at in every picture of the gallery, in
// light and dark. Each is a function that runs in the page and returns what it
// found wrong; `motion` and `focus` need the keyboard pressed before. A number
// is in CSS pixels, and comes from the design.

/** 1. What axe finds: names, roles, contrast, the order of headings. */
export async function axe() {
  const { violations } = await globalThis.axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa', 'best-practice'] })
  return violations.map((v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => n.html.slice(0, 160)).slice(0, 3).join('\n    ')}`)
}

/** 2. The places in commands where what comes next in the text does not come next on the line. */
export function order() {
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

/** Has the text grow, and nothing else: every font that the style sheets name. */
export function grow(factor) {
  const all = (rules) => {
    for (const rule of rules) {
      if (!(rule instanceof CSSStyleRule)) {
        all(rule.cssRules ?? [])
        continue
      }
      const sized = (name) => /[\d.]px/.test(rule.style.getPropertyValue(name))
      const names = [...rule.style].filter((name) => /^--type-/.test(name))
      names.push(...(sized('font') ? ['font'] : ['font-size', 'line-height'])) // the first one is both
      for (const name of names.filter(sized)) {
        const value = rule.style.getPropertyValue(name).replace(/([\d.]+)px/g, (_, n) => `${n * factor}px`)
        rule.style.setProperty(name, value, rule.style.getPropertyPriority(name))
      }
    }
  }
  for (const sheet of document.styleSheets) all(sheet.cssRules)
}

/**
 * 3 to 6. Nothing leaves the window and nothing is cut: as it opens, as small
 * as it goes, at 200 %, wide, and where the text alone is at 150 %. What scrolls is not cut, and neither is what
 * ends in an ellipsis and is whole on focus or elsewhere.
 */
export function whole() {
  const found = []
  const over = document.documentElement.scrollWidth - innerWidth
  if (over > 0) found.push(`the page is ${over} px too wide`)
  const name = (e) => `<${e.tagName.toLowerCase()} class="${e.getAttribute('class') ?? ''}"> ${e.textContent.trim().slice(0, 40)}`
  const shown = (e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('.visually-hidden, [inert], svg, .sheet-under[aria-hidden]')
  for (const e of document.querySelectorAll('#app *')) {
    const own = [...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim())
    if (!own || !shown(e)) continue
    const range = document.createRange()
    range.selectNodeContents(e)
    const text = range.getBoundingClientRect()
    // The nearest around it that cuts, in each direction, before one that scrolls.
    let [x, y] = [true, true]
    for (let around = e; around && around !== document.body && (x || y); around = around.parentElement) {
      const style = getComputedStyle(around)
      const box = around.getBoundingClientRect()
      const button = around.matches('button, .chip, .tag')
      if (style.position === 'fixed') break
      if (x && style.textOverflow === 'ellipsis' && style.overflowX !== 'visible') x = false
      if (/auto|scroll/.test(style.overflowX)) x = false
      if (/auto|scroll/.test(style.overflowY)) y = false
      const cuts = (overflow) => button || /hidden|clip/.test(overflow)
      if (x && cuts(style.overflowX) && (text.right > box.right + 1 || text.left < box.left - 1)) found.push(`cut at the side: ${name(e)}`), (x = false)
      if (y && cuts(style.overflowY) && (text.bottom > box.bottom + 4 || text.top < box.top - 4)) found.push(`cut in height: ${name(e)}`), (y = false)
    }
  }
  // What stands side by side or below one another does not lie on one another.
  const drawn = (e) => {
    const all = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity }
    const texts = document.createTreeWalker(e, NodeFilter.SHOW_TEXT)
    for (let node = texts.nextNode(); node; node = texts.nextNode()) {
      if (!node.data.trim() || node.parentElement.closest('.visually-hidden, select')) continue
      const range = document.createRange()
      range.selectNodeContents(node)
      let { left, top, right, bottom } = range.getBoundingClientRect()
      for (let around = node.parentElement; around !== e.parentElement; around = around.parentElement) {
        if (getComputedStyle(around).overflow === 'visible') continue
        const box = around.getBoundingClientRect()
        ;[left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)]
      }
      if (right <= left || bottom <= top) continue
      Object.assign(all, { left: Math.min(all.left, left), top: Math.min(all.top, top), right: Math.max(all.right, right), bottom: Math.max(all.bottom, bottom) })
    }
    return all
  }
  for (const e of document.querySelectorAll('#app *')) {
    if (!/grid|flex|block/.test(getComputedStyle(e).display) || e.children.length < 2 || e.children.length > 40 || !shown(e)) continue
    const parts = [...e.children].filter((c) => c.textContent.trim() && shown(c) && getComputedStyle(c).position.match(/static|relative/) && getComputedStyle(c).display !== 'inline')
    for (const [i, part] of parts.entries()) {
      const [a, b] = [drawn(part), parts[i + 1] && drawn(parts[i + 1])]
      if (b && a.right > b.left + 2 && b.right > a.left + 2 && a.bottom > b.top + 3 && b.bottom > a.top + 3) found.push(`lies on what comes next: ${name(part)}`)
    }
  }
  // The answers stay. Where there are more than half a window of them they scroll, and what has the focus stays.
  const foot = document.querySelector('.panel-foot')
  const few = foot && foot.scrollHeight <= foot.clientHeight
  for (const e of foot?.querySelectorAll('.btn') ?? []) {
    const box = e.getBoundingClientRect()
    if ((few || e === document.activeElement) && (box.bottom > innerHeight || box.top < 0)) found.push(`out of sight: ${name(e)}`)
    if (e === document.activeElement && !e.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2))) found.push(`something lies on ${name(e)}`)
  }
  return found
}

/** 7. Blocks stand on the grid: 20 from the edges, 14 apart in the panel and 16 in the settings. */
export function grid() {
  const found = []
  for (const [selector, gap] of [['.panel-body', 14], ['.page', 16]]) {
    const pane = document.querySelector(selector)
    if (!pane || pane.closest('[inert]')) continue
    const room = pane.getBoundingClientRect()
    let before
    for (const block of pane.children) {
      const box = block.getBoundingClientRect()
      const style = getComputedStyle(block)
      if (!box.height || /absolute|fixed/.test(style.position)) continue
      const name = `<${block.tagName.toLowerCase()} class="${block.className}">`
      if (Math.abs(box.left - room.left - 20) > 0.6) found.push(`${name} begins ${box.left - room.left} from the edge`)
      if (box.right > room.right - 19.4) found.push(`${name} ends ${room.right - box.right} from the edge`)
      if (before !== undefined && style.marginTop === '0px' && Math.abs(box.top - before - gap) > 0.6) found.push(`${name} stands ${box.top - before} below what is above it`)
      before = box.bottom
    }
  }
  return found
}

/** 8. In the panel every value starts 148 from the content's edge. */
export function axis() {
  const body = document.querySelector('.panel-body')
  if (!body) return []
  const from = body.getBoundingClientRect().left + 20
  return [...body.querySelectorAll('.run > .path, .env-row > .value, .facts > dd')]
    .map((e) => [e, e.getBoundingClientRect().left - from])
    .filter(([, at]) => Math.abs(at - 148) > 0.6)
    .map(([e, at]) => `a value starts at ${at}: ${e.textContent.slice(0, 40)}`)
}

/** 9. One thing has the focus, Deny where a question is asked, and wherever it goes its ring is seen. */
export async function focus() {
  const found = []
  const seen = (e) => {
    const near = [e, e.parentElement, e.parentElement?.parentElement, e.nextElementSibling, ...e.children]
    return near.some((n) => {
      if (!n || n === document.body) return false
      const style = getComputedStyle(n)
      return (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2) || style.boxShadow.includes(ring)
    })
  }
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.color = 'var(--accent-ring)'
  const ring = getComputedStyle(probe).color
  probe.remove()
  const at = document.activeElement
  const deny = document.querySelector('.frame .deny')
  if (deny && !document.querySelector('[role="menu"]') && at !== deny) found.push(`not Deny has the focus, but ${at.outerHTML.slice(0, 80)}`)
  if (document.querySelector('.frame') && at === document.body) found.push('nothing has the focus')
  const stops = [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex="0"]')]
    .filter((e) => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && !e.closest('[inert], [aria-hidden="true"]'))
  for (const e of stops.slice(0, 80)) {
    e.focus({ preventScroll: true })
    await new Promise((done) => setTimeout(done))
    if (document.activeElement === e && !seen(e)) await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))) // a group hands it on
    if (document.activeElement === e && !seen(e)) found.push(`no ring: ${e.outerHTML.slice(0, 120)}`)
  }
  if (at instanceof HTMLElement) at.focus({ preventScroll: true })
  return found
}

/** 10. The answers look alike and none is filled with colour; elsewhere one action at most is. */
export function answers() {
  const found = []
  const fills = new Set([...document.querySelectorAll('.frame .btn-answer:not([disabled])')].map((e) => getComputedStyle(e).backgroundColor))
  if (fills.size > 1) found.push(`answers are filled with ${[...fills].join(' and ')}`)
  const strong = [...document.querySelectorAll('.btn-accent')].filter((e) => !e.closest('[inert]') && e.checkVisibility())
  if (strong.length > 1 || (strong.length && document.querySelector('.frame'))) found.push(`filled with the accent: ${strong.map((e) => e.textContent.trim()).join(', ')}`)
  return found
}

/** 11. What is pressed is 24 high and wide, but for the pager, which has keys; no text is below 11. */
export function sizes() {
  const found = []
  for (const e of document.querySelectorAll('button, a[href], select, [role="checkbox"], [role="menuitem"], label:has(> input[type="checkbox"])')) {
    if (e.closest('[inert], .pager, p, .inline-note') || !e.checkVisibility({ visibilityProperty: true })) continue
    const box = e.getBoundingClientRect()
    const after = getComputedStyle(e, '::after')
    const around = after.position === 'absolute' && after.content !== 'none' // what is pressed may be larger than what is seen
    const width = box.width - (around ? 2 * parseFloat(after.left) : 0)
    const height = box.height - (around ? 2 * parseFloat(after.top) : 0)
    if (box.width && Math.min(width, height) < 23.5) found.push(`${width} × ${height} is pressed: ${e.outerHTML.slice(0, 100)}`)
  }
  const texts = document.createTreeWalker(document.querySelector('#app'), NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const e = node.parentElement
    if (!node.data.trim() || e.closest('.avatar, .visually-hidden') || !e.checkVisibility()) continue
    const size = parseFloat(getComputedStyle(e).fontSize)
    if (size < 11) found.push(`text of ${size}: ${node.data.slice(0, 40)}`)
  }
  return found
}

/** 12. Nothing moves for those who asked for that, and nothing is read aloud before something happens. */
export function still(pressed) {
  const found = document.getAnimations().map((a) => `moves: ${a.effect?.target?.outerHTML.slice(0, 80)}`)
  for (const e of document.querySelectorAll('#app *')) {
    const style = getComputedStyle(e)
    if (style.transitionDuration.split(', ').some((d) => parseFloat(d) > 0)) found.push(`would move: ${e.outerHTML.slice(0, 80)}`)
  }
  if (pressed) return found
  for (const e of document.querySelectorAll('[role="status"], [role="alert"], [role="log"], [aria-live]:not([aria-live="off"])')) {
    // What a mode means and what is wrong with the host is said again when it changes.
    if (e.textContent.trim() && !e.closest('[inert], .modes-sum, .note')) found.push(`is read aloud at once: ${e.textContent.trim().slice(0, 60)}`)
  }
  return found
}
