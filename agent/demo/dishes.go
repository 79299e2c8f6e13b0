package demo

import (
	"regexp"
	"strings"

	"agentmesh/app/platform/text"
)

var (
	askedZh   = regexp.MustCompile(`(?:的)?(?:现在|今天|目前|一共|每|一)?(?:一)?(?:份|碗|个|盘|杯|瓶)?(?:要|是|卖)?(?:多少钱|什么价格?|价格(?:是)?(?:多少)?|价钱|几块钱|贵不贵|贵吗)(?:一?[份碗个盘杯瓶])?|(?:的)?(?:现在|今天|目前|还|都)*(?:有|剩下?|剩余)(?:了)?(?:几|多少)(?:份|碗|个|盘|杯|瓶)?(?:库存)?|(?:的)?(?:现在|今天|目前|还|都)*(?:有)?(?:库存|存货|货)(?:还)?(?:有|是|够)?(?:没有|多少|怎么样|情况|吗)*|辣不辣|辣吗|好吃吗|好不好吃|(?:卖完|售罄)了?(?:吗|没有|没)?|(?:还)?有(?:没有|吗|么)?$|在(?:今天的?)?菜单上吗|是多少`)
	askLeadZh = regexp.MustCompile(`^(?:请问一下|请问|帮我|麻烦|我想知道|我想问|想知道|想问|告诉我|查询|查一下|查查|查|看一下|看看|问一下|一下|今天|明天|现在|食堂里?|餐厅|你们|咱们|这里|里面|还有没有|有没有|还有|有|那么|那|和|的|还|再|，| )+`)
	askTailZh = regexp.MustCompile(`(?:的|呢|吗|么|啊|呀|吧|了|还|现在|今天|是|还有|要|一份|都|卖|，| |。)+$`)
	aboutZh   = regexp.MustCompile(`^(?:那么|那|还有|和|换成)?(.+?)(?:呢|怎么样|如何)$`)

	askedEn = []*regexp.Regexp{
		regexp.MustCompile(`(?i)\bhow much (?:is|are|does|do|for|would)\s+(.+?)(?:\s+(?:costs?|be))?$`),
		regexp.MustCompile(`(?i)\bhow many (?:(?:portions?|servings?|bowls?|plates?|dishes|pieces)\s+(?:of\s+)?)?(.*?)\s*(?:(?:are|is)(?: there| still| you have)?|do you(?: still)? have|have you got|remain)\b`),
		regexp.MustCompile(`(?i)\b(?:price|cost|stock|availability)s?(?: and (?:the )?(?:price|stock|availability))? (?:of|for) (.+)$`),
		regexp.MustCompile(`(?i)\bwhat (?:does|do|would) (.+?) costs?$`),
		regexp.MustCompile(`(?i)\b(?:do|does) (?:you|they|we|the canteen)(?: still| also)? (?:have|sell|serve|offer)\s+(.+)$`),
		regexp.MustCompile(`(?i)\b(?:is|are) there(?: still)?\s+(.+)$`),
		regexp.MustCompile(`(?i)^(?:and |so |but )?(?:is|are)\s+(.+?)(?:\s+still)?\s+(?:left|available|in stock|spicy|on the menu|on today's menu|sold out|expensive)$`),
		regexp.MustCompile(`(?i)^(.*?[^n])(?:'s)? (?:price|stock)(?: and (?:price|stock))?$`),
	}
	askLeadEn = regexp.MustCompile(`(?i)^(?:(?:please|and|the|a|an|any|some|still|one|portion|portions|bowl|plate|of|tell me|what's|what is|what are|me|also|ok|so|check|show|your|is|are)\b[ ,]*)+`)
	askTailEn = regexp.MustCompile(`(?i)(?:[ ,.]+|\b(?:left|today|now|please|available|in stock|in the canteen|at the canteen|on the menu|on today's menu|for me|right now|still|remaining|at the moment|there|have|costs?))+$`)
	pronouns  = regexp.MustCompile(`(?i)^(?:it|that|this|they|them|these|those|one|ones|that one|this one|dish|that dish|this dish|food|many|in|portions?)?$`)
	aboutEn   = regexp.MustCompile(`(?i)^(?:and |so |ok |okay |then )*(?:(?:what|how) about|and)\s+(.+?)$`)
)

// askedDishes returns the dishes that a question about price or stock names.
func askedDishes(clause string, zh bool, known []dish) []string {
	if zh {
		rest := askedZh.ReplaceAllString(clause, "")
		return dishNames(rest, zh, known)
	}
	clause = strings.TrimSpace(politeEn.ReplaceAllString(clause, ""))
	for _, pattern := range askedEn {
		if m := pattern.FindStringSubmatch(clause); m != nil {
			return dishNames(m[1], zh, known)
		}
	}
	return nil
}

var politeEn = regexp.MustCompile(`(?i)(?:\s+(?:please|today|now|for me))+$`)

// dishNames cleans and separates names; pronouns and leftovers are no names.
func dishNames(words string, zh bool, known []dish) []string {
	separator, lead, tail := joinEn, askLeadEn, askTailEn
	if zh {
		separator, lead, tail = splitZh, askLeadZh, askTailZh
	}
	var names []string
	for _, name := range splitNames(words, separator, known) {
		name = strings.TrimSpace(lead.ReplaceAllString(strings.TrimSpace(name), ""))
		name = strings.Trim(tail.ReplaceAllString(name, ""), " ,.，?？“”\"'「」《》")
		if zh && pronounZh.MatchString(name) || pronouns.MatchString(name) || len(names) == 4 {
			continue
		}
		names = append(names, text.Cut(name, 60))
	}
	return names
}
