package store

import (
	"maps"
	"reflect"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// stricter joins two policies of one agent: what holds in both of them.
func stricter(a, b approval.Policy) approval.Policy {
	p := a
	switch approval.AskOff {
	case a.Ask:
		p.Own = &a
	case b.Ask:
		p.Own = &b
	}
	p.Origins = maps.Clone(a.Origins)
	if p.Security = approval.StricterSecurity(a.Security, b.Security); p.Security != a.Security {
		p.Origins["security"] = b.Origins["security"]
	}
	if p.Ask = approval.StricterAsk(a.Ask, b.Ask); p.Ask != a.Ask {
		p.Origins["ask"] = b.Origins["ask"]
	}
	if p.AskFallback = approval.StricterSecurity(a.AskFallback, b.AskFallback); p.AskFallback != a.AskFallback {
		p.Origins["askFallback"] = b.Origins["askFallback"]
	}
	if (a.Ask == approval.AskOff) != (b.Ask == approval.AskOff) {
		// Off denies what the other one asks, and a fallback of full would run.
		p.AskFallback = approval.StricterSecurity(p.AskFallback, approval.SecurityList)
	}
	if p.AutoAllowSkills = a.AutoAllowSkills && b.AutoAllowSkills; p.AutoAllowSkills != a.AutoAllowSkills {
		p.Origins["autoAllowSkills"] = b.Origins["autoAllowSkills"]
	}
	if p.Presence = approval.StricterPresence(a.Presence, b.Presence); p.Presence != a.Presence {
		p.Origins["presence"] = b.Origins["presence"]
	}
	p.Denylist = slices.Concat(a.Denylist, b.Denylist)
	p.SafeBins = common(a.SafeBins, b.SafeBins)
	if !reflect.DeepEqual(a.SafeBinProfiles, b.SafeBinProfiles) {
		p.SafeBinProfiles = nil
	}
	p.SafeBinTrustedDirs = common(a.SafeBinTrustedDirs, b.SafeBinTrustedDirs)
	p.Skills = common(a.Skills, b.Skills)
	p.Tools = slices.Clone(a.Tools) // all of them must agree
	for _, layer := range b.Tools {
		p.Tools = append(p.Tools, uncategorized(layer))
	}
	p.Charters = slices.Concat(a.Charters, b.Charters)
	p.Projects = bothSay(a.Projects, b.Projects)
	if !slices.Equal(a.Approvers, b.Approvers) {
		p.Approvers = nil // the person here alone, and silence denies
	}
	return p
}

// uncategorized is a layer that does not say of what sort a tool is, which may
// make it look harmless.
func uncategorized(l approval.ToolLayer) approval.ToolLayer {
	l.Rules = maps.Clone(l.Rules)
	for name, rule := range l.Rules {
		rule.Category = approval.CategoryUnset
		l.Rules[name] = rule
	}
	return l
}
