// The words of the page. They are those of the Go side, from which they are
// generated (`make bindings`); what is a closed set there is one here.
import type { main, shown } from '../../wailsjs/go/models'

export type Screen = shown.Screen
export type Question = shown.Question
export type Sharer = shown.Sharer
export type Edit = shown.Edit
export type Change = shown.Change
export type ChangeLine = shown.ChangeLine
export type Folder = shown.Folder
export type FolderAnswer = 'no' | 'agent' | 'every'
export type Agent = shown.Agent
export type Command = shown.Command
export type Piece = shown.Piece
export type Part = shown.Part
export type Run = shown.Run
export type EnvChange = shown.EnvChange
export type WouldDo = shown.WouldDo
export type Entry = shown.Entry
export type ToolUse = shown.ToolUse
export type Width = shown.Width
export type Replayed = shown.Replayed
export type AgentRow = shown.AgentRow
export type Policy = shown.Policy
export type Setting = shown.Setting
export type EntryRow = shown.EntryRow
export type EntryEdit = shown.EntryEdit
export type DenyRow = shown.DenyRow
export type DenyEdit = shown.DenyEdit
export type Host = shown.Host
export type Permissions = shown.Permissions
export type Hook = shown.Hook
export type HookChange = shown.HookChange
export type HookTrial = shown.HookTrial
export type Start = shown.Start
export type StartOffer = shown.StartOffer
export type Tool = shown.Tool
export type Example = shown.Example
export type Preview = shown.Preview
export type Preferences = shown.Preferences
export type ActivityFilter = shown.ActivityFilter
export type ActivityPage = shown.ActivityPage
export type ActivityRow = shown.ActivityRow
export type ActivityRecord = shown.Record
export type Offered = shown.Offered
export type End = shown.End
export type Rate = Pick<shown.DayRate, 'requests' | 'asked' | 'per100'>
export type DayRate = shown.DayRate
export type Rates = shown.Rates
export type Suggestion = shown.Suggestion
export type Stops = shown.Stops
export type Standing = shown.Standing
export type Warnings = shown.Warnings
export type EntryWarning = shown.EntryWarning
export type Import = shown.ImportList
export type Lists = shown.Lists
export type HistorySize = shown.HistorySize
export type Trial = shown.Trial
export type Exported = main.Exported
export type Answered = main.Answered
export type Reply = main.Reply
export type Saved = main.Saved

export type Decision = 'allow-once' | 'allow-always' | 'deny'
export type Keep = 'good' | '10m' | '1h' | 'session' | 'next5'
export type Verdict = 'pass' | 'ask' | 'danger' | 'deny'
export type Mode = 'deny' | 'ask-always' | 'ask-when-needed' | 'only-listed' | 'allow-all'
export type Word = 'security' | 'ask' | 'askFallback' | 'presence'
export type Switch = 'autoAllowSkills'
export type StartingPoint = 'deny-all' | 'ask-me' | 'developer-tools'
/** A list that holds words: filters and the folders they are trusted in, programs of skills, or folders that are projects. */
export type WordList = 'safe-bins' | 'skills' | 'projects'
export type Theme = 'system' | 'light' | 'dark'

/** What the person allowed so often that a rule is suggested: the names of a width, or all that a start lets pass. */
export interface Before {
  start: string
  names: string[]
  times: number
}
