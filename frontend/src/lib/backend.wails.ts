// The real host, through the bindings that Wails makes. Nothing else imports
// them.
import * as activity from '../../wailsjs/go/main/Activity'
import * as approvals from '../../wailsjs/go/main/Approvals'
import * as settings from '../../wailsjs/go/main/Settings'
import { EventsOn } from '../../wailsjs/runtime/runtime'
import type { Backend } from './backend'

export const wails: Backend = {
  screen: approvals.Screen,
  ready: approvals.Ready,
  wouldDo: approvals.WouldDo,
  decide: approvals.Decide,
  remember: approvals.Remember,
  replay: approvals.Replay,
  hold: approvals.Hold,
  resume: approvals.Resume,
  denyFor: approvals.DenyFor,
  denyAlways: approvals.DenyAlways,
  allowOne: approvals.AllowOne,
  allowIfAsksAgain: approvals.AllowIfAsksAgain,
  together: approvals.Together,
  answerMany: approvals.AnswerMany,
  dismiss: approvals.Dismiss,
  leaveEdit: approvals.LeaveEdit,

  agents: settings.Agents,
  policy: settings.Policy,
  entries: settings.Entries,
  setMode: settings.SetMode,
  setWord: settings.SetWord,
  addEntry: settings.AddEntry,
  changeEntry: settings.ChangeEntry,
  switchEntry: settings.SwitchEntry,
  removeEntry: settings.RemoveEntry,
  addDeny: settings.AddDeny,
  removeDeny: settings.RemoveDeny,
  lists: settings.Lists,
  addTo: settings.AddTo,
  removeFrom: settings.RemoveFrom,
  setAnswersFrom: settings.SetAnswersFrom,
  undo: settings.Undo,
  exportAllowlist: settings.ExportAllowlist,
  chooseImport: settings.ChooseImport,
  takeImport: settings.TakeImport,
  preview: settings.Preview,
  warnings: settings.Warnings,

  activity: activity.List,
  record: activity.Record,
  offered: activity.Offered,
  keepOffered: settings.KeepOffered,
  rates: activity.Rates,
  activityAgents: activity.Agents,
  standing: settings.Standing,
  forget: settings.Forget,
  suggestions: activity.Suggestions,
  addSuggested: settings.AddSuggested,
  exportActivity: activity.Export,
  historySize: activity.Size,

  tryCommand: settings.Try,

  start: settings.Start,
  choose: settings.Choose,
  host: settings.Host,
  readEnvironment: settings.ReadEnvironment,
  answerEdit: settings.AnswerEdit,
  permissions: settings.Permissions,
  requestPermission: settings.RequestPermission,
  openPermission: settings.OpenPermission,
  preferences: settings.Preferences,
  setPreferences: settings.SetPreferences,
  settingsReady: settings.Ready,

  on: (event, f) => EventsOn(event, (id?: string) => f(id ?? '')),
}
