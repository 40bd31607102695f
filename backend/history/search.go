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

// search is what a person looks for in the language of the index. Nothing that was
// typed is read as that language.
type search struct {
	terms []string // words, the last of them perhaps not written to its end
	tags  string   // all of them
}

func searchFor(text string, tags []string) (s search) {
	var all []string
	for _, t := range tags {
		all = append(all, `tags : "`+t+`"`)
	}
	s.tags = strings.Join(all, " AND ")
	terms := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) })
	for i, term := range terms[:min(len(terms), maxTerms)] {
		term = `text : "` + term + `"`
		if i == len(terms)-1 {
			term += "*"
		}
		s.terms = append(s.terms, term)
	}
	return s
}

// match is the search for all of the words and all of the tags, "" for a search
// for nothing.
func (s search) match() string {
	all := s.terms
	if s.tags != "" {
		all = append([]string{s.tags}, s.terms...)
	}
	return strings.Join(all, " AND ")
}

// inTexts is a condition on requests that are over: a text that is kept apart holds
// at least one of the words, and each word is there or in the row. It is slower than
// match, so it is only asked where there is such a text.
func (s search) inTexts() (condition string, args []any) {
	const has = "n IN (SELECT needs.n FROM textwords CROSS JOIN needs ON needs.text = textwords.rowid WHERE textwords MATCH ?)"
	all := []string{"link IS NOT NULL AND parent = ''", has}
	args = append(args, strings.Join(s.terms, " OR "))
	for _, term := range s.terms {
		all = append(all, "("+has+" OR n IN (SELECT rowid FROM words WHERE words MATCH ?))")
		args = append(args, term, term)
	}
	if s.tags != "" {
		all = append(all, "n IN (SELECT rowid FROM words WHERE words MATCH ?)")
		args = append(args, s.tags)
	}
	return strings.Join(all, " AND "), args
}
