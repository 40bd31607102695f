// What the page can ask of the host. Views never see more than this, and only
// the classes in state/ call it.
import type {
  ActivityFilter, ActivityPage, ActivityRecord, Agent, AgentRow, Answered, Decision, DenyEdit, EntryEdit, EntryRow, Exported, FolderAnswer,
  HistorySize, Hook, HookChange, HookTrial, Host, Import, Keep, Lists, Mode, Offered, Permissions, Policy, Preferences, Preview, Question, Rates, Replayed, Reply, Saved, Screen,
  Standing, Start, StartingPoint, StartOffer, Stops, Suggestion, Switch, Trial, Warnings, Word, WordList, WouldDo,
} from './types'

/** What the host tells by itself: look at the screen again, look at the policy again, go to a question. */
export type HostEvent = 'screen' | 'policy' | 'open'

export interface Backend {
  /** Everything that waits, and of it one question whole: the one that is wanted, or else the first. */
  screen(want: string): Promise<Screen>
  /** The question is on the page and wants this height; the window may be shown. */
  ready(id: string, height: number): Promise<void>
  /** Looks at what a question would do to which files. */
  wouldDo(id: string): Promise<WouldDo>
  decide(id: string, seen: string, decision: Decision, note: string): Promise<Answered>
  /** Allows it from now on in one of its widths, perhaps only in its folder, for as long as keep says. */
  remember(id: string, seen: string, width: string, here: boolean, keep: Keep): Promise<Answered>
  /** What each width of a question would have meant for what was asked lately. */
  replay(id: string): Promise<Replayed[]>
  /** The start with which a question can be answered, in its project; without a name where there is none. */
  startFor(id: string): Promise<StartOffer>
  /** Takes it, and allows the question with it. */
  takeStartFor(id: string, seen: string, start: string): Promise<Answered>
  /** Stops the clock of a question as far as its caller waits, or lets it run on. */
  hold(id: string, on: boolean): Promise<Answered>
  /** Denies it, and each identical request to come, for "10-minutes" or for the "session". */
  denyFor(id: string, life: string, note: string): Promise<Answered>
  /** Denies it and writes the nth of its rules into the denylist. */
  denyAlways(id: string, n: number, note: string): Promise<Answered>
  /** Lets one of the identical requests run once and denies the others. */
  allowOne(id: string, seen: string, note: string): Promise<Answered>
  /** Keeps one yes for a caller that has gone, if it asks again soon. */
  allowIfAsksAgain(id: string, seen: string): Promise<Answered>
  /** The small questions of an agent, whole. */
  together(agentId: string): Promise<Question[]>
  /** Makes the question of one agent one of its own, of those that share the panel. */
  takeOut(id: string): Promise<void>
  /** Answers questions of that list. */
  answerMany(agentId: string, replies: Reply[], note: string): Promise<Answered[]>
  /** Ends a pause. */
  resume(): Promise<Answered>
  /** Takes a question away that nobody waits for. */
  dismiss(id: string): Promise<void>
  /** Accepts the change that a command line wants, or says no to it. */
  answerChange(id: string, accept: boolean): Promise<Answered>
  /** Says whether the folder that an agent works in is a project. */
  answerFolder(id: string, answer: FolderAnswer): Promise<Answered>
  /** Takes an edit of the policy file off the panel, for the settings to show. */
  leaveEdit(): Promise<void>

  agents(): Promise<AgentRow[]>
  policy(agentId: string): Promise<Policy>
  /** Further entries of an agent, from the one at first on; none if rev is not what holds any more. */
  entries(agentId: string, rev: string, first: number): Promise<EntryRow[]>
  setMode(agentId: string, rev: string, mode: Mode): Promise<Saved>
  /** An empty value lets the settings of every agent decide. */
  setWord(agentId: string, rev: string, word: Word | Switch, value: string): Promise<Saved>
  addEntry(agentId: string, rev: string, entry: EntryEdit): Promise<Saved>
  changeEntry(agentId: string, rev: string, id: string, entry: EntryEdit): Promise<Saved>
  switchEntry(agentId: string, rev: string, id: string, on: boolean): Promise<Saved>
  removeEntry(agentId: string, rev: string, id: string): Promise<Saved>
  addDeny(agentId: string, rev: string, rule: DenyEdit): Promise<Saved>
  removeDeny(agentId: string, rev: string, rule: DenyEdit): Promise<Saved>
  /** What stands beside the allowlist. */
  lists(agentId: string): Promise<Lists>
  addTo(agentId: string, rev: string, list: WordList, text: string): Promise<Saved>
  removeFrom(agentId: string, rev: string, list: WordList, text: string): Promise<Saved>
  /** Lets the tests, builds, local git work and edits of a project of the list run without a question. */
  allowProject(agentId: string, rev: string, folder: string): Promise<Saved>
  setAnswersFrom(agentId: string, rev: string, gateway: string, on: boolean): Promise<Saved>
  undo(): Promise<Saved>
  exportAllowlist(agentId: string): Promise<Exported>
  /** What a file that the person chooses would add. Nothing is added yet. */
  chooseImport(agentId: string): Promise<Import>
  takeImport(agentId: string, rev: string, token: string): Promise<Saved>
  preview(agentId: string, entry: EntryEdit): Promise<Preview>
  /** What should be looked at in an allowlist. It may take a while. */
  warnings(agentId: string): Promise<Warnings>

  /** The requests behind a row, newest first; 0 is for the newest. */
  activity(filter: ActivityFilter, before: number): Promise<ActivityPage>
  record(id: string): Promise<ActivityRecord>
  /** How what a request ran can be allowed from now on. */
  offered(id: string): Promise<Offered>
  /** Saves one of these widths as it was shown. */
  keepOffered(id: string, width: string, here: boolean, keep: Keep): Promise<Saved>
  rates(): Promise<Rates>
  /** How many of the last days' requests did not simply run, and why. */
  stops(): Promise<Stops>
  /** Those who are in the history. */
  activityAgents(): Promise<Agent[]>
  /** The answers that stand for requests to come. */
  standing(): Promise<Standing[]>
  /** Takes one of them back. */
  forget(id: string): Promise<Answered>
  suggestions(): Promise<Suggestion[]>
  /** Saves the entries of a suggestion as they were shown. */
  addSuggested(id: string): Promise<Saved>
  /** Has a suggestion, and what is not wider, not come again. */
  turnDown(id: string): Promise<Saved>
  exportActivity(filter: ActivityFilter): Promise<Exported>
  historySize(): Promise<HistorySize>

  /** Judges a text. Nothing is run. */
  tryCommand(text: string, agentId: string, folder: string): Promise<Trial>

  start(): Promise<Start>
  choose(start: StartingPoint): Promise<Saved>
  /** Ends the first run, which may still offer hooks. */
  leaveFirstRun(): Promise<void>
  host(): Promise<Host>
  /** Reads the login environment of commands again. */
  readEnvironment(): Promise<Saved>
  /** Ends the app and starts the version that is in its place. */
  restart(): Promise<Saved>
  answerEdit(hash: string, accept: boolean): Promise<Saved>
  /** What macOS lets commands do; an empty list where nothing of that is needed. */
  permissions(): Promise<Permissions>
  /** Has macOS ask the person, or shows it in System Settings. */
  requestPermission(id: string): Promise<Saved>
  openPermission(id: string): Promise<Saved>
  /** How our hook stands in the settings of each agent. */
  hooks(): Promise<Hook[]>
  /** What putting it in, or taking it out, would change. Nothing is written. */
  planHook(agent: string, undo: boolean): Promise<HookChange>
  applyHook(id: string): Promise<Saved>
  /** What the agent would do with a harmless command. */
  tryHook(agent: string): Promise<HookTrial>
  preferences(): Promise<Preferences>
  setPreferences(p: Preferences): Promise<Saved>
  /** The settings, or the first run, are on the page; the window may be shown. */
  settingsReady(): Promise<void>

  /** Calls f at each event until the function that it returns is called. */
  on(event: HostEvent, f: (id: string) => void): () => void
}
