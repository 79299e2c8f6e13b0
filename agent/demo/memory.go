package demo

import (
	"regexp"
	"strings"
)

var (
	rememberWords  = regexp.MustCompile(`^(?:请|麻烦|帮我|你|要|以后|好的?)*(?:记住|记下来?|记一下|记得|帮我记)(?:一下|了)?[：: ]*(.*)$|(?i)^(?:please |can you |could you |also )*(?:remember|keep in mind|note|make a note|don't forget|do not forget)(?: this)?(?: that)?[: ]+(.*)$`)
	recallWords    = regexp.MustCompile(`(?:你)?(?:还)?(?:记得|记住|记着|知道)(?:了|关于)?(?:我的?|些)?(?:哪些|什么|啥|多少)|我的(?:偏好|口味|喜好|忌口)(?:是|有|都)?(?:什么|哪些|啥|$)|我有(?:什么|哪些|啥)(?:偏好|忌口|喜好)|(?:看看|列出|查看|说说)(?:你)?(?:记得的|记住的|我的)?(?:偏好|记忆|喜好)|你(?:还)?(?:记得|知道)我(?:的(?:偏好|口味|喜好|忌口|事))?(?:吗|么|什么|$)|(?i)\bwhat (?:do|did|can|have) you (?:still )?(?:remember|know|recall|saved?|remembered)\b|\b(?:do|can) you remember\b|\bwhat(?:'s| is| are) my (?:preferences?|tastes?|diet|allerg)|\b(?:list|show|tell)(?: me)?(?: all)? my (?:preferences|memories)\b|\brecall my\b`)
	forgetWords    = regexp.MustCompile(`^(?:请|麻烦|帮我|你)*(?:忘掉|忘了|忘记|别再记(?:得|着)?|不要再记(?:得|着)?|不用记(?:得|着)?|删除|删掉|清除|清空)(?:记忆|偏好|关于)?[：: ]*(.*)$|(?i)^(?:please |can you |could you )*(?:forget|delete the memory|stop remembering|don't remember|do not remember|remove the preference)(?: about)?(?: that)?[: ]*(.*)$`)
	forgetAll      = regexp.MustCompile(`^(?:关于)?(?:我|用户)?的?(?:所有|全部|一切)|^我?的?(?:偏好|记忆)$|(?i)^(?:about )?(?:me and )?(?:everything\b.*|it all|all (?:of )?(?:it|my|the|that)\b.*|my (?:preferences|memories))$`)
	preferenceTail = regexp.MustCompile(`(?i)\s+(?:preferences?|memory|memories)$|(?:的|这件|这个)(?:偏好|记忆|事情?)$`)
	subjectZh      = regexp.MustCompile(`^(?:我们|本人|我)`)
	factZh         = regexp.MustCompile(`^我(?:不|对|是|喜欢|爱|讨厌|住|在|只|吃素|很|有|怕|忌)`)
	factEn         = regexp.MustCompile(`(?i)^i(?:'m| am| don't| do not| can't| cannot| like| love| hate| prefer| only| live| have| never)\b.*\b(?:eat|food|spicy|allerg|vegetarian|vegan|live|drink|like|love|hate|prefer)`)
	thirdPerson    = regexp.MustCompile(`(?i)^i (like|love|hate|prefer|live|work|eat|drink|need|want|avoid)\b`)

	kindAllergy = regexp.MustCompile(`过敏|(?i)allerg|intoleran`)
	kindPlace   = regexp.MustCompile(`住|城市|老家|工作地|在(?:` + citiesZh + `)|(?i)\blives?\b|\bcity\b|\bbased in\b|\bworks? in\b`)
	kindTaste   = regexp.MustCompile(`喜欢|爱吃|爱喝|偏爱|口味|讨厌|(?i)\blikes?\b|\bloves?\b|\bprefers?\b|\bhates?\b|\benjoys?\b|\bfavou?rite\b`)
	kindDiet    = regexp.MustCompile(`吃|喝|素|忌|辣|(?i)\beat|\bdrink|\bvegetarian\b|\bvegan\b|\bspicy\b|\bdiet\b|\bhalal\b`)
)

// statement makes "我不吃辣" and "I don't eat spicy food" a sentence about the user.
func statement(words string, zh bool) string {
	words = strings.Trim(words, " .,，。!！：:")
	if words == "" {
		return ""
	}
	if zh {
		words = strings.TrimSuffix(strings.TrimSuffix(words, "哦"), "吧")
		if subjectZh.MatchString(words) {
			return "用户" + subjectZh.ReplaceAllString(words, "")
		}
		return "用户" + strings.TrimPrefix(words, "用户")
	}
	return englishStatement(words)
}

func englishStatement(words string) string {
	lower := strings.ToLower(words)
	for _, pair := range [][2]string{
		{"i don't ", "User does not "},
		{"i do not ", "User does not "},
		{"i can't ", "User cannot "},
		{"i cannot ", "User cannot "},
		{"i am ", "User is "},
		{"i'm ", "User is "},
		{"i have ", "User has "},
		{"my ", "User's "},
	} {
		if strings.HasPrefix(lower, pair[0]) {
			return pair[1] + words[len(pair[0]):]
		}
	}
	switch {
	case thirdPerson.MatchString(words):
		return thirdPerson.ReplaceAllString(words, "User ${1}s")
	case strings.HasPrefix(lower, "user"):
		return words
	}
	return "User: " + words
}

// memoryQuery is the part of a statement by which it is looked up: without its subject.
func memoryQuery(words string, zh bool) string {
	text := statement(preferenceTail.ReplaceAllString(words, ""), zh)
	for _, prefix := range []string{"用户", "User: ", "User's ", "User "} {
		if strings.HasPrefix(text, prefix) {
			return strings.TrimSpace(strings.TrimPrefix(text, prefix))
		}
	}
	return text
}

// kindOf sorts a statement into one of the kinds that remember_preference takes.
func kindOf(text string) string {
	switch {
	case kindAllergy.MatchString(text):
		return "allergy"
	case kindPlace.MatchString(text):
		return "place"
	case kindTaste.MatchString(text):
		return "taste"
	case kindDiet.MatchString(text):
		return "diet"
	}
	return "other"
}
