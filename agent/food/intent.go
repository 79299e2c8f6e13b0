package food

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"

	"agentmesh/app/platform/numeral"
)

var (
	deniedPattern    = regexp.MustCompile(`(?:不要|别|不用|不想|先不|不是要|不需要)(?:帮我)?(?:再)?(?:订餐?|点餐|点菜|下单|买|推荐)[^，。,;；!！?？\n]*|(?i:\b(?:don't|do not|no need to|not) (?:order|buy|recommend|suggest)[^,.;!?\n]*)`)
	quotePattern     = regexp.MustCompile(`多少钱|什么价|价格|报价|几块钱|几元|(?i:\bhow much|\bquote\b|\bprice|\bcosts?\b)`)
	recommendPattern = regexp.MustCompile(`推荐|推介|建议|吃什么|吃点什么|吃啥|有什么好吃|什么好吃|帮我选|(?i:\brecommend|\bsuggest|\bwhat (?:should|can|could|shall) i (?:eat|have)|\banything good)`)
	menuPattern      = regexp.MustCompile(`菜单|有什么菜|有哪些菜|有啥菜|有什么吃的|供应什么|什么菜|(?i:\bmenu\b|\bwhat(?:'s| is) on\b|\bwhat dishes|\bwhich dishes)`)
	orderPattern     = regexp.MustCompile(`订|点|下单|来|要|买|加|(?i:\border\b|\bi'd like|\bi would like|\bi'll have|\bi want|\bget me|\bgive me|\bbuy\b|\bcan i (?:get|have)|\bplease\b)`)
	// What looks like a day is taken for one, and the catalog says which it doesn't know: 周八 is not today.
	dayPattern = regexp.MustCompile(`(?:下+个?|上+个?|[这本]个?)?(?:周|星期|礼拜)(?:[日天]|[零一二三四五六七八九十\d]+)|大*[明后]天|今天|昨天|大*前天|\d{4}[-/]\d{1,2}[-/]\d{1,2}|(?:\d{4}年)?\d{1,2}月\d{1,2}[日号]|` +
		`(?i:\b(?:(?:next|last|this) )?[a-z]+day\b|\btomorrow\b)`)
	numberPattern = regexp.MustCompile(`[0-9]+|[一二两三四五六七八九十]+|(?i:\b(?:an?|one|two|three|four|five|six|seven|eight|nine|ten)\b)`)
	picksPattern  = regexp.MustCompile(`^(?:道|个|种|样|款)|^(?i:\s*(?:dish|dishes|things|options|ideas))\b`)
)

// intent is what a text asks for.
type intent struct {
	skill    string
	order    orderArguments
	wish     recommendArguments
	day      string
	question string // what to ask back, if something is missing
	err      error
}

// understand routes a sentence by rules. The dishes are those whose names it may use.
func understand(text string, dishes []Dish) intent {
	text = strings.ReplaceAll(text, "’", "'")
	wanted := deniedPattern.ReplaceAllString(text, "")
	in := intent{day: dayIn(text)}
	read := readOrder(quotePattern.ReplaceAllString(wanted, " "), dishes)
	named := len(read.items) > 0 || read.question != "" || read.err != nil
	switch {
	case quotePattern.MatchString(wanted) && named:
		in.skill = SkillQuote
	case recommendPattern.MatchString(wanted):
		in.skill = SkillRecommend
		in.wish = recommendArguments{Preferences: []string{text}, Query: recommendPattern.ReplaceAllString(wanted, " "), Day: in.day, Limit: picksIn(wanted)}
		return in
	case menuPattern.MatchString(text):
		in.skill = SkillMenu
		return in
	case named || orderPattern.MatchString(wanted):
		in.skill = SkillPlace
	default:
		in.question = "您想看菜单、要推荐，还是点餐？Would you like the menu, a recommendation, or to order?"
		return in
	}
	in.question, in.err = read.question, read.err
	in.order = orderArguments{Items: read.items, Preferences: []string{}}
	if len(read.items) == 0 && in.question == "" && in.err == nil {
		in.question = "请问要点哪道菜、几份？Which dishes would you like, and how many portions?"
	}
	return in
}

// dayIn gives the day that a text names, as the menu takes it.
func dayIn(text string) string {
	day := strings.ToLower(dayPattern.FindString(text))
	switch day {
	case "今天", "today", "everyday", "midday", "birthday", "holiday":
		return ""
	}
	return day
}

// picksIn gives how many dishes a text wants recommended, if it says so.
func picksIn(text string) *json.Number {
	for _, word := range numberPattern.FindAllStringIndex(text, -1) {
		if !picksPattern.MatchString(text[word[1]:]) {
			continue
		}
		if q, ok := numeral.Parse(text[word[0]:word[1]]); ok {
			if n, whole := q.Count(); whole {
				return numberOf(min(n, maxPicks))
			}
		}
	}
	return nil
}

func numberOf(n int) *json.Number {
	number := json.Number(strconv.Itoa(n))
	return &number
}
