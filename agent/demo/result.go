package demo

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// outcome says how a tool call ended, as far as its result tells.
type outcome int

const (
	pending    outcome = iota // no result in the conversation
	unreadable                // a result that is not what the tool promises
	failed                    // {"error": …}
	denied                    // {"status": "DENIED"}
	offloaded                 // {"status": "OFFLOADED"}: it goes on in the background
	stopped                   // {"status": "CANCELLED"}
	succeeded
)

// result is the union of what the tools answer; every tool fills its own fields.
type result struct {
	outcome outcome
	code    string
	raw     string
	keys    map[string]json.RawMessage

	Ran       *bool  `json:"ran"` // false: the call was refused before it ran
	Status    string `json:"status"`
	TaskID    string `json:"taskId"`
	Reason    string `json:"reason"`
	Message   string `json:"message"`
	Date      string `json:"date"`
	Time      string `json:"time"`
	WeekdayZh string `json:"weekdayZh"`
	WeekdayEn string `json:"weekdayEn"`
	Weekday   int    `json:"weekday"`

	Preferences []preference `json:"preferences"`
	Remembered  preference   `json:"remembered"`
	Forgotten   []preference `json:"forgotten"`

	Dishes          []dish           `json:"dishes"`
	Recommendations []recommendation `json:"recommendations"`
	Avoided         []avoided        `json:"avoided"`

	City      string     `json:"city"`
	CityEn    string     `json:"cityEn"`
	Current   *weather   `json:"current"`
	Days      []forecast `json:"days"`
	Advice    string     `json:"advice"`
	AdviceEn  string     `json:"adviceEn"`
	Simulated bool       `json:"simulated"`

	OrderID  string      `json:"orderId"`
	Lines    []orderLine `json:"lines"`
	TotalFen *int64      `json:"totalFen"`
}

type preference struct {
	ID        string `json:"id"`
	Statement string `json:"statement"`
	Kind      string `json:"kind"`
}

type dish struct {
	ID         string `json:"id"`
	Name       string `json:"name"`
	NameEn     string `json:"nameEn"`
	Category   string `json:"category"`
	PriceFen   *int64 `json:"priceFen"`
	Price      string `json:"price"`
	Stock      *int   `json:"stock"`
	Spicy      bool   `json:"spicy"`
	Vegetarian bool   `json:"vegetarian"`
}

type recommendation struct {
	Dish     dish   `json:"dish"`
	Reason   string `json:"reason"`
	ReasonEn string `json:"reasonEn"`
}

type avoided struct {
	Name     string `json:"name"`
	NameEn   string `json:"nameEn"`
	Reason   string `json:"reason"`
	ReasonEn string `json:"reasonEn"`
}

type weather struct {
	Condition   string       `json:"condition"`
	ConditionEn string       `json:"conditionEn"`
	Temperature *json.Number `json:"temperature"`
	Humidity    *json.Number `json:"humidity"`
	Wind        string       `json:"wind"`
	WindEn      string       `json:"windEn"`
}

type forecast struct {
	Date            string       `json:"date"`
	Weekday         int          `json:"weekday"`
	WeekdayZh       string       `json:"weekdayZh"`
	WeekdayEn       string       `json:"weekdayEn"`
	Condition       string       `json:"condition"`
	ConditionEn     string       `json:"conditionEn"`
	Low             *json.Number `json:"low"`
	High            *json.Number `json:"high"`
	RainProbability *json.Number `json:"rainProbability"`
}

type orderLine struct {
	Name      string `json:"name"`
	NameEn    string `json:"nameEn"`
	Quantity  int    `json:"quantity"`
	AmountFen *int64 `json:"amountFen"`
	Note      string `json:"note"`
}

// readResult reads the text of a tool message. A prefix before the JSON object is passed over; a text that breaks off is unreadable.
func readResult(tool, text string) *result {
	keys, object := firstObject(text)
	if keys == nil {
		return &result{outcome: unreadable, raw: text}
	}
	r := &result{keys: keys, raw: text}
	var mismatch *json.UnmarshalTypeError
	if err := json.Unmarshal(object, r); err != nil && !errors.As(err, &mismatch) {
		return &result{outcome: unreadable, raw: text}
	}
	r.outcome = r.judge(tool)
	return r
}

// firstObject returns the first JSON object of a text, whole or not at all.
func firstObject(text string) (map[string]json.RawMessage, json.RawMessage) {
	for tries := 0; tries < 20; tries++ {
		at := strings.IndexByte(text, '{')
		if at < 0 {
			return nil, nil
		}
		text = text[at:]
		var object json.RawMessage
		err := json.NewDecoder(strings.NewReader(text)).Decode(&object)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, nil
		}
		if err == nil {
			var keys map[string]json.RawMessage
			if json.Unmarshal(object, &keys) == nil {
				return keys, object
			}
		}
		text = text[1:]
	}
	return nil, nil
}

func (r *result) judge(tool string) outcome {
	if raw, ok := r.keys["error"]; ok && string(raw) != "null" {
		r.readError(raw)
		return failed
	}
	switch {
	case strings.EqualFold(r.Status, "DENIED"):
		return denied
	case strings.EqualFold(r.Status, "OFFLOADED") && r.TaskID != "":
		return offloaded
	case strings.EqualFold(r.Status, "CANCELLED") && r.OrderID == "":
		return stopped
	}
	if !r.promised(tool) {
		return unreadable
	}
	return succeeded
}

func (r *result) readError(raw json.RawMessage) {
	var words struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(raw, &words) != nil {
		_ = json.Unmarshal(raw, &words.Message)
	}
	r.code = words.Code
	if words.Message != "" {
		r.Message = words.Message
	}
}

// promised tells whether a result has what the answer of its tool must have.
func (r *result) promised(tool string) bool {
	switch tool {
	case toolClock:
		return r.Date != "" || r.Time != ""
	case toolRecall:
		return r.has("preferences")
	case toolRemember:
		return r.Remembered.Statement != ""
	case toolForget:
		return r.has("forgotten")
	case toolSearch, toolMenu:
		return r.has("dishes")
	case toolRecommend:
		return r.has("recommendations")
	case toolWeather:
		return r.Current != nil || len(r.Days) > 0
	case toolOrder:
		return r.OrderID != ""
	case toolFood:
		return r.OrderID != "" || r.has("recommendations") || r.Message != ""
	}
	return true
}

func (r *result) has(key string) bool {
	raw, ok := r.keys[key]
	return ok && string(raw) != "null"
}

// total returns the sum of an order as text, "" if the result has none.
func (r *result) total() string {
	var text string
	if json.Unmarshal(r.keys["total"], &text) == nil && text != "" {
		return text
	}
	return yuan(r.TotalFen)
}
