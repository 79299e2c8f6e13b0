// Package numeral reads quantities in Chinese and English text: 一份, 两三份, 半份, 俩, 十二份, 2.5, two, a dozen, half a.
// It knows numbers and measure words and nothing of dishes, orders or limits; what a quantity may be is the caller's rule.
package numeral

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Kind says what sort of number a quantity is.
type Kind int

const (
	// Whole is a whole number, which may be zero.
	Whole Kind = iota
	// Half is exactly one half, as in 半份 or "half a".
	Half
	// Vague is a range or an unnamed number, as in 两三份, 几份 or "a few".
	Vague
	// Fraction is any other number that is not whole, as in 2.5 or 一份半.
	Fraction
	// Negative is a number below zero.
	Negative
)

// maxCount keeps every number inside an int on any machine; larger ones are read as this.
const maxCount = math.MaxInt32

// Quantity is a number as it stands in a text.
type Quantity struct {
	Kind Kind
	// N is the number if the kind is Whole, and the whole part without its sign if it is Negative or Fraction.
	N int
	// Text is the number with its measure word, as written.
	Text string
}

// Count returns the number if it is whole and at least one.
func (q Quantity) Count() (int, bool) {
	return q.N, q.Kind == Whole && q.N > 0
}

// Phrase is a quantity with its place in a text, measure word included.
type Phrase struct {
	Quantity
	// Measure is the measure word without the number, "" if there is none.
	Measure string
	// Start and End are byte offsets; text[Start:End] is the phrase.
	Start, End int
}

// Parse reads a word that is a quantity and nothing else; a measure word may follow the number.
func Parse(word string) (Quantity, bool) {
	word = strings.TrimSpace(word)
	phrase, ok := scan(word, 0)
	if !ok || phrase.End != len(word) {
		return Quantity{}, false
	}
	return phrase.Quantity, true
}

// Find returns the first quantity phrase of a text. A Chinese numeral counts only with a measure word (周三 and 五花肉 hold none).
func Find(text string) (Phrase, bool) {
	return findFrom(text, 0)
}

// FindAll returns every quantity phrase of a text, in order, none overlapping another.
func FindAll(text string) []Phrase {
	var phrases []Phrase
	for at := 0; at < len(text); {
		phrase, ok := findFrom(text, at)
		if !ok {
			break
		}
		phrases = append(phrases, phrase)
		at = phrase.End
	}
	return phrases
}

func findFrom(text string, from int) (Phrase, bool) {
	for at := from; at < len(text); {
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		if mayStart(text, at, before) {
			if phrase, ok := scan(text, at); ok && phrase.countsInText(text) {
				return phrase, true
			}
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return Phrase{}, false
}

// mayStart tells whether a quantity can begin here: not inside a word or number, not an ordinal, not a weekday.
func mayStart(text string, at int, before rune) bool {
	first, _ := utf8.DecodeRuneInString(text[at:])
	if before == '第' {
		return false
	}
	if isASCIIWord(first) && isASCIIWord(before) {
		return false
	}
	if isASCIIWord(first) && (before == '.' || before == ':' || before == '-') && at > 1 {
		earlier, _ := utf8.DecodeLastRuneInString(text[:at-1])
		return !isASCIIWord(earlier)
	}
	head := text[:at]
	weekday := strings.HasSuffix(head, "周") || strings.HasSuffix(head, "星期") || strings.HasSuffix(head, "礼拜")
	return !weekday
}

// countsInText tells whether a number found inside a sentence is a quantity of something.
func (p Phrase) countsInText(text string) bool {
	rest := text[p.End:]
	next, _ := utf8.DecodeRuneInString(rest)
	if p.Measure != "" {
		return !followsMeasure(p.Measure, rest)
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(p.Text, "-−－x×*X "))
	switch {
	case first == '俩' || first == '仨':
		return true
	case unicode.Is(unicode.Han, first):
		return false
	case isDigit(first):
		return !isASCIIWord(next) && !strings.ContainsRune("点时月号日天年元块度%％℃:：人岁周分-/.", next) || next == utf8.RuneError
	}
	return !isASCIIWord(next)
}

// followsMeasure reports the words in which the measure is only the beginning of another unit: 三块钱, 两个月, 三杯鸡.
func followsMeasure(measure, rest string) bool {
	var others []string
	switch measure {
	case "块":
		others = []string{"钱"}
	case "个":
		others = []string{"月", "小时", "钟", "星期", "礼拜", "人"}
	case "杯":
		others = []string{"鸡", "鸭"}
	case "条":
		others = []string{"消息", "信息", "记忆", "偏好"}
	}
	for _, other := range others {
		if strings.HasPrefix(rest, other) {
			return true
		}
	}
	return false
}

func isDigit(r rune) bool {
	return r >= '0' && r <= '9' || r >= '０' && r <= '９'
}

func isASCIIWord(r rune) bool {
	return r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
