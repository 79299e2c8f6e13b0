package demo

import (
	"regexp"
	"strings"

	"agentmesh/app/platform/numeral"
	"agentmesh/app/platform/text"
)

var (
	noOrderEn  = regexp.MustCompile(`(?i)\b(?:don't|do not|not|without|no need to|never)\s+(?:want to |place |need to |going to |make )?(?:an? )?(?:order(?:ing)?|buy)\b|\bno orders?\b`)
	strongEn   = regexp.MustCompile(`(?i)\b(?:pre-?)?order(?: me| us)?\b(?:\s+(?:for|of)\b)?(?:\s*[:,])?\s*(.*)$`)
	nounEn     = regexp.MustCompile(`(?i)\b(?:my|the|your|that|this|last|previous|in) orders?\b|\border (?:history|status|number|list)\b`)
	weakEn     = regexp.MustCompile(`(?i)\b(?:i'd (?:also )?like|i would (?:also )?like|i'll (?:have|take|get)|i will (?:have|take)|i want|i need|i'd love|get me|give me|bring me|(?:can|could|may) (?:i|you|we) (?:have|get|buy|add|bring)(?: me)?|buy(?: me)?|add|make it|make that|let me have|we'll have|book(?: me)?|how about|reserve)\b(?:\s+to (?:have|order|get|buy|eat))?\s*(.*)$`)
	notDishEn  = regexp.MustCompile(`(?i)^(?:to |you |me |the menu|a menu|an? (?:recommendation|suggestion|answer|question|forecast)|help|some (?:help|advice)|recommendations?|suggestions?|know|see|information|info|your)\b`)
	joinEn     = regexp.MustCompile(`(?i)\s*,\s*(?:and\s+|plus\s+)?|\s+(?:and|plus|along with|together with|as well as)\s+|\s*&\s*|\s*\+\s*`)
	leadEn     = regexp.MustCompile(`(?i)^(?:(?:please|get|and|then|also|just|so|well|ok|okay|yes|me|us|the|some|any|of|more|maybe|with it|kindly|hi|hello|to)\b[ ,]*)+`)
	trailEn    = regexp.MustCompile(`(?i)(?:[ ,.]+|\b(?:please|for (?:me|us|lunch|dinner|today|my lunch|takeaway)|today|tonight|now|thanks|thank you|then|as well|too|each|instead|from the (?:canteen|menu)|in the canteen|right away|if (?:you can|possible)))+$`)
	changeEn   = regexp.MustCompile(`(?i)^(?:but |and |please )*((?:without|with no|no|not|less|extra|hold|with extra|skip|leave out|remove|drop|mild|i don't want|don't want)(?: the| any)?\b\s*(.*))$`)
	takeOutEn  = regexp.MustCompile(`(?i)^(?:please |actually |but |and )*(?:remove|drop|skip|leave out|cancel|forget|i don't want|i do not want|take out|take off|no)(?: the| any)? (.+?)(?: from (?:my|the) order| after all| anymore| any more| please)*$`)
	pronounEn  = regexp.MustCompile(`(?i)^(?:it|that|this|them|that one|this one|the same(?: again)?|same again|one|ones|the first one|dish|something(?: to eat)?|anything|food|lunch|dinner|breakfast|meal|takeaway|more|portions?|of (?:it|them|that|those)|of the same)?$`)
	questionEn = regexp.MustCompile(`(?i)^(?:how|what|which|who|when|where|why|is|are|do|does|did|can|could|will|would|should|tell|show)\b|\?$`)
	timesTail  = regexp.MustCompile(`\s+[xX×*]\s*\d+$`)
)

// orderEn returns the part of a clause that names dishes and quantities, if the clause orders something.
func orderEn(clause string, known []dish, ordering, other bool) (string, bool) {
	if m := strongEn.FindStringSubmatch(clause); m != nil && !nounEn.MatchString(clause) && !strings.EqualFold(m[1], "to") {
		return m[1], !other || !questionEn.MatchString(clause)
	}
	if m := weakEn.FindStringSubmatch(clause); m != nil && !other {
		if notDishEn.MatchString(m[1]) || m[1] == "" {
			return "", false
		}
		return m[1], true
	}
	bare := leadEn.ReplaceAllString(clause, "")
	phrase, ok := numeral.Find(bare)
	switch {
	case other || questionEn.MatchString(clause):
		return "", false
	case ok && phrase.Start == 0 && !pronounEn.MatchString(strings.TrimSpace(trailEn.ReplaceAllString(bare[phrase.End:], ""))):
		article := strings.EqualFold(phrase.Text, "a") || strings.EqualFold(phrase.Text, "an")
		return bare, ordering || !article || isKnown(strings.TrimSpace(bare[phrase.End:]), known)
	case ok && ordering && phrase.Start == 0 && trailEn.ReplaceAllString(bare[phrase.End:], "") == "":
		return bare, true
	case ordering && isKnown(trailEn.ReplaceAllString(bare, ""), known):
		return bare, true
	case wishesKnown(bare, false, known):
		return bare, true
	case timesTail.MatchString(trailEn.ReplaceAllString(clause, "")):
		return clause, true
	}
	return "", false
}

// itemsEn reads "two boiled beef and a steamed rice" and "mapo tofu x2, rice".
func itemsEn(text string, known []dish) []item {
	var items []item
	parts := splitNames(text, joinEn, known)
	for i, part := range parts {
		it := itemEn(part, known)
		switch {
		case it.dish == "" && it.note != "" && len(items) > 0:
			if out, ok := changed(items, it.note, false); ok {
				items = out
			} else {
				items = addNote(items, len(items)-1, it.note)
			}
		case len(items) > 0 && !it.counted && items[len(items)-1].note != "" && moreWishEn.MatchString(it.dish):
			items = addNote(items, len(items)-1, it.dish)
		case it.dish != "" || it.counted || len(parts) == 1 && i == 0:
			items = append(items, it)
		}
	}
	return items
}

func itemEn(part string, known []dish) item {
	it := oneOf("")
	part = trailEn.ReplaceAllString(leadEn.ReplaceAllString(strings.TrimSpace(part), ""), "")
	if first, ok := numeral.Find(part); ok && first.Start == 0 {
		it.quantity, it.counted, part = first.Quantity, true, part[first.End:]
	}
	part, it.note = splitWish(leadEn.ReplaceAllString(strings.TrimSpace(part), ""), false, known)
	for _, words := range []*string{&it.note, &part} {
		if all := numeral.FindAll(*words); len(all) > 0 && !it.counted && all[len(all)-1].End == len(*words) {
			last := all[len(all)-1]
			it.quantity, it.counted, *words = last.Quantity, true, strings.TrimSpace((*words)[:last.Start])
		}
	}
	part = leadEn.ReplaceAllString(strings.TrimSpace(part), "")
	part = strings.Trim(trailEn.ReplaceAllString(part, ""), " ,.()\"'")
	if !pronounEn.MatchString(part) {
		it.dish = text.Cut(part, 80)
	}
	return it
}
