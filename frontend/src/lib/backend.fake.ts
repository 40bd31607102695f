// A host that exists only in the page: it answers from a fixture, as far as
// views need to be looked at and tested.
import type { Backend, HostEvent } from './backend'
import type {
  ActivityPage, ActivityRecord, Agent, AgentRow, Answered, HistorySize, Hook, HookChange, HookTrial, Host, Import, Lists, Offered, Permissions, Policy, Preferences, Preview,
  Question, Rates, Replayed, Saved, Screen, Standing, Start, StartOffer, Stops, Suggestion, Trial, Warnings, WouldDo,
} from './types'

/** All that a host would say, as Go tests wrote it. */
export interface Fixture {
  screen: Screen
  agents: AgentRow[]
  policies: Record<string, Policy>
  host: Host
  start: Start
  preferences: Preferences
  preview: Preview
  replay?: Replayed[]
  startFor?: StartOffer
  activity?: { page: ActivityPage; records: Record<string, ActivityRecord>; rates: Rates; agents: Agent[]; suggestions: Suggestion[]; offered?: Offered; stops: Stops }
  trials?: Trial[]
  wouldDo: WouldDo
  /** Those of the agent claude-code. */
  warnings?: Warnings
  import?: Import
  standing?: Standing[]
  /** Those of the agent claude-code. */
  lists?: Lists
  size?: HistorySize
  permissions?: Permissions
  hooks?: Hook[]
  hookChange?: HookChange
  hookTrial?: HookTrial
}

export interface Fake extends Backend {
  /** Every call, in order: its name and what was given with it. */
  calls: [string, ...unknown[]][]
  /** What the next calls answer, instead of success. */
  answered: Answered
  saved: Partial<Saved>
  fixture: Fixture
  /** Tells the page, as the host would. */
  tell(event: HostEvent, id?: string): void
}

/** How many entries of a list come at once. */
const rows = 500

export function fake(given: Fixture): Fake {
  const fixture = structuredClone(given)
  const listeners = new Map<HostEvent, Set<(id: string) => void>>()
  const calls: Fake['calls'] = []
  const note = <T>(value: () => T, name: string) => (...args: unknown[]) => {
    calls.push([name, ...args])
    return Promise.resolve(value())
  }
  const save = (name: string) => (agentId?: unknown, ...rest: unknown[]) => {
    calls.push([name, agentId, ...rest])
    const policy = typeof agentId === 'string' ? fixture.policies[agentId] : undefined
    return Promise.resolve({ ok: true, conflict: false, canUndo: true, policy, ...self.saved } as Saved)
  }
  const self: Fake = {
    calls,
    fixture,
    answered: { ok: true },
    saved: {},
    tell(event, id = '') {
      listeners.get(event)?.forEach((f) => f(id))
    },

    screen: (want) => Promise.resolve(oneWhole(fixture.screen, want)),
    ready: note(() => undefined, 'ready'),
    wouldDo: note(() => fixture.wouldDo, 'wouldDo'),
    decide: note(() => self.answered, 'decide'),
    remember: note(() => self.answered, 'remember'),
    replay: note(() => fixture.replay ?? [], 'replay'),
    startFor: note(() => fixture.startFor ?? { start: '', folder: '', name: '', rules: 0 }, 'startFor'),
    takeStartFor: note(() => self.answered, 'takeStartFor'),
    resume: note(() => self.answered, 'resume'),
    standing: () => Promise.resolve(fixture.standing ?? []),
    forget: note(() => self.answered, 'forget'),
    hold: note(() => self.answered, 'hold'),
    denyFor: note(() => self.answered, 'denyFor'),
    denyAlways: note(() => self.answered, 'denyAlways'),
    allowOne: note(() => self.answered, 'allowOne'),
    allowIfAsksAgain: note(() => self.answered, 'allowIfAsksAgain'),
    together: (agentId) => Promise.resolve(fixture.screen.waiting.filter((q) => q.agent.id === agentId && !q.ended && (q.together ?? 0) > 1)),
    takeOut: note(() => undefined, 'takeOut'),
    answerMany: (agentId, replies, text) => {
      calls.push(['answerMany', agentId, replies, text])
      return Promise.resolve(replies.map(() => self.answered))
    },
    dismiss: note(() => undefined, 'dismiss'),
    answerChange: note(() => self.answered, 'answerChange'),
    answerFolder: note(() => self.answered, 'answerFolder'),
    leaveEdit: note(() => undefined, 'leaveEdit'),

    agents: () => Promise.resolve(fixture.agents),
    entries: (id, rev, first) => {
      const policy = fixture.policies[id]
      return Promise.resolve(policy?.rev === rev ? policy.allowlist.slice(first, first + rows) : [])
    },
    policy: (id) => {
      const policy = fixture.policies[id]
      return policy ? Promise.resolve({ ...policy, allowlist: policy.allowlist.slice(0, rows), entries: policy.allowlist.length }) : Promise.reject(new Error(`the fixture has no agent ${id}`))
    },
    setMode: save('setMode'),
    setWord: save('setWord'),
    addEntry: save('addEntry'),
    changeEntry: save('changeEntry'),
    switchEntry: save('switchEntry'),
    removeEntry: save('removeEntry'),
    addDeny: save('addDeny'),
    removeDeny: save('removeDeny'),
    lists: (id) => Promise.resolve((id === 'claude-code' && fixture.lists) || { safeBins: [], folders: [], skills: [], projects: [], gateways: [], client: { name: 'mcp-client', exact: 'mcp-client', on: false, from: 'every' } }),
    addTo: save('addTo'),
    removeFrom: save('removeFrom'),
    allowProject: save('allowProject'),
    setAnswersFrom: save('setAnswersFrom'),
    undo: save('undo'),
    exportAllowlist: note(() => ({ ok: true, rows: 3, file: '/Users/dana/list.json' }), 'exportAllowlist'),
    chooseImport: note(() => fixture.import ?? { token: '', file: '', rows: [], new: 0, partial: false }, 'chooseImport'),
    takeImport: save('takeImport'),
    warnings: (id) => Promise.resolve((id === 'claude-code' && fixture.warnings) || { list: [], partial: false }),
    preview: note(() => fixture.preview, 'preview'),

    activity: note(() => fixture.activity?.page ?? { rows: [], more: false }, 'activity'),
    record: (id) => {
      const record = fixture.activity?.records[id]
      return record ? Promise.resolve(record) : Promise.reject(new Error(`the fixture has no record ${id}`))
    },
    offered: note(() => fixture.activity?.offered ?? { problem: 'The fixture offers nothing.', widths: [], keeps: [], replay: [], replaces: 0 }, 'offered'),
    keepOffered: save('keepOffered'),
    rates: () => Promise.resolve(fixture.activity?.rates ?? { days: [], agents: [], top: 1, step: 1 }),
    activityAgents: () => Promise.resolve(fixture.activity?.agents ?? []),
    stops: () => Promise.resolve(fixture.activity?.stops ?? { days: 7, requests: 0, asked: 0, per100: 0, denied: 0, kept: 0, reasons: [], programs: [] }),
    addSuggested: save('addSuggested'),
    turnDown: save('turnDown'),
    suggestions: () => Promise.resolve(fixture.activity?.suggestions ?? []),
    exportActivity: note(() => ({ ok: true, rows: 3, file: '/Users/dana/history.jsonl' }), 'exportActivity'),
    historySize: () => Promise.resolve(fixture.size ?? { rows: 0, bytes: 0, maxRows: 1_000_000, maxBytes: 2 ** 30, maxDays: 400 }),

    tryCommand: (text, ...rest) => {
      calls.push(['tryCommand', text, ...rest])
      const trial = fixture.trials?.find((t) => t.question.command.text === text)
      return Promise.resolve(trial ?? ({ problem: 'The fixture does not know this command.', took: 0 } as Trial))
    },

    start: () => Promise.resolve(fixture.start),
    choose: save('choose'),
    leaveFirstRun: note(() => undefined, 'leaveFirstRun'),
    host: () => Promise.resolve(fixture.host),
    readEnvironment: save('readEnvironment'),
    restart: save('restart'),
    answerEdit: save('answerEdit'),
    permissions: () => Promise.resolve(fixture.permissions ?? { list: [] }),
    requestPermission: save('requestPermission'),
    openPermission: save('openPermission'),
    hooks: () => Promise.resolve(fixture.hooks ?? []),
    planHook: (agent, undo) => Promise.resolve({ ...(fixture.hookChange ?? { diff: [], notes: [] }), agent, undo } as HookChange),
    applyHook: save('applyHook'),
    tryHook: (agent) => Promise.resolve({ ...(fixture.hookTrial ?? { lines: [] }), agent } as HookTrial),
    preferences: () => Promise.resolve(fixture.preferences),
    setPreferences: save('setPreferences'),
    settingsReady: () => Promise.resolve(),

    on(event, f) {
      const set = listeners.get(event) ?? new Set()
      listeners.set(event, set.add(f))
      return () => set.delete(f)
    },
  }
  return self
}

/** A screen as the host gives it: only the wanted question is whole, or else the first. */
export function oneWhole(screen: Screen, want: string): Screen {
  const whole = Math.max(0, screen.waiting.findIndex((q) => q.id === want))
  return { ...screen, waiting: screen.waiting.map((q, i) => (i === whole ? q : place(q))) }
}

const place = ({ id, agent, count, asked, expires, ended }: Question): Question => ({
  id, agent, count, asked, expires, ended, partial: true, seen: '', claims: [], program: '', command: { text: '', lines: [], hidden: false },
  reason: '', passing: 0, asking: 0, runs: [], env: [], folder: '', risky: false, risk: { level: '', reasons: [] }, allowOnce: false, always: [],
  widths: [], keeps: [],
})
