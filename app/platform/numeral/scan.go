package numeral

import (
	"regexp"
	"strings"
)

var (
	signPattern    = regexp.MustCompile(`^(?:[-−－负]|(?i:minus|negative)\s+)`)
	timesPattern   = regexp.MustCompile(`^[xX×*]\s*`)
	measurePattern = regexp.MustCompile(`^(?:(?i:\s*(?:more\s+)?(?:portions?|servings?|bowls?|plates?|dishes|cups?|bottles?|glass(?:es)?|pieces?|cans?|boxes|box|sets?|orders?)\b(?:\s+of\b)?)` +
		`|\s*(?:[大小整])?(?:份|碗|个|盘|杯|瓶|碟|例|客|套|串|只|条|块|道|听|罐|壶|盒|笼|屉|根|枚|颗|片|锅|桶|包|袋|勺))`)
	dozenPattern = regexp.MustCompile(`^(?:打|\s*(?i:dozen)\b(?:\s+of\b)?)`)
	aboutPattern = regexp.MustCompile(`^[多余来]`)
	joinPattern  = regexp.MustCompile(`^(?:\s*[-~～—–]\s*|\s*(?:到|至|或者|或)\s*|\s+(?i:or|to)\s+)`)
	halfPattern  = regexp.MustCompile(`^(?:半|\s+(?i:and\s+a\s+half)\b)`)
	afterPattern = regexp.MustCompile(`^\s*[xX×]\b`)
)

// value is a number without its words.
type value struct {
	kind Kind
	n    int
}

// scan reads the longest quantity that begins at a byte offset.
func scan(text string, start int) (Phrase, bool) {
	at := start
	sign := signPattern.FindString(text[at:])
	at += len(sign)
	if sign == "" {
		at += len(timesPattern.FindString(text[at:]))
	}
	number, size := readNumber(text[at:])
	if size == 0 {
		return Phrase{}, false
	}
	at += size
	if high, end := readRange(text, at); high {
		number, at = value{kind: Vague}, end
	}
	number, measure, at := readMeasure(text, at, number)
	if high, end := readRange(text, at); high && measure != "" {
		number = value{kind: Vague}
		_, _, at = readMeasure(text, end, number)
	}
	if sign != "" {
		number = negate(number)
	}
	return Phrase{
		Quantity: Quantity{Kind: number.kind, N: number.n, Text: text[start:at]},
		Measure:  measure, Start: start, End: at,
	}, true
}

// readMeasure reads what may follow a number: 多, 打, a measure word, and 半.
func readMeasure(text string, at int, number value) (value, string, int) {
	if about := aboutPattern.FindString(text[at:]); about != "" {
		if measure := measurePattern.FindString(text[at+len(about):]); measure != "" {
			return value{kind: Vague}, cleanMeasure(measure), at + len(about) + len(measure)
		}
	}
	if dozen := dozenPattern.FindString(text[at:]); dozen != "" {
		number, at = dozens(number), at+len(dozen)
		if strings.HasPrefix(dozen, "打") {
			return number, "打", at
		}
	}
	measure := measurePattern.FindString(text[at:])
	if head := text[:at]; strings.HasSuffix(head, "俩") || strings.HasSuffix(head, "仨") {
		// 俩 and 仨 hold their measure word: 仨包子 are three 包子 and not three packets.
		measure = ""
	}
	at += len(measure)
	if measure == "" {
		at += len(afterPattern.FindString(text[at:]))
	}
	if half := halfPattern.FindString(text[at:]); half != "" && number.kind == Whole && (measure != "" || half != "半") {
		number.kind, at = Fraction, at+len(half)
	}
	return number, cleanMeasure(measure), at
}

// readRange reads the second half of a range, such as the 到三 of 两到三份.
func readRange(text string, at int) (bool, int) {
	join := joinPattern.FindString(text[at:])
	if join == "" {
		return false, at
	}
	_, size := readNumber(text[at+len(join):])
	return size > 0, at + len(join) + size
}

func cleanMeasure(measure string) string {
	measure = strings.ToLower(strings.TrimSpace(measure))
	measure = strings.TrimSpace(strings.TrimSuffix(measure, " of"))
	for _, size := range []string{"大", "小", "整"} {
		measure = strings.TrimPrefix(measure, size)
	}
	return measure
}

func dozens(number value) value {
	switch number.kind {
	case Half:
		return value{n: 6}
	case Whole:
		return value{n: clamp(int64(number.n) * 12)}
	}
	return number
}

func negate(number value) value {
	if number.kind == Whole && number.n == 0 {
		return number
	}
	return value{kind: Negative, n: number.n}
}

func clamp(n int64) int {
	return int(min(n, maxCount))
}

// readNumber reads a number at the beginning of a text and returns how many bytes it takes, 0 if there is none.
func readNumber(text string) (value, int) {
	if strings.HasPrefix(text, "½") {
		return value{kind: Half}, len("½")
	}
	if number, size := readDigits(text); size > 0 {
		return number, size
	}
	if number, size := readChinese(text); size > 0 {
		return number, size
	}
	return readEnglish(text)
}
