package food

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"agentmesh/app/platform/numeral"
)

var (
	restHead = regexp.MustCompile(`^(?:(?:请问?|麻烦|帮忙|帮我|替我|给我|我们|我|想要|想吃|想|要|订购|预订|订|点|再来|来|买|今天的?|一下)+|` +
		`(?i:(?:(?:would |'d )?(?:like|want) to (?:order|have|get|eat)|i'd|i'll|i|we|would|like|want|please|can|could|you|order|get|give|bring|me|us|have|buy|some|the|an?|hi|hello|hey)(?:\s+|$))+)`)
	restTail = regexp.MustCompile(`(?:(?:吧|呢|啊|呀|哦|哈|谢谢你?|多谢|好吗|可以吗|行吗|一下|了|的)+|(?i:(?:^|\s+)(?:please|thanks|thank you|for (?:me|us)|today)))$`)
	restVerb = regexp.MustCompile(`(?:再?来|要|预订|订|点|上|买|给我|帮我)+$`)
	restDeny = regexp.MustCompile(`(?:不|别)$`)
	restLink = regexp.MustCompile(`^(?i:(?:in|on|with|for|the|my|an?)\s*)+$|(?i:\s+(?:in|on|with))?(?i:\s+(?:the|my|an?))$`)
)

// named finds the dishes whose whole names stand in a word, and what stands before and behind the names.
func named(dishes []Dish, word string) (found []Dish, pieces []string) {
	from := 0
	for at := 0; at < len(word); {
		d, size := nameAt(word, at, dishes)
		if size == 0 {
			at++
			continue
		}
		pieces = append(pieces, word[from:at])
		if _, known := exact(found, d.ID); !known {
			found = append(found, d)
		}
		at += size
		from = at
	}
	return found, append(pieces, word[from:])
}

// noteOf makes a note of what a word holds besides the dish's name. Only fillers, signs and a number of portions that says
// no more than the order's own are left out: the rest may be an allergy.
func noteOf(pieces []string, portions int) string {
	note := ""
	for _, piece := range pieces {
		note = joinNotes(note, trimPiece(piece, portions))
	}
	return note
}

func trimPiece(piece string, portions int) string {
	for before := ""; piece != before; {
		before = piece
		piece = trimSigns(piece)
		piece = trimSigns(restHead.ReplaceAllString(piece, ""))
		piece = trimSigns(restTail.ReplaceAllString(piece, ""))
		piece = trimPortions(piece, portions)
		piece = restLink.ReplaceAllString(piece, "")
	}
	return piece
}

// trimPortions takes a number of portions off either end. One portion is a way of speaking; any other number must be the
// order's, or a person has to see it. A digit alone may be anything.
func trimPortions(piece string, portions int) string {
	for _, q := range numeral.FindAll(piece) {
		n, whole := q.Count()
		if !whole || n != 1 && n != portions || unicode.IsDigit(rune(q.Text[len(q.Text)-1])) && unicode.IsDigit(rune(q.Text[0])) {
			continue
		}
		switch {
		case q.Start == 0:
			return piece[q.End:]
		case q.End == len(piece):
			head := strings.TrimSpace(piece[:q.Start])
			if verbless := restVerb.ReplaceAllString(head, ""); !restDeny.MatchString(verbless) {
				head = verbless
			}
			return head
		}
	}
	return piece
}

// trimSigns takes off what is neither a letter nor a digit.
func trimSigns(piece string) string {
	return strings.TrimFunc(piece, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r) && !strings.ContainsRune("%％℃°", r)
	})
}

// saysAll tells whether a note has every part of another.
func saysAll(note, more string) bool {
	parts := noteBreak.Split(note, -1)
	for _, part := range noteBreak.Split(more, -1) {
		if !slices.Contains(parts, part) {
			return false
		}
	}
	return true
}

var noteBreak = regexp.MustCompile(`\s*[，,；;]\s*`)
