package capability

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A condition is a path into the arguments and what has to stand there. The path's parts are joined by dots: a
// member's name, a place in a list from 0, or * for each of them, as in items.*.quantity. What has to stand there is
// a text: >5, >=5, <5 or <=5 bound a number; * stands for any characters, as in 上*; a text behind = is meant as
// it is, as in =>5; all else must be equal. Numbers are compared as numbers: 5 and 5.0 are the same to JSON Schema.
//
// Where a path leads to several values, a deny or an ask matches when one of them fits, and an allow only
// when each does: a rule never lets more through than it says. A path that leads nowhere fits nothing. For a
// deny or an ask the case of a member's name does not count, since some readers of JSON ignore it.

// checkCondition finds what is wrong with a condition.
func checkCondition(path, want string) error {
	for _, part := range strings.Split(path, ".") {
		if part == "" {
			return fmt.Errorf("args: %q is no path such as city or items.*.quantity", path)
		}
	}
	if _, number, ok := bound(want); ok {
		if _, err := strconv.ParseFloat(number, 64); err != nil {
			return fmt.Errorf("args: %s: %q is no number; a text that begins like this is written behind =", path, number)
		}
	}
	return nil
}

// holdAll tells whether all conditions hold for a call.
func holdAll(conditions map[string]string, args any, effect Effect) bool {
	for path, want := range conditions {
		if !holds(strings.Split(path, "."), want, args, effect) {
			return false
		}
	}
	return true
}

func holds(path []string, want string, args any, effect Effect) bool {
	found := lookUp(path, args, effect != Allow, nil)
	fitting := 0
	for _, v := range found {
		if fits(v, want) {
			fitting++
		}
	}
	if effect == Allow {
		return fitting > 0 && fitting == len(found)
	}
	return fitting > 0
}

// missing stands for a value that a path with * should lead to, and does not.
type missing struct{}

// lookUp gathers the values that a path leads to. Of a list, an element in which the path leads nowhere counts as
// missing, so that an allow does not pass it over.
func lookUp(path []string, v any, fold bool, found []any) []any {
	if len(path) == 0 {
		return append(found, v)
	}
	part, rest := path[0], path[1:]
	before := len(found)
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if part == "*" || name == part || (fold && strings.EqualFold(name, part)) {
				found = lookUp(rest, member, fold, found)
			}
		}
	case []any:
		for i, element := range v {
			if part == "*" || part == strconv.Itoa(i) {
				found = lookUp(rest, element, fold, found)
			}
		}
	}
	if len(found) == before {
		return append(found, missing{})
	}
	return found
}

// fits tells whether a value is what a condition wants.
func fits(v any, want string) bool {
	text, ok := written(v)
	if !ok {
		return false
	}
	op, number, isBound := bound(want)
	switch {
	case isBound:
		_, isNumber := v.(json.Number)
		return isNumber && within(text, op, number)
	case strings.HasPrefix(want, "="):
		return equal(v, text, want[1:])
	}
	return equal(v, text, want) || glob(want, text)
}

// equal tells whether a value, as it is written, is what is wanted.
func equal(v any, text, want string) bool {
	if _, isNumber := v.(json.Number); isNumber {
		return plainNumber(text) == plainNumber(want)
	}
	return text == want
}

// plainNumber writes equal numbers alike, without rounding: the digits from the first to the last that is not 0, and the
// power of ten of the last one. What is no number stays as it is.
func plainNumber(text string) string {
	digits, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power, err := strconv.Atoi(cmp.Or(exponent, "0"))
	if _, bad := strconv.ParseFloat(digits, 64); err != nil || (bad != nil && !errors.Is(bad, strconv.ErrRange)) {
		return text
	}
	sign := ""
	if rest, negative := strings.CutPrefix(digits, "-"); negative {
		sign, digits = "-", rest
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	digits = strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return "0"
	}
	short := strings.TrimRight(digits, "0")
	return fmt.Sprintf("%s%se%d", sign, short, power-len(fraction)+len(digits)-len(short))
}

// written gives a value that is no list or object as it is written.
func written(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	case nil:
		return "null", true
	}
	return "", false
}

// bound takes a bound apart.
func bound(want string) (op, number string, ok bool) {
	for _, op := range []string{">=", "<=", ">", "<"} {
		if rest, ok := strings.CutPrefix(want, op); ok {
			return op, strings.TrimSpace(rest), true
		}
	}
	return "", "", false
}

func within(text, op, number string) bool {
	have, err := strconv.ParseFloat(text, 64)
	if err != nil && have == 0 { // one that is too large is infinite, and compares like that
		return false
	}
	bound, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil:
		return false
	case op == ">":
		return have > bound
	case op == ">=":
		return have >= bound
	case op == "<":
		return have < bound
	}
	return have <= bound
}

// glob tells whether a text is as a pattern says, in which * stands for any characters.
func glob(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	text, ok := strings.CutPrefix(text, parts[0])
	if !ok {
		return false
	}
	last := parts[len(parts)-1]
	for _, part := range parts[1 : len(parts)-1] {
		_, rest, ok := strings.Cut(text, part)
		if !ok {
			return false
		}
		text = rest
	}
	return strings.HasSuffix(text, last)
}

// valueOf reads arguments with their numbers as they are written.
func valueOf(args json.RawMessage) any {
	dec := json.NewDecoder(bytes.NewReader(args))
	dec.UseNumber()
	var v any
	_ = dec.Decode(&v) // what is no JSON was refused before; nothing fits it
	return v
}
