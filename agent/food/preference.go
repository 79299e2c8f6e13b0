package food

import (
	"regexp"
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

var (
	clauseBreak = regexp.MustCompile(`[，,。；;！!？?\n]|但是|不过|但|(?i:\bbut\b|\bhowever\b|\.\s)`)
	listBreak   = regexp.MustCompile(`[、/]|和|与|跟|及|或者?|还有|(?i:\band\b|\bor\b|\bnor\b)`)
	verbs       = regexp.MustCompile(`(?P<avoid>不太能吃|不怎么吃|不能吃|不可以吃|不想吃|不爱吃|不喜欢吃|不太喜欢吃?|不喜欢|不爱|不吃|不要|不能碰|不碰|不放|不加|别放|忌口|忌|戒|讨厌|避免|避开|受不了|吃不了|` +
		`(?i:\b(?:does|do|did)(?:n't| not) (?:eat|like|want|touch|take)|\bcan(?:'t|not| not) (?:eat|have|stand|take|handle|tolerate)|\bnever eats?|\bavoid(?:s|ing)?|\bhates?|\bdislikes?|\bnot a fan of|\bstays? away from|\bwithout|\bno)\b)` +
		`|(?P<fine>不怕|能吃|可以吃|(?i:\bcan eat|\bfine with|\bok with|\bokay with)\b)` +
		`|(?P<fear>怕)` +
		`|(?P<like>无辣不欢|最喜欢吃?|喜欢吃?|最?爱吃|最爱|偏爱|偏好|钟爱|想吃|爱|(?i:\b(?:likes?|loves?|enjoys?|prefers?|favou?rites?(?: dish| food)?(?: is| are)?|fond of))\b)`)
	allergyZh = regexp.MustCompile(`(不)?对([^，。；,;过]{1,12}?)(不)?过敏|([^，。；,;、和对用户我有]{1,6})过敏`)
	allergyEn = regexp.MustCompile(`(?i)\b(not )?(?:allergic|intolerant) to ([a-z ]+)|\b([a-z]+)(?:[- ](?:allergy|allergies|intolerant|intolerance|free)\b)`)
	notSpicy  = regexp.MustCompile(`不辣|免辣|去辣|怕辣|(?i:\bnot (?:too |very |so |that )?spicy|\bnon-spicy|\bnothing spicy|\bmild\b)`)
	veggie    = regexp.MustCompile(`(不是|不|非)?(纯素|吃素|素食|茹素|吃斋|素的)|(?i:\b(not an? |isn't an? |not )?(vegan|vegetarian|plant-based|meatless)\b)`)
	lightFood = regexp.MustCompile(`(不)?(清淡|少油|清爽)|(?i:\b(not )?(light|less oil|less greasy)\b)`)
	fillerOf  = regexp.MustCompile(`^(?:吃|太|很|任何|所有|各种|一切|过于|的|是|放|加)+|(?:的?(?:东西|食物|食品|类)|的菜品?|的|了|口味)+$` +
		`|(?i:^(?:to eat|eating|any|all|the|some|too|very|really|so|is|are|food|eat)\b\s*)+|(?i:\s*\b(?:food|foods|dishes|dish|things|stuff|either|at all|please|meals?|is|are|am|also|he|she|they|it|who|i)\b)+$`)
	spicyTerm = regexp.MustCompile(`^(?:辣|辣椒|辣菜|麻辣|香辣|辛辣|重辣|辣味)$|(?i:^(?:spicy|spice|chili|chilli|hot|spiciness|anything spicy|hot spicy|chili peppers?)$)`)
)

// taste is what a person's preferences come to.
type taste struct {
	noSpicy, likesSpicy, vegetarian, light bool
	avoid                                  []string
	allergies                              []string
	like                                   []string
}

// tasteOf reads preference sentences in Chinese and English; a later one wins over an earlier.
func tasteOf(sentences []string) taste {
	var t taste
	for _, s := range sentences {
		t.read(strings.ReplaceAll(s, "’", "'"))
	}
	return t
}

func (t *taste) read(said string) {
	for _, m := range veggie.FindAllStringSubmatch(said, -1) {
		if m[1] == "" && m[3] == "" {
			t.vegetarian = true
			if kind := strings.ToLower(m[2] + m[4]); kind == "纯素" || kind == "vegan" || kind == "plant-based" {
				t.avoid = append(t.avoid, "鸡蛋", "奶制品")
			}
		}
	}
	for _, m := range lightFood.FindAllStringSubmatch(said, -1) {
		t.light = t.light || m[1] == "" && m[3] == ""
	}
	said = t.readAllergies(said)
	if notSpicy.MatchString(said) && !strings.Contains(said, "不怕辣") {
		t.noSpicy, t.likesSpicy = true, false
	}
	last := ""
	for _, clause := range clauseBreak.Split(said, -1) {
		last = t.readClause(clause, last)
	}
}

// readAllergies takes allergies out of a text, and the words that tell of them.
func (t *taste) readAllergies(said string) string {
	for _, m := range allergyZh.FindAllStringSubmatch(said, -1) {
		if m[1] == "" && m[3] == "" {
			t.addAllergies(m[2] + m[4])
		}
	}
	for _, m := range allergyEn.FindAllStringSubmatchIndex(said, -1) {
		group := func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return said[m[2*n]:m[2*n+1]]
		}
		if group(1) != "" {
			continue
		}
		t.addAllergies(group(2) + group(3))
		for rest := said[m[1]:]; group(2) != "" && strings.HasPrefix(rest, ","); { // "peanuts, shrimp and milk"
			clause := clauseBreak.Split(rest[1:], 2)[0]
			if !t.addAllergies(clause) {
				break
			}
			rest = rest[1+len(clause):]
		}
	}
	return allergyEn.ReplaceAllString(allergyZh.ReplaceAllString(said, "，"), ",")
}

// addAllergies adds the kinds of food in a list, and tells whether there was any.
func (t *taste) addAllergies(list string) bool {
	added := false
	for _, term := range terms(list) {
		if _, known := groupOf(term); known || text.HasHan(term) {
			t.allergies, added = append(t.allergies, term), true
		}
	}
	return added
}

// readClause reads each verb with its list. A clause without a verb goes on with the list of the one before: 不吃香菜，葱.
func (t *taste) readClause(clause, last string) string {
	found := verbs.FindAllStringSubmatchIndex(clause, -1)
	if len(found) == 0 {
		for _, term := range terms(clause) {
			if _, known := groupOf(term); known && last != "" {
				t.take(last, term)
			}
		}
		return last
	}
	for i, m := range found {
		end := len(clause)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		for n, name := range verbs.SubexpNames() {
			if name != "" && m[2*n] >= 0 {
				last = name
			}
		}
		if before := clause[:m[0]]; strings.HasSuffix(before, "不是") || strings.HasSuffix(before, "并非") {
			last = ""
			continue
		}
		if strings.HasPrefix(clause[m[0]:], "无辣不欢") {
			t.take("like", "辣")
		}
		for _, term := range terms(clause[m[1]:end]) {
			t.take(last, term)
		}
	}
	return last
}

func (t *taste) take(verb, term string) {
	spicy := spicyTerm.MatchString(term)
	switch {
	case spicy && (verb == "avoid" || verb == "fear"):
		t.noSpicy, t.likesSpicy = true, false
	case spicy && (verb == "like" || verb == "fine"):
		t.noSpicy, t.likesSpicy = false, verb == "like"
	case verb == "avoid" && isMeat(term):
		t.vegetarian = true
	case verb == "avoid" && slices.Contains([]string{"油腻", "油", "greasy", "oily"}, strings.ToLower(term)):
		t.light = true
	case verb == "avoid":
		t.avoid = append(t.avoid, term)
	case verb == "like" && lightFood.MatchString(term):
		t.light = true
	case verb == "like":
		t.like = append(t.like, term)
	}
}

func isMeat(term string) bool {
	return slices.Contains([]string{"肉", "肉类", "荤", "荤菜", "荤腥", "meat", "any meat"}, strings.ToLower(term))
}

// terms splits a list into words and drops what says nothing.
func terms(list string) []string {
	var out []string
	for _, term := range listBreak.Split(list, -1) {
		for term = strings.TrimSpace(term); ; {
			next := strings.TrimSpace(fillerOf.ReplaceAllString(term, ""))
			if _, known := groupOf(term); known || next == term {
				break
			}
			term = next
		}
		if n := len([]rune(term)); term != "" && n <= 24 && (text.HasHan(term) || n > 1) {
			out = append(out, term)
		}
	}
	return out
}

// conflict is why a dish does not suit a person.
type conflict struct {
	code, zh, en string
}

// conflicts lists what speaks against a dish, the gravest first.
func (t taste) conflicts(d Dish) []conflict {
	var out []conflict
	for _, term := range t.allergies {
		if d.isOf(term) {
			zh, en := termNames(term)
			out = append(out, conflict{"allergen", "您对" + zh + "过敏，这道菜含" + zh, "You are allergic to " + en + "; this dish contains it"})
		}
	}
	if t.noSpicy && d.Spicy {
		out = append(out, conflict{"spicy", "您不吃辣，这道菜是辣的", "You do not eat spicy food; this dish is spicy"})
	}
	if t.vegetarian && !d.Vegetarian {
		out = append(out, conflict{"vegetarian", "您吃素，这道菜不是素的", "You eat vegetarian food; this dish is not vegetarian"})
	}
	for _, term := range t.avoid {
		if d.isOf(term) {
			zh, en := termNames(term)
			out = append(out, conflict{"avoid", "您不吃" + zh + "，这道菜含" + zh, "You do not eat " + en + "; this dish contains it"})
		}
	}
	return out
}

// termNames gives a word in both languages, where its kind is known.
func termNames(term string) (zh, en string) {
	g, ok := groupOf(term)
	switch {
	case !ok:
		return term, term
	case text.HasHan(term):
		return term, g.en[0]
	}
	return g.zh[0], strings.ToLower(term)
}
