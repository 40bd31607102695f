import { expect, test } from 'vitest'
import { settings } from './text'

// What judgement makes of the three words, as facts
// that the sentence must and must not say.
const all = ['deny', 'allowlist', 'full']
const said = (security: string, ask: string, fallback: string) => settings.together('codex', security, ask, fallback)

const wants: [string, string, string, RegExp, RegExp?, string?][] = [
  ...['off', 'on-miss', 'always'].flatMap((ask) =>
    all.map((fallback): [string, string, string, RegExp, RegExp, string] => ['deny', ask, fallback, /^codex runs nothing\.$/, /asks|listed/, 'deny']),
  ),
  ...all.map((f): [string, string, string, RegExp, RegExp, string] => ['allowlist', 'off', f, /runs what is listed and is denied the rest\. You are never asked/, /cannot be asked/, 'pass']),
  ['allowlist', 'on-miss', 'deny', /runs what is listed, asks you about the rest, and is denied if you do not answer\.$/, /everything/, 'ask'],
  ['allowlist', 'on-miss', 'allowlist', /runs what is listed, asks you about the rest, and is denied if you do not answer\.$/, /everything/, 'ask'],
  ['allowlist', 'on-miss', 'full', /cannot be asked, everything runs but the denylist and protected files/, undefined, 'danger'],
  ['allowlist', 'always', 'deny', /asks you about every command, and is denied if you do not answer\.$/, /listed|everything/, 'ask'],
  ['allowlist', 'always', 'allowlist', /about every command.*cannot be asked, what is listed runs/, /everything/, 'ask'],
  ['allowlist', 'always', 'full', /about every command.*cannot be asked, everything runs but the denylist/, undefined, 'danger'],
  ...all.map((f): [string, string, string, RegExp, RegExp, string] => ['full', 'off', f, /runs everything, and you are never asked.*denylist.*Countersign’s own files/, /cannot be asked/, 'danger']),
  ...all.map((f): [string, string, string, RegExp, undefined, string] => ['full', 'on-miss', f, /runs everything but what is on the denylist.*cannot be asked, that is denied/, undefined, 'danger']),
  ['full', 'always', 'deny', /asks you about every command, and is denied if you do not answer\.$/, /everything/, 'ask'],
  ['full', 'always', 'allowlist', /cannot be asked, everything runs but the denylist.*own files/, undefined, 'danger'],
  ['full', 'always', 'full', /cannot be asked, everything runs but the denylist.*own files/, undefined, 'danger'],
]

test('every combination is here once', () => {
  expect(new Set(wants.map((w) => w.slice(0, 3).join())).size).toBe(27)
  expect(wants).toHaveLength(27)
})

test.each(wants)('%s, %s, %s', (security, ask, fallback, says, never, verdict) => {
  const got = said(security, ask, fallback)
  expect(got.text).toMatch(says)
  expect(got.text).toMatch(/^codex /)
  if (never) expect(got.text).not.toMatch(never)
  expect(got.verdict).toBe(verdict)
  // Silence is a denial whatever the fallback: nobody is told otherwise.
  if (security !== 'deny' && ask === 'always') expect(got.text).toContain('denied if you do not answer')
})

const now = Date.UTC(2026, 2, 21, 14)
test.each([
  [undefined, 'Never used'], [now - 5_000, 'Just now'], [now + 5_000, 'Just now'], [now - 120_000, '2 min ago'], [now - 3_600_000, '1 h ago'],
  [now - 25 * 3_600_000, 'Yesterday'], [now - 12 * 86_400_000, '12 days ago'],
])('used at %s', (then, want) => expect(settings.ago(then, now)).toBe(want))

test.each([
  [undefined, -1, 'Never'], [now + 42 * 60_000, -1, 'In 42 min'], [now - 1, -1, 'Ended'], [undefined, 3, '3 uses left'], [undefined, 1, '1 use left'],
  [undefined, 0, 'Ended'], [now + 86_400_000, 2, '2 uses left, In 1 day'], [now - 1, 5, 'Ended'],
])('ends at %s after %i uses', (at, uses, want) => expect(settings.ends(at, uses, now)).toBe(want))

test.each([
  [{ count: 3, programs: ['a', 'b', 'c'], more: false }, 'Matches 3 programs on this computer: a, b, c.'],
  [{ count: 1, programs: ['a'], more: false }, 'Matches 1 program on this computer: a.'],
  [{ count: 7, programs: ['a', 'b'], more: false }, 'Matches 7 programs on this computer: a, b and 5 more.'],
  [{ count: 7, programs: ['a', 'b'], more: true }, 'Matches at least 7 programs on this computer: a, b and others.'],
  [{ count: 0, programs: [], more: false, warning: 'nothing' }, 'Matches nothing here.'],
  [{ count: 0, programs: [], more: true }, 'There is too much to look through: what it matches here is not known.'],
  [{ count: 0, programs: [], more: false, problem: 'Bad pattern.' }, 'Bad pattern.'],
])('matches %j', (preview, want) => expect(settings.matches(preview)).toBe(want))
