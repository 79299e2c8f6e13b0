package catalog

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxFile is the largest file of dishes, in bytes: what one call of the edit tool carries.
const MaxFile = 768 << 10

// errNotUTF8 refuses what would become wrong names without a word.
var errNotUTF8 = errors.New("it is not UTF-8; in Excel save it as 'CSV UTF-8'")

// ReadJSON reads a list of dishes in the form of seed.json, or of `catalog list --json`. A known dish may
// leave out what stays. The edits that could be read are given beside the mistakes in the others.
func ReadJSON(file []byte) ([]Edit, error) {
	if !utf8.Valid(file) {
		return nil, errNotUTF8
	}
	var list []json.RawMessage
	if err := json.Unmarshal(file, &list); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			line := 1 + bytes.Count(file[:syntax.Offset], []byte("\n"))
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		return nil, errors.New("it is not a list of dishes: [{\"id\": …}, …]")
	}
	var edits []Edit
	var errs []error
	for i, raw := range list {
		place := fmt.Sprintf("dish %d", i+1)
		var given map[string]json.RawMessage
		if err := json.Unmarshal(raw, &given); err != nil || given == nil {
			errs = append(errs, fmt.Errorf("%s: it is not a dish: {\"id\": …}", place))
			continue
		}
		edits, errs = collect(edits, errs, place, given)
	}
	return edits, errors.Join(errs...)
}

// ReadCSV reads dishes from a table whose first line names the columns, as the JSON form does, with the
// price in yuan as price and lists separated by semicolons. An empty cell leaves things as they are.
func ReadCSV(file []byte) ([]Edit, error) {
	if !utf8.Valid(file) {
		return nil, errNotUTF8
	}
	r := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file, []byte("\ufeff")))) // Excel's mark
	r.FieldsPerRecord = -1
	head, err := r.Read()
	if err != nil {
		return nil, fmt.Errorf("read the first line, which names the columns: %w", err)
	}
	var edits []Edit
	var errs []error
	for i, name := range head {
		head[i] = strings.TrimSpace(name)
		if kindOf(head[i]) == "" {
			errs = append(errs, fmt.Errorf("line 1: there is no column %q", head[i]))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, errors.Join(append(errs, err)...) // it names the line; what follows cannot be trusted
		}
		line, _ := r.FieldPos(0)
		place := "line " + strconv.Itoa(line)
		if len(cells) != len(head) {
			errs = append(errs, fmt.Errorf("%s: it has %d cells and the first line %d", place, len(cells), len(head)))
			break
		}
		given := map[string]json.RawMessage{}
		for i, cell := range cells {
			if cell = strings.TrimSpace(cell); cell != "" {
				given[head[i]] = cellValue(kindOf(head[i]), cell)
			}
		}
		edits, errs = collect(edits, errs, place, given)
	}
	return edits, errors.Join(errs...)
}

// kindOf says what a field of a dish is; nothing for a field that there is not. Held is shown by the list
// and cannot be changed.
func kindOf(field string) string {
	switch field {
	case "id", "name", "nameEn", "category", "description", "descriptionEn":
		return "text"
	case "price":
		return "an amount of yuan as text, such as \"32.00\""
	case "priceFen", "stock", "held":
		return "a whole number"
	case "spicy", "vegetarian":
		return "true or false"
	case "allergens", "tags":
		return "a list of texts"
	case "weekdays":
		return "a list of whole numbers"
	}
	return ""
}

// cellValue writes a cell as JSON of its kind, or as text, which then is a mistake.
func cellValue(kind, cell string) json.RawMessage {
	quoted := func(s string) string { raw, _ := json.Marshal(s); return string(raw) }
	list := func(write func(string) string) json.RawMessage {
		var out []string
		for _, part := range strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == '；' }) {
			out = append(out, write(strings.TrimSpace(part)))
		}
		return json.RawMessage("[" + strings.Join(out, ",") + "]")
	}
	number := func(s string) string {
		if _, err := strconv.ParseInt(s, 10, 64); err != nil {
			return quoted(s)
		}
		return s
	}
	switch kind {
	case "a whole number":
		return json.RawMessage(number(cell))
	case "true or false":
		if low := strings.ToLower(cell); low == "true" || low == "false" {
			return json.RawMessage(low)
		}
	case "a list of texts":
		return list(quoted)
	case "a list of whole numbers":
		return list(number)
	}
	return json.RawMessage(quoted(cell))
}

// collect reads one dish field by field, so that each mistake is told.
func collect(edits []Edit, errs []error, place string, given map[string]json.RawMessage) ([]Edit, []error) {
	e := Edit{Place: place}
	var id string
	if json.Unmarshal(given["id"], &id) == nil && id != "" {
		place += " (" + id + ")"
	}
	names := make([]string, 0, len(given))
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	before := len(errs)
	for _, name := range names {
		kind := kindOf(name)
		if kind == "" {
			errs = append(errs, fmt.Errorf("%s: a dish has no %q", place, name))
			continue
		}
		one, err := json.Marshal(map[string]json.RawMessage{name: given[name]})
		if err == nil {
			err = json.Unmarshal(one, &e)
		}
		if err != nil || string(given[name]) == "null" {
			errs = append(errs, fmt.Errorf("%s: %s: %s is not %s", place, name, given[name], kind))
		}
	}
	if len(errs) > before {
		return edits, errs
	}
	return append(edits, e), errs
}
