package demo

import (
	"regexp"
	"strings"
)

// intent is one thing a message asks for; a message may ask for several.
type intent int

const (
	intentWho intent = iota
	intentHelp
	intentHello
	intentThanks
	intentBye
	intentOK
	intentClock
	intentWeather
	intentMenu
	intentDish
	intentRemember
	intentRecall
	intentForget
	intentRecommend
	intentOrder
	intentOrders
	intentFact
)

// ask is what a message of the user means, follow-ups filled in from the messages before it.
type ask struct {
	zh      bool
	clause  int    // the number of the clause being read
	note    string // of the whole order: a wish that may be about any of several dishes
	words   string
	intents map[intent]bool

	clockDay   day
	weatherDay day
	span       int
	spanNamed  bool
	city       string   // the first one; follow-ups are about it
	cities     []string // all of them

	menuDay day
	suits   bool // the menu is asked for what suits the user, so it is looked at and not read out
	filter  string

	dishes []string

	statements []string
	forget     []string
	forgetAll  bool

	query      string
	mild       bool
	several    bool
	again      bool
	preference bool // the user asked to use what is remembered

	items       []item
	problem     problem
	problemAt   int
	conditional bool
	condDishes  []string
	recommended bool // order what is recommended
	noOrder     bool
	carried     bool // the words alone do not say it; call_food needs a full sentence

	otherDay   bool // the order is for another day than today
	day        day  // the day the clauses before named
	remembered bool // clauses behind 记住 belong to it
	remarks    []remark
}

func (a *ask) has(i intent) bool { return a.intents[i] }

func (a *ask) set(i intent) { a.intents[i] = true }

// before is what a message may refer to.
type before struct {
	ask     ask
	found   bool
	known   []dish  // dishes read so far
	reply   string  // the assistant's last words
	focus   string  // the dish spoken of last
	ordered *result // how the last order ended, nil if there was none
}

// understand reads the messages of a conversation in order; each may refer to the one before.
func understand(c conversation) ask {
	var past before
	for i, e := range c.exchanges {
		a := readMessage(e.words, past)
		if i+1 == len(c.exchanges) {
			return a
		}
		past = past.after(a, e)
	}
	return ask{intents: map[intent]bool{}}
}

// after moves on to the next message.
func (b before) after(a ask, e exchange) before {
	next := before{ask: a, found: true, reply: e.reply, focus: b.focus, ordered: b.ordered}
	next.known = append(b.known[:len(b.known):len(b.known)], e.dishes()...)
	if a.city == "" {
		next.ask.city = b.ask.city
	}
	for _, c := range e.calls {
		if c.tool == toolOrder || c.tool == toolFood && c.result.OrderID != "" {
			next.ordered = c.result
		}
	}
	switch {
	case len(a.items) > 0 && a.items[len(a.items)-1].dish != "":
		next.focus = a.items[len(a.items)-1].dish
	case len(a.dishes) > 0:
		next.focus = a.dishes[0]
	case a.has(intentRecommend):
		if name := firstNamed(e, a.zh); name != "" {
			next.focus = name
		}
	}
	if len(a.intents) == 0 || a.has(intentThanks) || a.has(intentOK) || a.has(intentHello) {
		kept := b.ask
		kept.zh, kept.city = a.zh, next.ask.city
		if b.found && len(a.intents) <= 1 && !a.any(intentOrder, intentMenu, intentWeather, intentDish, intentRecommend) {
			next.ask = kept
		}
	}
	return next
}

func (a *ask) any(intents ...intent) bool {
	for _, i := range intents {
		if a.intents[i] {
			return true
		}
	}
	return false
}

// firstNamed returns the recommended dish that the answer named first.
func firstNamed(e exchange, zh bool) string {
	best, name := len(e.reply)+1, ""
	for _, c := range e.calls {
		for _, r := range c.result.Recommendations {
			for _, title := range []string{r.Dish.Name, r.Dish.NameEn} {
				if at := strings.Index(e.reply, title); title != "" && at >= 0 && at < best {
					best, name = at, r.Dish.title(zh)
				}
			}
		}
	}
	return name
}

// readMessage reads one message clause by clause.
func readMessage(words string, past before) ask {
	a := ask{words: words, intents: map[intent]bool{}, zh: isChinese(words, !past.found || past.ask.zh)}
	rest := a.takeCondition(words)
	for _, clause := range clauses(rest) {
		a.readClause(clause, past)
	}
	a.finish(past)
	return a
}

var (
	condZh     = regexp.MustCompile(`(?:如果|要是|假如|若是|若|只要)(?:今天|明天|食堂|餐厅|菜单|里面|里|上|中午|的|还|也|能)*(?:有|供应|卖)(.{0,40}?)(?:的话|库存)?(?:[，,]\s*|(?:那?就|那么|请|再|麻烦|给我|帮我|替我))`)
	condZhTail = regexp.MustCompile(`(?:食堂|餐厅|菜单|里面|里|上|今天|如果|还|也)*有([^，。？！,?!]{0,30}?)的话[，,]?|(?:如果|要是|假如)(?:还)?有(.{0,30}?)(?:的话)?$`)
	condEn     = regexp.MustCompile(`(?i)\b(?:if|in case|as long as|provided)\s+(?:there(?:'s| is| are)|(?:you|they|we)(?: still| do)? have|the (?:canteen|menu|cafeteria) (?:has|have|serves?|offers?)|today's menu has)\s+(?:still\s+)?(?:any\s+|some\s+|an?\s+|the\s+)?([^,.;?!]{0,60}?)(?:\s+(?:left|available|in stock|today|on the menu|on today's menu|in the canteen|there))*(?:\s*,\s*(?:then\s+)?|\s+then\s+|\s+((?:please\s+)?(?:order|get|buy|i'd like|i would like|give me)\b)|\s*[.;?!]|$)`)
	condEnBare = regexp.MustCompile(`(?i)\s*,?\s*\bif (?:(?:it|they)(?:'s|'re| is| are) )?(?:still )?(?:available|in stock|on the menu|there)\b`)
	condEnIs   = regexp.MustCompile(`(?i)\bif\s+(?:the\s+)?([^,.;?!]{0,60}?)\s*(?:'s|\bis|\bare)\s+(?:still\s+)?(?:available|in stock|on the menu|on today's menu|there|left|possible)(?:\s+today)?(?:\s*,\s*(?:then\s+)?|\s+then\s+|\s*[.;?!]|$)`)
)

// takeCondition cuts "如果有水煮牛肉，" or "if there is boiled beef," out of a message and keeps the dish it is about.
func (a *ask) takeCondition(words string) string {
	patterns := []*regexp.Regexp{condEn, condEnIs, condEnBare}
	if a.zh {
		patterns = []*regexp.Regexp{condZh, condZhTail}
	}
	for _, pattern := range patterns {
		m := pattern.FindStringSubmatchIndex(words)
		if m == nil {
			continue
		}
		name := ""
		if len(m) > 3 && m[2] >= 0 {
			name = words[m[2]:m[3]]
		} else if len(m) > 5 && m[4] >= 0 {
			name = words[m[4]:m[5]]
		}
		end := m[1]
		if !a.zh && len(m) > 5 && m[4] >= 0 {
			end = m[4]
		}
		a.conditional = true
		a.condDishes = dishNames(name, a.zh, nil)
		separator := ", "
		if a.zh {
			separator = "，"
			end -= len(carriedVerb.FindString(words[m[0]:end]))
		}
		return words[:m[0]] + separator + words[end:]
	}
	return words
}

var carriedVerb = regexp.MustCompile(`(?:请|再|麻烦|给我|帮我|替我)$`)
