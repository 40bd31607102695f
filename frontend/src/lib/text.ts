// Every sentence that the page shows. What the judgement found comes from the
// host with its own sentence.
import type { ActivityRow, Agent, Before, ChangeLine, DayRate, End, EntryWarning, HistorySize, Preview, Rate, Replayed, StartingPoint, Stops, Verdict, Word } from './types'

/** What a person allowed, and how often. */
const allowedSoOften = ({ start, names, times }: Before) =>
  start === 'developer-tools' ? `You allowed ${times} commands that only read`
  : start ? `You allowed ${times} tests, builds or edits`
  : `You allowed ${names.join(' and ') || 'exactly this'} ${times} times`

const numbers = ['no', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten']
const inWords = (n: number) => numbers[n] ?? String(n)
const capital = (s: string) => s.charAt(0).toUpperCase() + s.slice(1)

/** A finding of the host as a sentence. Names of programs keep their letters. */
const sentence = (s: string) => s && (/^(it|this|the|these|there|where|what|shells|nobody)\b/.test(s) ? capital(s) : s) + (/[.!?]$/.test(s) ? '' : '.')

/** Why a whole command asks, where the sentence of the finding can be said shorter. */
const asks: Record<string, string> = {
  'allowlist-miss': 'No entry covers it.',
  'ask-always': 'This agent is asked about every command.',
  'starts-program': 'It can start other programs or change files.',
  'inline-code': 'It runs code, and no entry can vouch for that.',
}

/** Why one program asks or is denied, beside its row. */
const why: Record<string, string> = {
  'allowlist-miss': 'No entry',
  'approval-required': 'Needs the shell',
  'binary-changed': 'Not the file you allowed',
  'changes-config': 'Changes settings',
  'changes-system': 'Changes the machine',
  deletes: 'Deletes files',
  'env-asks': 'Sets variables',
  evaluates: 'Done inside the shell',
  'inline-code': 'Runs any code',
  'lease-ended': 'Permission has ended',
  'not-found': 'Not found',
  'outside-folder': 'Outside the folder',
  'protected-state': 'Touches protected files',
  'runtime-value': 'Known only when it runs',
  'starts-program': 'Can start programs',
  'steers-screen': 'Presses keys for you',
  'too-complex': 'Too much to read',
  unreadable: 'Cannot be read',
  'untrusted-path': 'Folder not trusted',
  uploads: 'Sends data away',
  'uses-network': 'Asks another host',
  'wrapper-unclear': 'Starts programs',
  'writes-file': 'Writes files',
}

/** The same of a program that asks and is dangerous, where there is more to say. */
const whyDanger: Record<string, string> = { evaluates: 'Runs a text', 'inline-code': 'Runs what it is sent' }

/** What is said once, above all rows, of a danger: a few words, and what they mean. */
const dangers: Record<string, [string, string]> = {
  'binary-changed': [
    'is not the file you allowed.',
    'An update looks like this; so does a replaced tool.',
  ],
  'changes-system': ['changes the machine.', 'That stays when the command has ended.'],
  evaluates: [
    'runs a text or a file inside the shell.',
    'Countersign cannot read what comes of it, and no entry can vouch for it.',
  ],
  'inline-code': [
    'runs what it is sent.',
    'Neither you nor Countersign can read it first, and the next time it may be something else.',
  ],
  'protected-state': [
    'touches protected files.',
    'They hold what you allowed, or secrets. A command that may change them may get past every question.',
  ],
  'steers-screen': [
    'presses keys and buttons for you.',
    'That includes the buttons of this window and of every other program.',
  ],
}

const bidi = /^U\+(061C|200[EF]|202[A-E]|206[6-9])$/

const hours = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hour12: false })

export const panel = {
  nameless: 'An agent without a name',

  // Head
  session: (name: string) => `Session ${name}`,
  askedBy: (program: string, pid: number | undefined) => `asked by ${program}` + (pid ? ` (process ${pid})` : ''),
  pager: 'Waiting questions',
  place: (place: number, of: number) => `${place} of ${of} waiting`,
  previous: 'Previous question',
  next: 'Next question',
  deniesIn: 'Denies in',
  left: (seconds: number) => `Denies in ${seconds} seconds`,

  // Question: the agent and the program stand between these.
  title: ['May', 'run', '?'] as const,
  use: 'use',
  of: 'of',
  titleNameless: 'an agent without a name',
  unnamed: 'this',
  titleHidden: 'This command hides what it says',
  why: (reason: string, said: string) => asks[reason] ?? sentence(said),
  hiddenMarked: (n: number) => `It is shown as written, with ${n === 1 ? 'the hidden character' : `${n} hidden characters`} marked.`,
  alsoAsking: (n: number) =>
    n < 1 ? '' : n === 1 ? 'One other command asks as well.' : `${capital(inWords(n))} other commands ask as well.`,
  passing: (n: number) =>
    n < 1 ? '' : n === 1 ? 'The other command passes.' : `The other ${inWords(n)} commands pass.`,
  identical: (n: number) => (n > 1 ? `×${n}: one answer for ${n} identical requests.` : ''),

  // Command
  command: 'Exact command',
  copy: 'Copy command',
  copied: 'Copied',
  notCopied: 'The clipboard cannot be reached',

  // What runs
  runs: 'What runs',
  verdict: { pass: 'passes', ask: 'asks', danger: 'asks, dangerous', deny: 'denied' } as Record<string, string>,
  by: {
    entry: (pattern: string) => `Entry: ${pattern}`,
    'safe-bin': () => 'Safe bin',
    skill: (name: string) => `Skill: ${name}`,
    builtin: () => 'Builtin',
    full: () => 'Everything runs',
  } as Record<string, (entry: string) => string>,
  effects: {
    project: 'Starts what the project names',
    deletes: 'Deletes or overwrites files here',
    network: 'Uses the network',
    unseen: 'Reads folders with more files than were looked at for secrets',
    background: 'In the background until the whole command is over',
  } as Record<string, string>,
  denylist: (pattern: string) => `Denylist: ${pattern}`,
  because: (reason: string, said: string, danger: boolean) => (danger && whyDanger[reason]) || (why[reason] ?? sentence(said)),
  noProgram: 'No program starts',
  notKnown: 'Not known',
  real: 'Is',
  interpreter: 'Run by',
  inFolder: 'In',

  // Note
  danger: (reason: string, word: string): [string, string] | undefined => {
    const said = dangers[reason]
    return said && [`${word} ${said[0]}`, said[1]]
  },
  dangerHidden: (name: string): [string, string] => [
    bidi.test(name) ? `${name} turns text around.` : `${name} cannot be seen.`,
    'A text like this is not split into commands: you answer for all of it.',
  ],
  dangerEnvironment: (name: string): [string, string] => [
    `${name} steers programs.`,
    'With it, a program may load, start or trust something else than without it.',
  ],

  // Environment and facts
  environment: 'Environment',
  changes: (n: number) => `Environment, ${n} ${n === 1 ? 'change' : 'changes'}`,
  noChanges: 'No changes',
  added: 'added',
  changed: 'changed',
  was: '→',
  secret: '••••••••',
  secretSaid: 'not shown',
  empty: 'empty',
  steers: 'Steers programs',
  folder: 'Folder',
  project: 'project folder',
  wouldDo: 'Would do',
  looking: 'Looking…',
  risk: 'Risk',
  risks: { low: 'Low', medium: 'Medium', high: 'High' } as Record<string, string>,
  riskWhy: (reasons: string[]) => reasons.join('; ') + '.',
  shell: 'Shell',
  wholeText: 'A yes hands the whole text to',
  agent: 'Agent',
  askedByFact: 'Asked by',
  signedBy: 'signed by',
  process: (pid: number) => `process ${pid}`,
  runBy: 'Run by',
  theirCall: 'The caller makes the call itself, not Countersign.',
  files: (n: number) => (n === 1 ? 'File' : 'Files'),
  addresses: (n: number) => (n === 1 ? 'Address' : 'Addresses'),
  leadsTo: 'is',
  outside: 'outside the session’s folder',
  protects: { ours: 'belongs to Countersign', keys: 'holds secrets', 'start-up': 'read when programs start' } as Record<string, string>,
  notPublic: (why: string) => `not surely public: ${why}`,
  theirs: 'The caller runs this itself, not Countersign.',
  claims: 'Says the caller',

  // Answers
  reply: 'Tell the agent why',
  replyHint: 'If you deny, tell the agent why',
  deny: 'Deny',
  once: 'Allow once',
  always: 'Always allow…',
  escape: 'esc',
  onceKey: (mac: boolean) => (mac ? '⌘O' : '⌃O'),
  notKept: 'Asked every time:',
  notAlways: {
    hidden: 'Cannot be remembered while it holds hidden characters.',
    ask: 'Cannot be remembered: this agent is asked about every command.',
    nameless: 'Cannot be remembered: entries belong to an agent, and this one has no name.',
    unknown: 'Cannot be remembered.',
    caller: 'Cannot be remembered: the caller cannot use such an answer.',
  } as Record<string, string>,
  notTaken: 'Countersign did not say whether it took the answer: look at the question again.',

  // Always allow
  alwaysTitle: ['What may', 'run from now on?'] as const,
  alwaysTool: 'use from now on?',
  widths: 'How much to allow',
  widthExact: (n: number) => (n === 1 ? 'This exact command, here' : `These ${inWords(n)} exact commands, here`),
  allowedBefore: (before: Before) => `${allowedSoOften(before)}. Always allow… suggests a rule.`,
  allowIt: (before: Before, here: boolean) => {
    const it = before.start === 'developer-tools' ? 'all that only read' : before.start || before.names.length > 1 ? 'them' : 'it'
    return `${allowedSoOften(before)}: allow ${it}${here ? ' in this project' : ''}?`
  },
  suggested: 'Suggested',
  wider: (names: string[]) => `Wider: any ${names.join(' command and any ')} command…`,
  stillAsks: 'Asks again all the same:',
  widthAny: (names: string[], exact: number) => `Any ${names.join(' and any ')}${andExactly(exact)}`,
  widthProgram: (names: string[], exact: number) => `Any ${names.join(' command and any ')} command${andExactly(exact)}`,
  matches: (width: string, names: string[], entries: number, folder: string) =>
    width === 'exact' || names.length === 0
      ? entries === 1 ? 'Matches this one command in this folder and below.' : 'Matches these commands in this folder and below.'
      : `Matches every ${names.join(width === 'words' ? ' and every ' : ' command and every ')}${width === 'words' ? '' : ' command'}` +
        `${folder ? ` in ${folder} and below` : ' in every folder'}; what asks by itself still asks.`,
  toolWidth: (width: string, names: string[], exact: boolean) =>
    width === 'exact' ? (exact ? 'This exact call' : 'Any call for just this') : width === 'words' ? 'Any call for this folder or site' : `Any call of ${names.join(', ')}`,
  toolMatches: (folder: string) =>
    `Its other arguments do not count; protected files still ${folder ? `ask. Only while the agent works in ${folder}.` : 'ask.'}`,
  where: 'where',
  allows: 'may also',
  allowed: {
    'writes-project': 'write named files of the project',
    'writes-temp': 'write new temporary files',
    'runs-project-code': 'start programs of the project',
    'reads-project-database': 'ask named databases of the project',
    'reads-network': 'ask',
    'sends-network': 'send to',
    'runs-this-code': 'run exactly this code',
    'runs-reading-code': 'run code that only reads and prints',
    'unknown-effects': 'do what is not known',
    'deletes-project': 'delete what it finds below named folders',
  } as Record<string, string>,
  wide: {
    project: 'It runs what the project’s files say, whatever that will be then.',
    changes: 'Wide: it also covers commands that delete work or publish it.',
    unknown: 'Wide: nothing is known of what its arguments do.',
    exactly: 'Nothing is known of what this command does.',
  } as Record<string, string>,
  startName: { 'developer-tools': 'Reading commands', 'project-commands': 'Project commands' } as Record<string, string>,
  startRuns: (start: string, name: string) =>
    start === 'developer-tools'
      ? `Programs and commands that only read run without a question in ${name}. Files with secrets still ask.`
      : `Tests, builds, local git work and edits of files of ${name} run without a question. They run what its files say.`,
  startRules: (rules: number, folder: string) => `${count(rules, 'rule')} in ${folder}, for good.`,
  onlyIn: 'Only in',
  replayNone: 'No earlier request is known.',
  replayBefore: 'Would have allowed',
  replayOf: (looked: number, complete: boolean) => `of your last ${complete && looked >= 1000 ? '1,000' : looked.toLocaleString('en')} ${looked === 1 ? 'request' : 'requests'}`,
  replayDenied: (n: number) => (n < 1 ? '' : `; ${n === 1 ? 'one of them you denied' : `${inWords(n)} of them you denied`}`),
  riskiest: '; the riskiest:',
  keepIt: 'Keep it',
  keep: { good: 'For good', '10m': '10 minutes', '1h': '1 hour', session: 'This session', next5: 'Next 5 runs' } as Record<string, string>,
  allowFor: 'Allow for…',
  denyFor: 'Deny for…',
  denyLives: { '10-minutes': '10 minutes', session: 'This session' } as Record<string, string>,
  denyAlways: (words: string) => `Always: any ${words}`,
  onceAll: (n: number) => (n > 1 ? `Allow all ${n} once` : 'Allow once'),
  onceOne: 'Allow one, deny the rest',
  hold: 'Hold',
  resume: 'Resume',
  held: 'Held,',
  atMost: 'at most',
  again: 'Allow if it asks again',
  againWhy: 'A yes is kept for ten minutes, for exactly this and once.',

  // A pause
  paused: (until: number) => `Paused${until ? ` until ${hours.format(until)}` : ''}: nothing starts, and what you allow waits.`,
  resumeAll: 'Resume',

  // Several together
  together: (n: number) => `Answer ${inWords(n)} together…`,
  listTitle: (n: number) => `asks ${inWords(n)} small questions`,
  listWhy: 'Check those that may run once. The others are denied.',
  listName: 'Questions',
  openOne: 'Open this question',
  denyAll: 'Deny all',
  allowSome: (n: number, of: number) => (n === of ? `Allow all ${n} once` : `Allow ${n} once, deny ${of - n}`),

  // Several agents that ask the same
  and: 'and',
  agents: (n: number) => `${n} agents`,
  askSame: (names: string[]) => `${names.length > 2 ? panel.agents(names.length) : names.join(' and ')} ask the same`,
  countsFor: (n: number) => `An answer counts for these ${n} agents.`,
  sessions: (n: number) => count(n, 'session'),
  inProject: (name: string) => `Project ${name}`,
  sharers: 'Asked by',
  callers: 'Programs',
  says: 'claims',
  needsYou: 'needs Touch ID',
  timeLeft: (time: string) => `${time} left`,
  over: 'Ended',
  showQuestion: (name: string) => `Show question of ${name}`,
  sameFor: (n: number) => `· the same for ${n === 2 ? 'both' : `all ${n}`}`,
  denyShared: (n: number) => (n === 2 ? 'Deny both' : `Deny all ${n}`),
  onceShared: (n: number) => (n === 2 ? 'Allow both once' : `Allow all ${n} once`),
  replyShared: (n: number) => `If you deny, tell ${n === 2 ? 'both' : `all ${n}`} agents why`,
  longer: 'Allow longer',
  entryExact: 'This exact command',
  entryAccepts: 'What changed, as it is now',
  under: 'under',
  entryHere: ', in this folder',
  entryAny: (program: string) => `Any ${program} command`,
  exactly: 'exactly',
  exactlyIn: 'exactly,',
  anythingAfter: 'and anything after it',
  anyArguments: 'with any arguments',
  noArguments: 'without arguments',
  argumentsLike: 'with arguments like',
  withVariables: 'with',
  in: 'in',
  entries: 'What would be saved',
  savedFor: ['Saved for', 'only'] as const,
  back: 'Back',
  save: 'Save and allow',
  saveName: 'Always allow: save and allow',

  // Ended
  stopped: 'stopped waiting',
  stoppedWhy: 'The caller hung up before you answered. Nothing was run.',
  expired: 'Time ran out',
  expiredWhy: 'Nobody answered in time, so it was denied. Nothing was run.',
  asked: 'Asked',
  ended: 'Ended',
  othersWait: (n: number) => (n < 1 ? '' : n === 1 ? '1 other question waits.' : `${n} other questions wait.`),
  close: 'Close',
}

const count = (n: number, one: string, many = one + 's') => `${n.toLocaleString('en')} ${n === 1 ? one : many}`

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** How long something takes from now on, in the largest unit that is not 0. */
const span = (ms: number) =>
  ms < hour ? `${Math.max(1, Math.ceil(ms / minute))} min` : ms < day ? `${Math.floor(ms / hour)} h` : count(Math.floor(ms / day), 'day')

const calendar = new Intl.DateTimeFormat('en', { dateStyle: 'medium' })
const dated = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'short' })

/** What a setting means, in one line each. */
const meanings: Record<Word, Record<string, string>> = {
  security: {
    deny: 'What may run at all: nothing.',
    allowlist: 'What may run at all: only what is on the list below.',
    full: 'What may run at all: everything but the denylist.',
  },
  ask: {
    off: 'When you are asked: never.',
    'on-miss': 'When you are asked: only if something is not on the list.',
    always: 'When you are asked: about every command.',
  },
  presence: {
    never: 'A click or a key is enough.',
    risky: 'You show that it is you before a high risk is allowed.',
    always: 'You show that it is you before anything is allowed.',
  },
  askFallback: {
    deny: 'When you should be asked and cannot be: it is denied.',
    allowlist: 'When you should be asked and cannot be: what is listed runs.',
    full: 'When you should be asked and cannot be: it runs all the same.',
  },
}

/**
 * What the three words mean together. Where two of them make no difference
 * (asking is off, or would only be about what is protected anyway), neither do
 * the sentences.
 */
const together = (who: string, security: string, ask: string, fallback: string): { verdict: Verdict; text: string } => {
  if (security === 'deny') return { verdict: 'deny', text: `${who} runs nothing.` }
  if (security === 'full') {
    if (ask === 'off')
      return {
        verdict: 'danger',
        text: `${who} runs everything, and you are never asked. Only what the denylist names or cannot see, and Countersign’s own files, stay denied.`,
      }
    if (ask === 'on-miss')
      return {
        verdict: 'danger',
        text: `${who} runs everything but what is on the denylist. You are asked only about what the denylist cannot see and about Countersign’s own files; if you cannot be asked, that is denied.`,
      }
    return fallback === 'deny'
      ? { verdict: 'ask', text: `${who} asks you about every command, and is denied if you do not answer.` }
      : {
          verdict: 'danger',
          text: `${who} asks you about every command, and is denied if you do not answer. If you cannot be asked, everything runs but the denylist, what it cannot see, and Countersign’s own files.`,
        }
  }
  if (ask === 'off') return { verdict: 'pass', text: `${who} runs what is listed and is denied the rest. You are never asked.` }
  if (fallback === 'full')
    return {
      verdict: 'danger',
      text: `${who} ${ask === 'always' ? 'asks you about every command' : 'runs what is listed, asks you about the rest'}, and is denied if you do not answer. If you cannot be asked, everything runs but the denylist and protected files.`,
    }
  if (ask === 'on-miss')
    return { verdict: 'ask', text: `${who} runs what is listed, asks you about the rest, and is denied if you do not answer.` }
  return fallback === 'allowlist'
    ? { verdict: 'ask', text: `${who} asks you about every command, and is denied if you do not answer. If you cannot be asked, what is listed runs.` }
    : { verdict: 'ask', text: `${who} asks you about every command, and is denied if you do not answer.` }
}

/** Who added an entry. What is not here is said as it is. */
const addedBy = new Map([
  ['settings', 'In the settings'],
  ['panel', 'On the panel'],
  ['developer tools', 'With the developer tools'],
  ['command line', 'On the command line'],
  ['import', 'From a file'],
])

const others = (n: number, more: boolean) => (more ? 'and others' : n > 0 ? `and ${n} more` : '')

/** The commands of an offer that are kept exactly as they are, beside others. */
function andExactly(n: number) {
  return n === 0 ? '' : n === 1 ? ', and 1 exact command' : `, and ${n} exact commands`
}

/** What a pattern matches here. */
const matches = (p: Preview) => {
  if (p.problem) return p.problem
  if (p.count === 0) return p.more ? 'There is too much to look through: what it matches here is not known.' : 'Matches nothing here.'
  const names = [p.programs.join(', '), others(p.count - p.programs.length, p.more)].filter(Boolean).join(' ')
  return `Matches ${p.more ? 'at least ' : ''}${count(p.count, 'program')} on this computer: ${names}.`
}

const warnings: Record<string, (p: Preview) => string> = {
  broad: (p) => `Too broad: matches ${p.more ? 'more than ' : ''}${count(p.count, 'program')}, and any that is put there later.`,
  code: () => 'This runs any code it is given. No entry can vouch for that, so Countersign still asks about it.',
  starts: () => 'It can start other programs or change files by its arguments, so Countersign still asks about it.',
  nothing: () => '',
}

/** What is wrong with an entry that is there, and what its button does about it. */
const looks: Record<string, (w: EntryWarning) => string> = {
  broad: (w) => `Too broad: matches ${w.more ? 'more than ' : ''}${count(w.count ?? 0, 'program')}, and any that is put there later.`,
  writable: (w) => `Too broad: any program of yours can put another one into ${w.folder}.`,
  code: () => 'Runs any code it is given: no entry can vouch for that, so it still asks.',
  nothing: () => 'Leads nowhere: there is no such program here.',
  unused: (w) => `Not used for ${w.days} days.`,
}

/** An edit of the policy file by somebody else. */
export const outside = {
  who: 'Countersign',
  title: 'Something changed the policy file',
  below: 'Stricter parts hold already. These parts are looser and wait for you.',
  changes: 'What the change would permit',
  keepMeans: '“Keep as it was” puts back what you accepted last, also where that was looser.',
  keep: 'Keep as it was',
  later: 'Later',
  take: 'Take the change',
  escape: panel.escape,
}

export const settings = {
  wouldHave: (r: Replayed) =>
    r.looked === 0
      ? panel.replayNone
      : `${panel.replayBefore} ${r.allowed.toLocaleString('en')} ${panel.replayOf(r.looked, r.complete)}${panel.replayDenied(r.denied)}` +
        `${r.riskiest ? `${panel.riskiest} ${r.riskiest}` : ''}.`,
  standing: 'Answers that stand',
  stands: (allows: boolean, until: number) => `${allows ? 'Allowed once if it asks again' : 'Denied without a question'}, until ${hours.format(until)}.`,
  takeBack: 'Take back',
  name: 'Settings',
  computer: 'This computer',
  pages: { agents: 'Agents', activity: 'Activity', try: 'Try a command', node: 'Node', hooks: 'Hooks', permissions: 'Permissions', general: 'General' },
  foot: { listening: 'Listening', broken: 'Policy file broken', history: 'History cannot be written', held: 'An edit waits for you' },

  agent: 'Agent',
  every: 'Every agent',
  /** How the sentence about every agent begins. */
  anyAgent: 'An agent without settings of its own',
  findAgent: 'Find an agent',
  noAgent: 'No agent has such a name.',
  noAgents: 'No agent has asked yet.',
  waiting: (n: number) => `${n} waiting`,
  modes: {
    deny: 'Deny',
    'ask-always': 'Ask always',
    'ask-when-needed': 'Ask when needed',
    'only-listed': 'Only listed',
    'allow-all': 'Allow all',
  } as Record<string, string>,
  custom: (words: string) => `Custom: ${words}`,
  mode: 'Mode',
  words: { security: 'Security', ask: 'Ask', askFallback: 'Ask fallback', presence: 'Touch ID before Allow' } as Record<Word, string>,
  values: { deny: 'Deny', allowlist: 'Allowlist', full: 'Full', off: 'Off', 'on-miss': 'On miss', always: 'Always', never: 'Never', risky: 'High risk' } as Record<string, string>,
  from: { here: 'set here', every: 'from every agent', 'built-in': 'built in' } as Record<string, string>,
  useDefault: 'Use default',
  useDefaultFor: (word: string) => `Use default for ${word}`,
  meaning: (word: Word, value: string) => meanings[word][value] ?? '',
  together,

  saved: 'Saved',
  undone: 'Undone',
  notSaved: 'Not saved',
  undo: 'Undo',
  conflict: 'This was changed elsewhere while you edited, so nothing was saved.',
  conflictForm: 'This was changed elsewhere while you edited, so nothing was saved. What you wrote is still here: save again to put it in the place of the change.',
  conflictGone: 'The entry was removed elsewhere while you edited, so nothing was saved. What you wrote is still here: save again to add it anew.',

  allowlist: 'Allowlist',
  denylist: 'Denylist',
  filter: 'Filter',
  add: 'Add…',
  edit: 'Edit…',
  remove: 'Delete',
  columns: {
    force: 'In force', program: 'Program', narrowed: 'Narrowed to', used: 'Last used', identity: 'Identity', ends: 'Ends',
    arguments: 'Arguments', reason: 'Reason', from: 'From',
  },
  inForce: (pattern: string) => `In force: ${pattern}`,
  fromEvery: 'From every agent',
  fromEveryHint: 'To change these, choose “Every agent” above.',
  fromHere: 'Set here',
  anyArguments: 'Any arguments',
  noArguments: 'No arguments',
  exactly: 'exactly',
  after: 'and anything after it',
  matching: 'matching',
  withVariables: 'with',
  inFolder: 'in',
  inSession: 'in session',
  identity: { none: 'Not pinned', pinned: 'Pinned', gone: 'File is gone' } as Record<string, string>,
  ago: (then: number | undefined, now: number) => {
    if (!then) return 'Never used'
    const ms = now - then
    if (ms < minute) return 'Just now'
    if (ms < hour) return `${Math.floor(ms / minute)} min ago`
    if (ms < day) return `${Math.floor(ms / hour)} h ago`
    return ms < 2 * day ? 'Yesterday' : `${Math.floor(ms / day)} days ago`
  },
  date: (ms: number) => dated.format(ms),
  used: (date: string, command: string) => [date, command].filter(Boolean).join(': '),
  ends: (at: number | undefined, uses: number, now: number) => {
    if (uses === 0 || (at && at <= now)) return 'Ended'
    const left = [uses > 0 ? `${count(uses, 'use')} left` : '', at ? `In ${span(at - now)}` : ''].filter(Boolean)
    return left.join(', ') || 'Never'
  },
  entries: (all: number, off: number, every: number, look = 0, partial = false) =>
    [
      all === 1 ? '1 entry' : count(all, 'entry', 'entries'), off && `${off} off`, every && `${every} from every agent`,
      look && `${look} ${look === 1 ? 'needs' : 'need'} a look`, partial && 'not all were looked at',
    ].filter(Boolean).join(' · '),
  wrong: (w: EntryWarning) => looks[w.kind]?.(w) ?? '',
  repair: { broad: 'Narrow…', writable: 'Narrow…', code: 'Delete', nothing: 'Delete', unused: 'Switch off' } as Record<string, string>,
  repairOf: (repair: string, pattern: string) => `${repair.replace('…', '')} ${pattern}`,
  files: 'Recorded',
  fileOf: (signer: string, version: string) => [signer && `signed by ${signer}`, version].filter(Boolean).join(', '),
  rules: (all: number, every: number) => [count(all, 'rule'), every && `${every} from every agent`].filter(Boolean).join(' · '),
  chosenEntry: 'The chosen entry',
  chosenRule: 'The chosen rule',
  ledTo: 'Led to',
  added: 'Added',
  addedBy: (by: string, date: string) => [addedBy.get(by) ?? by, date].filter(Boolean).join(', ') || 'Not noted',
  noEntries: 'Nothing is listed.',
  noRules: 'Nothing is forbidden by name.',
  noMatch: 'Nothing here matches the filter.',
  denyWins: 'A rule wins over everything, over the allowlist and over your answers. Capital and small letters are the same to it.',

  form: {
    addEntry: 'Add an entry',
    editEntry: 'Edit an entry',
    addRule: 'Add a rule',
    pattern: 'Program',
    patternHint: 'A name, a path, or a path with * (within a folder) and ** (across folders).',
    args: 'Arguments',
    argsHint: 'The first ones, one on each line, exactly as written. A line with only * stands for any one argument.',
    env: 'Variables',
    envKept: 'They stay as they are. If you name another program, they are taken out.',
    argsKept: 'These arguments hold line breaks or end with an empty one. They stay as they are.',
    exact: 'No further arguments',
    cwd: 'Only in folder',
    note: 'Note',
    reason: 'Reason',
    reasonHint: 'The agent is told.',
    cancel: 'Cancel',
    save: 'Save',
    looking: 'Looking what it matches…',
  },
  matches,
  warning: (p: Preview) => warnings[p.warning ?? '']?.(p) ?? '',

  held: outside.title,
  heldBelow: `${outside.below} ${outside.keepMeans}`,
  keep: outside.keep,
  take: outside.take,
  broken: 'Everything is denied: the policy file cannot be used.',
  history: 'Nothing runs: the history cannot be written.',
  historyAside: 'The history could not be read, and another one was begun.',
  historyKept: (at: string) => `What there was is kept in ${at}. Move that file away, and this goes as well.`,

  passphrase: 'The passphrase changed while Countersign was not running.',
  passphraseNotYou: (date: string) => `Countersign saw it on ${date}. If it was not you, a program can say yes in your place: end Countersign and set a passphrase with countersign operator passphrase.`,

  node: {
    listening: 'Listening at', folder: 'State folder', version: 'Version', process: 'Process', since: 'Running since',
    waiting: 'Waiting', running: 'Running', last: 'Last request', never: 'No request has come yet',
    questions: (n: number) => count(n, 'question'),
    commands: (n: number) => count(n, 'command'),
    lastFrom: (ago: string, peer: string) => (peer ? `${ago}, from` : ago),
    service: 'Node service', gateway: 'Gateway', connection: 'Connection', called: 'Commands', problem: 'It says',
    noService: 'None runs here',
    states: {
      connected: (date: string) => `Connected since ${date}`,
      unpaired: () => 'Waits to be let in at the gateway',
      away: (date: string) => `Not connected since ${date}`,
    } as Record<string, (date: string) => string>,
    approved: (date: string) => `Approved: the gateway first called one on ${date}`,
    notCalled: 'None was called yet. The gateway calls what somebody approved there.',
    bindings: 'Which node commands may run on',
    unbound: 'Any node that the gateway knows. tools.exec.node in gateway.json5 binds agents to one.',
    connect: 'How to connect',
    how: 'Start countersign node run with the address of your gateway. Or give another node service the socket above and the request token from exec-approvals.json in the state folder. The token lets it ask and read, never answer or loosen.',
  },
  hooks: {
    what: 'Agents that run commands themselves can ask Countersign first, through a hook in their settings. Nothing is written before you have seen the difference.',
    others: 'Not found on this computer',
    states: {
      'not-installed': 'Not installed', installed: 'Installed', changed: 'Changed by somebody', vanished: 'Gone: it was installed', 'other-executable': 'Starts another copy of Countersign',
      unreadable: 'Its settings cannot be read', 'by-hand': 'Set up by hand',
    } as Record<string, string>,
    old: 'Another version is installed',
    gone: (title: string, would: string) => `If Countersign were gone, ${title} ${would}.`,
    nobody: (would: string) => `Where nobody can be asked, it ${would}.`,
    install: 'Install…',
    remove: 'Remove…',
    test: 'Test',
    write: 'Write it',
    takeOut: 'Take it out',
    forget: 'Leave it out…',
    forgets: 'Its settings stay as they are. Countersign no longer tells that the hook is gone.',
    leaveOut: 'Leave it out',
    elsewhere: (state: string) => `: ${state}. Run “countersign hook install” or “uninstall” there, in a project with “--scope project”.`,
    cancel: 'Cancel',
    nothing: 'There is nothing to change.',
    would: (undo: boolean) => (undo ? 'What taking it out changes in' : 'What installing it changes in'),
    can: 'With the hook',
    blind: 'Passes by the hook',
  },
  permissions: {
    what: 'macOS gives these to Countersign, and so to the commands that it runs. None is needed for asking. Grant what your agents use.',
    states: {
      granted: 'Granted', denied: 'Denied', missing: 'Not granted', undecided: 'Not asked yet', restricted: 'Managed by others', unknown: 'Not known',
    } as Record<string, string>,
    request: 'Request…',
    open: 'Open System Settings',
    stale: 'It was granted to an earlier build. System Settings may still show it as on: take Countersign off its list with –, and request it again.',
    adHoc: 'Nobody signed this build. macOS takes each build for another app and forgets what it granted.',
    translocated: 'macOS runs a copy of Countersign in a place that changes, and forgets what it grants to it. Quit, move Countersign to Applications, and open it there.',
  },
  general: {
    theme: 'Theme',
    themes: { system: 'System', light: 'Light', dark: 'Dark' } as Record<string, string>,
    terminal: 'Answer from the terminal',
    terminalWhat: 'The command line may then allow and loosen without asking you here, until Countersign quits. Any program of yours that can read operator.key could do the same.',
    atLock: 'End what is allowed for a session when the screen is locked',
    atLockWhat: 'While it is locked, questions wait and nothing is answered, whatever is chosen here.',
    sound: 'Sound when a question comes',
    noSound: 'Nothing was found on this computer that could play one.',
    grace: 'Touch ID counts for',
    graceFor: (n: number) => (n === 0 ? 'One answer' : count(n, 'minute')),
    graceWhat: 'For agents whose settings want Touch ID before Allow. It ends when the screen is locked.',
    without: 'Where there is no Touch ID',
    withouts: { password: 'Login password', nothing: 'Cannot allow' } as Record<string, string>,
    keep: 'Keep the history for',
    keepDays: (n: number) => count(n, 'day'),
    environment: 'Login environment of commands',
    environmentRead: (date: string) => `Read from your shell ${date}. What runs keeps the one that it began with.`,
    readAgain: 'Read again',
    replaced: 'Another version of Countersign is installed',
    restart: 'Restart',
    restartWhat: 'Commands that run are ended, and questions that wait are denied.',
    keys: 'Keys',
    keysWhat: 'On the panel, half a second after it appears. A high risk has no key for Allow once.',
    keyNames: (mac: boolean): [string, string][] => [
      ['Esc', 'Deny, or back'],
      [mac ? '⌘O' : 'Ctrl+O', 'Allow once'],
      [mac ? '⌘A' : 'Ctrl+A', 'Look at Always allow…'],
      [mac ? '⌘[  ⌘]' : 'Ctrl+[  Ctrl+]', 'Previous and next question'],
      [mac ? '⇧⌘H' : 'Ctrl+Shift+H', 'Hold'],
      [mac ? '⌘C' : 'Ctrl+C', 'Copy the command'],
      [mac ? '⌘Z' : 'Ctrl+Z', 'Undo, in these settings'],
      ...(mac ? [['⌃⌥⌘C', 'From anywhere: the question that waits, or these settings'] as [string, string]] : []),
    ],
    historySize: (s: HistorySize) => `${count(s.rows, 'row')}, ${bytes(s.bytes)}` + (s.oldest ? `, since ${calendar.format(s.oldest)}` : ''),
    historyMost: (s: HistorySize) => `The oldest rows also go beyond ${count(s.maxRows, 'row')} or ${Math.round(s.maxBytes / 2 ** 30)} GB. Output is never kept, only its size and hash.`,
    files: 'Where files are',
    folder: 'All in',
    file: {
      'exec-approvals.json': 'Policy, socket and request token',
      'operator.key': 'What the command line answers with',
      'history.db': 'What ran and what was denied',
      'countersign.json': 'What is chosen here',
    },
  },
}

/** A folder that an agent works in, and that may be a project. */
export const folder = {
  is: 'Is',
  aProject: 'a project of yours?',
  why: (agent: string) => `${agent} works there. Until you answer, nothing there counts as inside.`,
  session: (session: string) => (session ? `Session ${session} · no project` : 'No project'),
  closesIn: 'Closes in',
  means: 'In a project, agents read without asking, and rules can be kept.',
  meansStrict: (agent: string) => `In a project, rules can be kept. ${agent} still asks about everything.`,
  reads: 'Reading files passes',
  asks: 'Changes and secrets still ask',
  holds: (n: number) => `This folder holds ${count(n, 'project')} of yours.`,
  medium: 'Medium risk',
  inside: 'Holds',
  files: (n: number, more: boolean) => (more ? `More than ${count(n, 'file')}` : count(n, 'file')),
  noGit: (n: number) => `no git checkout, so git cannot restore ${n === 1 ? 'it' : 'them'}`,
  more: 'More',
  moreHolds: 'Other agents, files',
  others: 'Other agents',
  othersNone: 'Nothing was said for them.',
  said: (agent: string | undefined, no: boolean) => `${agent ?? 'Every agent'}: ${no ? 'not a project' : 'a project'}`,
  names: 'Files',
  namesNone: 'None',
  git: 'Its git data belongs to another folder, or cannot be read.',
  waiting: 'Waiting',
  after: 'judged after this answer',
  every: 'Every agent',
  everyMeans: 'Every agent, here and below',
  agent: 'This agent',
  agentMeans: (agent: string) => `${agent} alone`,
  no: 'Not a project',
  noMeans: 'Stays outside. You are not asked about it again.',
  yesAgent: 'Yes, this agent',
  yesEvery: 'Yes, every agent',
  escape: panel.escape,
}

/** A change that a terminal wants. */
export const change = {
  title: (who: string) => `${who} wants to change your rules`,
  high: 'High risk',
  heed: 'If you did not just type this, deny.',
  lines: 'What would change',
  sum: (looser: number, undoes: number, tighter: number) =>
    `${count(looser + undoes + tighter, 'line')}: ` +
    [looser && `${looser} looser`, undoes && `${undoes} ${undoes === 1 ? 'undoes' : 'undo'} something`, tighter && `${tighter} tighter`].filter(Boolean).join(', '),
  word: { looser: 'Looser', undoes: 'Undoes', tighter: 'Tighter', inForce: 'Tighter, in force' },
  agent: (agent: Agent) => (agent.id === '*' ? settings.every : agent.name),
  mode: 'Mode:',
  to: 'to',
  modeName: (mode: string) => settings.modes[mode] ?? settings.custom(mode),
  setting: (name: string) => `${name === 'autoAllowSkills' ? 'Skills without a question' : (settings.words[name as Word] ?? name)}:`,
  value: (value: string) => settings.values[value] ?? { true: 'Yes', false: 'No' }[value] ?? value,
  does: (kind: string, tighter: boolean, changes = false, name = '') => {
    const what = { rule: 'rule', denial: 'denial' }[kind] ?? ({ 'safe bin': 'filter' }[name] ?? name)
    return `${changes ? 'Changes' : (kind === 'denial') === tighter ? 'Adds' : 'Removes'} ${what}:`
  },
  project: (is: boolean, tighter: boolean) => (is ? (tighter ? 'Removes project:' : 'Adds project:') : tighter ? 'Not a project:' : 'May be a project again:'),
  source: (tighter: boolean) => (tighter ? 'Follows the policy of' : 'Follows no more, or an older, policy of'),
  unfold: (n: number) => `Show ${count(n, 'more looser line')}`,
  tighter: (n: number, inForce: boolean) => `${count(n, 'tighter line')}${inForce ? ', in force already' : ''}`,
  undoes: 'Undoes a change',
  by: ({ by, kind }: ChangeLine) => {
    if (!by) return 'Accepting takes it back.'
    const who = { terminal: 'This terminal', window: 'You', file: 'An edit of the policy file' }[by.in] ?? by.who ?? ''
    return `${who} ${kind === 'denial' ? 'added' : 'changed'} it ${by.minutes < 1 ? 'less than a minute' : count(by.minutes, 'minute')} ago. Accepting takes it back.`
  },
  ifDeny: 'If you deny',
  denyMeans: 'This terminal cannot ask for 10 minutes, nor if you do not answer.',
  ifAccept: 'If you accept',
  acceptMeans: (n: number) => (n === 1 ? 'Undo it in Settings.' : `Undo all ${n} at once, in Settings.`),
  deny: panel.deny,
  escape: panel.escape,
  accept: (n: number) => (n === 1 ? 'Accept the change' : `Accept ${n} changes`),
  acceptOn: 'Accept is on.',
  readAll: 'Show all looser lines first.',
  notTaken: 'The answer was not taken: try again.',
}

export const firstRun = {
  title: 'How should agents start?',
  below: 'This holds for every agent. You can change it later, for each one.',
  group: 'Starting point',
  until: 'Until you choose, everything is denied.',
  next: 'Continue',
  review: (n: number) => (n === 1 ? 'Review the tool…' : `Review the ${n} tools…`),
  reviewTitle: (n: number) => `${count(n, 'tool')} found on this computer`,
  reviewBelow: 'They only read. Each gets an entry that you can change or delete later. What a program can start or change by its arguments still asks.',
  anything: 'Any arguments',
  close: 'Close',
  name: { 'deny-all': 'Deny all', 'ask-me': 'Ask me', 'developer-tools': 'Developer tools' } as Record<StartingPoint, string>,
  what: (start: StartingPoint, tools: number) =>
    ({
      'deny-all': 'Nothing runs, and agents are told so at once. Good for a first look around.',
      'ask-me': 'The allowlist is empty. You are asked about each command and can keep your answers.',
      'developer-tools': `${count(tools, 'tool')} found on this computer that only ${tools === 1 ? 'reads runs' : 'read run'} without a question. The rest asks.`,
    })[start],
  words: { 'deny-all': 'deny', 'ask-me': 'allowlist · on-miss', 'developer-tools': 'allowlist · on-miss' } as Record<StartingPoint, string>,
  verdict: { pass: 'passes', ask: 'asks', deny: 'denied' } as Record<string, string>,
  asks: 'Still asks',
  hooks: {
    title: 'Which agents should ask Countersign?',
    below: 'These were found on this computer and run commands themselves. Nothing is written before you have seen the difference.',
    list: 'Agents found on this computer',
    later: 'You can do this later, under Hooks in the settings.',
    skip: 'Skip',
    done: 'Done',
  },
}

/** When a row of the history came, in the words of a table: the time today, and the day before it. */
const moment = (ms: number, now: number) => {
  const [t, n] = [new Date(ms), new Date(now)]
  const time = [t.getHours(), t.getMinutes(), t.getSeconds()].map((x) => String(x).padStart(2, '0')).join(':')
  return t.toDateString() === n.toDateString() ? time : `${short.format(t)}, ${time.slice(0, 5)}`
}
const short = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const exactly = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' })

/** How long something took, from milliseconds. */
const took = (ms: number) =>
  ms < 0 ? '' : ms < 1000 ? `${ms} ms` : ms < minute ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / minute)} min ${Math.floor((ms % minute) / 1000)} s`

const bytes = (n: number) => (n < 1000 ? count(n, 'byte') : n < 1_000_000 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1_000_000).toFixed(1)} MB`)

/** How a program ended. */
const ending = (end: End, state: string) => {
  if (state === 'waiting') return 'Waits for you'
  if (state === 'running') return 'Runs'
  const how = end.timedOut ? 'Ran too long and was ended' : end.signal ? `Ended by ${end.signal}` : end.code !== undefined ? `Code ${end.code}` : ''
  return [how, end.error && sentence(end.error)].filter(Boolean).join('. ') || 'Did not run'
}

export const activity = {
  search: 'Search commands',
  export: 'Export…',
  exporting: 'Exporting…',
  exported: (rows: number, file: string) => `${count(rows, 'row')} written to ${file}`,
  list: 'History',
  columns: { time: 'Time', agent: 'Agent', command: 'Command', outcome: 'Outcome', why: 'Why' },
  outcomes: {
    waiting: 'Waits for you', passed: 'Passed', 'allowed-once': 'Allowed once', 'allowed-always': 'Allowed always',
    'allowed-a-while': 'Allowed a while', 'denied-by-you': 'Denied by you', 'denied-by-rule': 'Denied by rule', 'time-ran-out': 'Time ran out',
    'caller-hung-up': 'Caller hung up', 'not-decided': 'Not decided',
  } as Record<string, string>,
  filters: {
    agent: 'Agent', outcome: 'Outcome', reason: 'Reason', time: 'Time', all: 'All', any: 'Any',
    outcomes: {
      passed: 'Passed', asked: 'Asked', 'allowed-once': 'Allowed once', 'allowed-always': 'Allowed always', denied: 'Denied',
    } as Record<string, string>,
    times: { today: 'Today', '7-days': 'Last 7 days', '30-days': 'Last 30 days' } as Record<string, string>,
    reasons: {
      'user-denied': 'You said no', 'prompt-expired': 'Time ran out', 'approval-cancelled': 'Question ended', 'ask-fallback': 'Nobody could be asked',
      'security=deny': 'Everything is denied', denylisted: 'Denylist', floor: 'Never allowed', 'ask-always': 'Asked about every command',
      drifted: 'Changed while it waited', 'env-refused': 'Environment refused', 'rate-limited': 'Too many questions', invalid: 'Not understood',
      ...why,
    } as Record<string, string>,
  },
  moment,
  date: (ms: number) => exactly.format(ms),
  why: (row: ActivityRow) => {
    if (row.by) return panel.by[row.by]?.(row.entry ?? '') ?? ''
    return (activity.filters.reasons[row.reason ?? ''] ?? sentence(row.sentence ?? ''))
  },
  shown: (n: number, more: boolean) => (more ? `The latest ${count(n, 'command')}. Scroll for older ones.` : count(n, 'command')),
  reading: 'Reading…',
  none: 'No agent has asked yet.',
  noMatch: 'Nothing in the history matches.',
  open: 'Show all…',

  // Charts
  rate: ['Questions per', '100 commands'] as const,
  today: 'Today',
  day: (ms: number) => short.format(ms),
  noneToday: 'No commands today',
  before: (per100: number) => `${per100} two weeks ago`,
  days: (days: DayRate[]) => {
    const used = days.filter((d) => d.requests)
    const [first, last] = [used[0], used.at(-1)]
    if (!first || !last) return 'Questions per 100 commands, 14 days: no commands.'
    return `Questions per 100 commands, 14 days, from ${first.per100} to ${last.per100}`
  },
  dayRate: (d: DayRate) => `${short.format(d.start)}: ${d.requests ? d.per100 : 'no commands'}`,
  byAgent: 'By agent',
  nameless: panel.nameless,
  agentRate: (r: Rate) => `${count(r.asked, 'question')} about ${count(r.requests, 'command')}`,

  // Stops
  stops: ({ asked, requests, per100, days, kept, denied }: Stops) =>
    [
      `Last ${count(days, 'day')}: asked about ${asked.toLocaleString('en')} of ${count(requests, 'command')} (${per100} of 100).`,
      asked && `${kept.toLocaleString('en')} of these could be remembered.`,
      denied && `${denied.toLocaleString('en')} denied.`,
    ].filter(Boolean).join(' '),
  stopsTitle: 'Stops',
  stopsWhy: 'Show why',
  stopReasons: 'Reasons',
  stopPrograms: 'Programs',

  // Suggestions
  suggestions: 'Suggestions',
  saved: (n: number, entries = 1) => `${entries === 1 ? 'One entry' : `${capital(inWords(entries))} entries`} would have saved ${count(n, 'question')}`,
  forAgent: (suggestions: number) => (suggestions > 1 ? `1 of ${suggestions} · For` : 'For'),
  riskiest: 'The riskiest it would have allowed:',
  addSuggested: (entries: number) => (entries === 1 ? 'Add this entry' : 'Add these entries'),
  look: 'Look at the entry…',
  later: 'Not now',
  never: 'Stop suggesting',
  turnedDown: 'This is not suggested again.',

  // The record
  record: 'Request',
  facts: {
    outcome: 'Outcome', agent: 'Agent', session: 'Session', folder: 'Folder', peer: 'Asked by', env: 'Sets', judged: 'Judged', entry: 'Entry or rule',
    policy: 'Policy', risk: 'Risk', arrived: 'Came', asked: 'Asked you', answer: 'Answer', started: 'Started', ended: 'Ended', how: 'Ended how', output: 'Output', runBy: 'Run by',
  },
  judged: { pass: 'Passes', ask: 'Asks', deny: 'Denied' } as Record<string, string>,
  because: (said: string) => said + (/[.!?]$/.test(said) ? '' : '.'),
  answers: {
    'allow-once': 'Allow once', 'allow-always': 'Always allow', deny: 'Deny',
    '10m': 'Allow for 10 minutes', '1h': 'Allow for 1 hour', session: 'Allow for this session', next5: 'Allow for the next 5 runs',
  } as Record<string, string>,
  answered: (answer: string, by: string, date: string) =>
    [activity.answers[answer] ?? answer, by === 'nobody' ? 'by nobody' : by && `by ${answerers.get(by) ?? by}`, date && `on ${date}`].filter(Boolean).join(', '),
  remembered: (width: string, here: boolean) =>
    ({ exact: 'this exact command, here', words: 'its first words', program: 'the program' })[width] + (here && width !== 'exact' ? ', in this folder' : ''),
  policy: (security: string, ask: string) => [settings.values[security], ask && `ask: ${settings.values[ask]?.toLowerCase()}`].filter(Boolean).join(', '),
  noEnv: 'Nothing',
  ending,
  took,
  size: (n: number) => bytes(n),
  noOutput: 'None',
  keep: 'Make it an entry…',
  keepTitle: (agent: string) => `What may ${agent} run from now on?`,
  replaces: 'Takes the place of what you allowed for a while.',
  keepBack: 'Back',
  keepSave: 'Save',
  programs: (n: number) => (n === 1 ? 'The program that ran' : `The ${count(n, 'program')} that ran`),
  close: 'Close',
}

export const lists = {
  from: { here: settings.fromHere, every: settings.fromEvery, 'built-in': 'Built in' } as Record<string, string>,
  safeBins: 'Safe bins',
  skills: 'Skills',
  projects: 'Projects',
  gateways: 'Gateways',
  columns: { name: 'Name', what: 'What it means', from: 'From', path: 'Path', hash: 'Hash', state: 'State' },
  uses: {
    used: 'Filters its input without a question', unknown: 'Asks: its options are not known', never: 'Asks: it can do more than filter',
  } as Record<string, string>,
  folder: 'Filters in it are trusted',
  folders: 'Folders they are trusted in',
  fixed: 'always',
  noSafeBins: 'No filter runs without an entry.',
  noSkills: 'No skill was accepted.',
  autoSkills: 'Run skills without a question',
  autoSkillsWhat: 'Only those below, and only while their file is the one that was accepted.',
  states: { same: 'As accepted', changed: 'Changed since', gone: 'File is gone', unpinned: 'Not accepted yet' } as Record<string, string>,
  chosenSkill: 'The chosen skill',
  count: (bins: number, folders: number) => `${count(bins, 'filter')} · ${count(folders, 'folder')}`,
  skillCount: (n: number) => count(n, 'skill'),
  addSafeBin: 'Add a safe bin',
  safeBin: 'Filter or folder',
  safeBinHint: 'The name of a program that only filters its input, or the path of a folder that such programs are trusted in.',
  addSkill: 'Add a skill',
  skill: 'Program',
  skillHint: 'The path of a program that you trust as it is now. If its file changes, it asks.',
  noProjects: 'No folder was named. A git checkout of yours is a project without it.',
  project: 'A project',
  projectRunning: 'A project; tests, builds and edits run',
  projectSame: 'with the rules of',
  allowProject: 'Allow tests, builds, edits',
  projectWouldRun: 'Tests, builds, local git work and edits of its files would run without a question. They run what the project’s files say.',
  notProject: 'Stays outside',
  projectGone: (why: string) => `Does not count: ${why}`,
  projectCount: (n: number) => count(n, 'folder'),
  addProject: 'Add a project',
  projectFolder: 'Folder',
  projectHint: 'Its path. What lies in it then counts as inside; agents read there without asking, and secrets still ask.',
  acceptAt: (gateway: string) => `Accept answers given at ${gateway}`,
  acceptWhat: 'A yes that is given there then counts as yours, once, for exactly this command, folder and environment; what is denied, protected or asked always is not changed by it.',
  noGateway: 'No gateway yet',
  acceptClient: 'Accept answers given in its own MCP client',
  acceptClientWhat:
    'The MCP client before countersign mcp proxy then shows the question too. Its yes counts for that one call, and never for what is a high risk, protected, escalated or asked always. It need not be you who answers there.',
}

export const transfer = {
  menu: 'Import and export',
  import: 'Import…',
  export: 'Export…',
  exported: (n: number, file: string) => `${n === 1 ? '1 entry' : count(n, 'entry', 'entries')} written to ${file}`,
  title: 'Import entries',
  from: (file: string) => `From ${file}. Only its entries are taken. When they were used, and which files they stood for there, is not.`,
  adds: (n: number, known: number) =>
    [n === 0 ? 'Nothing in it is new.' : n === 1 ? '1 entry would be added.' : `${count(n, 'entry', 'entries')} would be added.`,
      known === 0 ? '' : known === 1 ? '1 is there already.' : `${known.toLocaleString('en')} are there already.`].filter(Boolean).join(' '),
  partial: 'Not all of them were looked at.',
  columns: { program: 'Program', narrowed: 'Narrowed to', what: 'What becomes of it' },
  known: 'Is there already',
  off: 'Added, switched off',
  added: 'Added',
  add: (n: number) => (n === 1 ? 'Add the entry' : `Add ${count(n, 'entry', 'entries')}`),
  cancel: 'Cancel',
}

export const trial = {
  nothing: 'Nothing here is run.',
  as: 'As',
  anyAgent: 'Any other agent',
  in: 'In',
  folder: 'Folder',
  command: 'Command to try',
  hint: 'Type a command, and see what would become of it.',
  form: 'Judged as an agent would send it to bash -c.',
  title: { pass: 'Would pass', ask: 'Would ask you', danger: 'Would ask you', deny: 'Would be denied' } as Record<string, string>,
  passes: 'Every part of it may run without a question.',
  told: 'Agent is told',
  took: (us: number) => (us < 1000 ? `Judged in ${us} µs` : `Judged in ${(us / 1000).toFixed(1)} ms`),
}

/** Who answered, where the history has a word for it. What is not here is said as it is. */
const answerers = new Map([
  ['panel', 'you on the panel'],
  ['terminal', 'you in the terminal'],
  ['command line', 'the command line'],
  ['policy', 'a change of the policy'],
  ['askFallback', 'the ask fallback'],
])
