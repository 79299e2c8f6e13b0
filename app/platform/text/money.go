package text

import (
	"fmt"
	"regexp"
	"strconv"
)

var yuan = regexp.MustCompile(`^(\d{1,12})(?:\.(\d{1,2}))?$`)

// Yuan writes an amount of fen as yuan with two decimals.
func Yuan(fen int64) string {
	sign := ""
	if fen < 0 {
		sign, fen = "-", -fen
	}
	return fmt.Sprintf("%s%d.%02d", sign, fen/100, fen%100)
}

// Fen reads an amount of yuan such as 32, 32.5 or 32.00 as fen, without floating point.
func Fen(amount string) (int64, error) {
	m := yuan.FindStringSubmatch(amount)
	if m == nil {
		return 0, fmt.Errorf("%q is not an amount of yuan such as 32.00", amount)
	}
	fen, err := strconv.ParseInt(m[1]+(m[2] + "00")[:2], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not an amount of yuan: %w", amount, err)
	}
	return fen, nil
}
