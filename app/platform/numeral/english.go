package numeral

import (
	"regexp"
	"strings"
)

var (
	fewPattern    = regexp.MustCompile(`^(?i:a\s+few|few|several|a\s+handful\s+of|dozens\s+of|dozens)\b`)
	halfEnPattern = regexp.MustCompile(`^(?i:half(?:\s+of)?(?:\s+an?)?)\b`)
	pairPattern   = regexp.MustCompile(`^(?i:(?:an?\s+)?(?:couple|pair)(?:\s+of)?)\b`)
	wordPattern   = regexp.MustCompile(`^[A-Za-z]+`)
	gapPattern    = regexp.MustCompile(`^(?:\s+|-)`)
	andPattern    = regexp.MustCompile(`^\s+(?i:and)\s+`)
)

// readEnglish reads two, twenty-one, a hundred and five, a dozen, half a, a couple of, a few and another.
func readEnglish(text string) (value, int) {
	if few := fewPattern.FindString(text); few != "" {
		return value{kind: Vague}, len(few)
	}
	if pair := pairPattern.FindString(text); pair != "" {
		return value{n: 2}, len(pair)
	}
	if half := halfEnPattern.FindString(text); half != "" {
		return value{kind: Half}, len(half)
	}
	word := wordPattern.FindString(text)
	if !strings.EqualFold(word, "another") {
		return readWords(text)
	}
	gap := gapPattern.FindString(text[len(word):])
	if number, size := readWords(text[len(word)+len(gap):]); size > 0 && gap != "" {
		return number, len(word) + len(gap) + size
	}
	return value{n: 1}, len(word)
}

// readWords adds up number words as far as they go.
func readWords(text string) (value, int) {
	var total, section int64
	end, last := 0, int64(0)
	for at := 0; at < len(text); {
		word := wordPattern.FindString(text[at:])
		n, ok := englishWord(strings.ToLower(word))
		if !ok || !fits(last, n, end == 0) {
			break
		}
		switch {
		case n >= 1000:
			total, section = min(total+max(section, 1)*n, maxCount), 0
		case n == 100:
			section = max(section, 1) * 100
		default:
			section += n
		}
		at += len(word)
		end, last = at, n
		if n == 1 && (word == "a" || word == "an" || word == "A" || word == "An") {
			last = -1
		}
		gap := gapPattern.FindString(text[at:])
		if and := andPattern.FindString(text[at:]); and != "" && n >= 100 {
			gap = and
		}
		if gap == "" {
			break
		}
		at += len(gap)
	}
	return value{n: clamp(total + section)}, end
}

// fits tells whether a number word can follow the one before it, so that "two twenty" isn't read as 22.
func fits(last, n int64, first bool) bool {
	switch {
	case first:
		return n != 100 && n < 1000
	case n >= 100:
		return last < n || last == -1
	case last == -1:
		return false
	case last >= 100:
		return true
	}
	return last >= 20 && last%10 == 0 && n > 0 && n < 10
}

func englishWord(word string) (int64, bool) {
	switch word {
	case "a", "an", "one":
		return 1, true
	case "hundred":
		return 100, true
	case "thousand":
		return 1000, true
	case "million":
		return 1000000, true
	}
	small := "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
	for n, name := range strings.Fields(small) {
		if name == word {
			return int64(n), true
		}
	}
	for n, name := range strings.Fields("twenty thirty forty fifty sixty seventy eighty ninety") {
		if name == word {
			return int64(20 + 10*n), true
		}
	}
	return 0, false
}
