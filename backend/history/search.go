package history

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode"
)

// maxTerms bounds the words of one search.
const maxTerms = 16

// wordsOf is what can be searched for in a request.
func wordsOf(r *Row) string {
	return strings.Join([]string{
		r.Command, r.Program, r.Cwd, r.AgentID, r.SessionKey, r.Sentence, r.JudgedSentence, r.Entry, r.Note, r.AnsweredBy, r.Error,
	}, "\n")
}

// tagsOf is what requests are filtered by, each as one word that no text holds.
func tagsOf(r *Row) string {
	return strings.Join([]string{
		tag("agent", r.AgentID), tag("verdict", string(r.Verdict)), tag("verdict", string(r.Judged)),
		tag("reason", string(r.Reason)), tag("reason", string(r.JudgedReason)), tag("decision", string(r.Decision)),
	}, " ")
}

func tag(kind, value string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + value))
	return kind + hex.EncodeToString(sum[:8])
}

// match writes what a person looks for in the language of the index: all of
// the words, the last of them perhaps not written to its end, and all of the
// tags. Nothing that was typed is read as that language. It is "" for a search
// for nothing.
func match(text string, tags []string) string {
	var all []string
	for _, t := range tags {
		all = append(all, `tags : "`+t+`"`)
	}
	terms := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	for i, term := range terms[:min(len(terms), maxTerms)] {
		term = `text : "` + term + `"`
		if i == len(terms)-1 {
			term += "*"
		}
		all = append(all, term)
	}
	return strings.Join(all, " AND ")
}
