package demo

import (
	"regexp"
	"strings"
	"unicode"

	"agentmesh/app/platform/text"
)

// What a clause is about. Chinese words stand first, English ones behind them.
var (
	whoWords    = regexp.MustCompile(`你是谁|你叫什么|你是什么|你的名字|(?:介绍|说说)(?:一下)?(?:你|自己)|(?i)\bwho(?: are|'re) you\b|\bwhat are you\b|\bwhat(?:'s| is) your name\b|\bintroduce yourself\b|\babout yourself\b|\bare you (?:an? )?(?:ai|bot|robot|human|chatgpt|real)\b`)
	helpWords   = regexp.MustCompile(`你(?:能|会|可以)(?:做|干|帮)?(?:些)?(?:什么|啥)|帮助|怎么用|有什么功能|能帮我做什么|(?i)^(?:please )?help(?: me| please)?$|\bwhat can you do\b|\bhow (?:do|can) (?:i|you) (?:use|help)\b|\bwhat do you do\b|\byour (?:abilities|features|skills)\b`)
	helloWords  = regexp.MustCompile(`^(?:你好|您好|嗨|哈喽|哈啰|早上好|早安|下午好|中午好|晚上好|大家好|在吗|hello|hi|hey)(?:呀|啊|哇|吗)?$|(?i)^how are you\b.*$|(?i)^(?:hello|hi|hey|howdy|greetings|good (?:morning|afternoon|evening|day))(?: there| everyone| demo| agentmesh)?$`)
	thanksWords = regexp.MustCompile(`^(?:好的?|太好了)?(?:谢谢|多谢|感谢|谢啦|谢了|辛苦了)|(?i)^(?:ok(?:ay)? |great |many )?(?:thanks|thank you|thx|cheers|much appreciated)\b`)
	byeWords    = regexp.MustCompile(`^(?:再见|拜拜|回见|明天见)|(?i)^(?:good ?bye|bye|see you)\b`)
	okWords     = regexp.MustCompile(`^(?:好|好的|好吧|是|是的|对|对的|好啊|行|可以|嗯+|没问题|知道了|明白了?|收到|不用了|不用|算了|没事了?|没有了?)(?:了|吧|啊)?$|(?i)^(?:ok|okay|yes|yeah|yep|fine|great|good|cool|sure|got it|i see|all right|alright|no|nope|never ?mind|that's all|no thanks)$`)

	clockWords = regexp.MustCompile(`几点|现在(?:的|是)?(?:什么)?时间|时间是(?:多少|几)|报(?:一下)?时|几号|几月几|星期几|周几|礼拜几|什么日子|(?i)\bwhat(?:'s| is)? (?:the )?(?:current |local )?time\b|\bcurrent time\b|\b(?:tell|give) me the time\b|\bwhat(?:'s| is) (?:the |today's )(?:current )?date\b|\bto(?:day|morrow)'s date\b|\bwhat date\b|\b(?:what|which) day\b(?: of the week)? (?:is|of)|\btime is it\b`)
	hoursWords = regexp.MustCompile(`开门|关门|营业|开饭|开始|结束|打烊|(?i)\bopens?\b|\bcloses?\b|\bopening\b`)

	weatherWords = regexp.MustCompile(`天气|气温|温度|多少度|下雨|有雨|下雪|带伞|雨伞|刮风|冷不冷|热不热|(?i)\bweather\b|\bforecast\b|\btemperature\b|\brain(?:ing|y)?\b|\bsnow(?:ing|y)?\b|\bumbrella\b|\bhow (?:hot|cold|warm)\b|\b(?:hot|cold|warm|sunny) (?:outside|out there)\b`)

	menuWords  = regexp.MustCompile(`菜单|菜谱|有(?:些)?(?:什么|啥|哪些)(?:好吃|菜|吃)|什么菜|哪些菜|菜有(?:什么|哪些|啥)|吃(?:点|些)?(?:什么|啥)|菜品|菜式|(?:食堂|餐厅)[^，。？！]{0,8}(?:有(?:些)?(?:什么|啥|哪些)|供应|卖(?:什么|啥))|(?i)\bmenu\b|\bwhat(?:'s| is| are)?(?: there)? (?:to eat|for (?:lunch|dinner|breakfast))\b|\b(?:what|which) (?:dish(?:es)?|foods?|meals?)\b|\b(?:canteen|cafeteria|kitchen)\b.*\b(?:have|has|serves?|serving|offers?|offering|cooking)\b|\bwhat(?:'s| is| are)? .*\bin the (?:canteen|cafeteria)\b|\bdishes (?:are|do|does)\b|\bwhat can i eat\b`)
	kindWords  = regexp.MustCompile(`(?:有没有|有)(?:素菜|素食|荤菜|汤|饮料|喝的|甜品|甜点|主食|不辣的|辣的|海鲜|蔬菜)(?:菜|吗|么|呢)*$|有(?:些)?(?:什么|啥|哪些)(?:素|荤|汤|饮料|喝的|甜品|甜点|主食|辣|不辣|海鲜|蔬菜)|(?i)\b(?:what|which|any) (?:vegetarian|vegan|veggie|spicy|meat|seafood|soups?|drinks?|desserts?|staples?)\b`)
	placeWords = regexp.MustCompile(`食堂|餐厅|菜单|(?i)\bcanteen\b|\bcafeteria\b|\bmenu\b`)

	recommendWords = regexp.MustCompile(`推荐|适合我|适合的|合我(?:的)?(?:口味|胃口)|建议(?:我)?吃|吃(?:点|些)?(?:什么|啥)(?:比较)?(?:好|合适)|该(?:吃|点)(?:点)?(?:什么|啥)|想吃|(?i)\brecommend(?:ation|ations|ed)?\b|\bsuggest(?:ion|ions)?\b|\bsuits?\b|\bsuitable\b|\bwhat should i (?:eat|have|order|get)\b|\b(?:good|right) (?:\w+ )?for me\b|\bsomething for me\b|\bfits? (?:me|my)\b|\bmatch(?:es)? my\b|\bbased on my\b|\bpick (?:a|one|me|something)\b`)
	noRecommend    = regexp.MustCompile(`(?:不用|不要|别|无需|不必)(?:再|给我)?推荐|(?i)\b(?:don't|do not|no need to) (?:recommend|suggest)\b`)
	suitsWords     = regexp.MustCompile(`适合|合我|偏好|口味|喜好|忌口|(?i)\bsuits?\b|\bsuitable\b|\bfor me\b|\bfits?\b|\bmatch|\bpreferences?\b|\btastes?\b`)
	severalWords   = regexp.MustCompile(`什么|哪些|几道|几个|几样|(?i)\bwhat\b|\bwhich\b|\bdishes\b|\bsome\b|\bfew\b|\brecommendations\b`)
	mildWords      = regexp.MustCompile(`不辣|不要辣|别太辣|(?i)\bnot (?:too )?spicy\b|\bnon-spicy\b|\bmild\b`)
	queryWords     = regexp.MustCompile(`清淡|素菜|素食|素的|酸甜|汤|海鲜|牛肉|羊肉|鸡肉|猪肉|鱼|虾|豆腐|蔬菜|饮料|甜品|主食|低脂|健康|下饭|面条|辣|(?i)\bvegetarian\b|\bvegan\b|\bspicy\b|\blight\b|\bsoup\b|\bseafood\b|\bbeef\b|\bchicken\b|\bpork\b|\blamb\b|\bfish\b|\bshrimp\b|\btofu\b|\bvegetables?\b|\bdrink\b|\bdessert\b|\bnoodles?\b|\bsweet\b|\bsour\b|\bhealthy\b`)
	againWords     = regexp.MustCompile(`换(?:一)?(?:道|个|样|份|种|别的|点别的)|换换|(?:还有|来点|有没有)(?:什么)?(?:别的|其他的?|其它的?)|再推荐|再来一个推荐|不喜欢这|(?i)\b(?:something|anything|someone|somewhere) else\b|\b(?:another|different|other) (?:one|dish|recommendation|suggestion|option)\b|^(?:and )?another(?: please)?$|\bnot that one\b|\bwhat else\b`)

	dishWords = regexp.MustCompile(`多少钱|价格|价钱|什么价|几块钱|贵不贵|贵吗|库存|还有(?:几|多少)|剩(?:下|余|了)?(?:几|多少)|有货|卖完|售罄|辣不辣|辣吗|好吃吗|好不好吃|(?:还有|有)[^，。？！]{0,12}(?:吗|没有|么)$|有没有|(?i)\bhow much\b|\bprices?\b|\bcosts?\b|\bin stock\b|\bhow many\b|\bleft\b|\bavailable\b|\bavailability\b|\bstock\b|\bsold out\b|\b(?:do|does) (?:you|they|the canteen)(?: still)? (?:have|sell|serve)\b|\b(?:is|are) there\b|^(?:is|are) (?:the |your )?.* spicy\b`)

	orderHistory = regexp.MustCompile(`(?:我的|最近的?|历史|查(?:一下)?|看(?:看)?|取消|退|修改)(?:刚才的|上一个|那个)?订单|退(?:单|掉|款)|取消(?:刚才|上一)|(?i)\b(?:my|recent|previous|last|cancel(?: the| my)?|refund|order) (?:orders?|history|status)\b|\bcancel (?:it|that)\b|\bwhere is my order\b`)
)

// isChinese tells the language of a message: an English sentence may name a dish in Chinese and stays English. A
// message with no word at all keeps the language before it.
func isChinese(words string, before bool) bool {
	han, latin := 0, 0
	inWord := false
	for _, r := range words {
		letter := r < 0x250 && unicode.IsLetter(r)
		if letter && !inWord {
			latin++
		}
		inWord = letter || inWord && r == '\''
		if text.IsHan(r) {
			han++
		}
	}
	switch {
	case han == 0 && latin == 0:
		return before
	case han == 0:
		return false
	case latin >= 2 && han <= 8 && !chineseGlue.MatchString(words):
		return false
	}
	return true
}

var (
	chineseGlue = regexp.MustCompile(`[我你的吗呢帮订来份]|什么|多少|怎么|推荐|天气|菜单|食堂`)
	clauseEnd   = regexp.MustCompile(`[，。！？；;!?\n]+|,(?:\s|$)|\.(?:\s|$)|\s+(?i:and|then|but|also)\s+(?i:(?:then |also |please )*)(?i:(what|how|is|are|do|does|order|recommend|suggest|tell|show|which|get me|give me|remember|forget|i'd|i would|can you|could you|please|will)\b)|(?:然后|顺便|同时|接着|并且|而且)|([并再就]帮我|[并再]给我|再来)|和(查|看看|告诉|推荐|帮我)`)
)

// clauses cuts a message at its punctuation and where a new request begins without any.
func clauses(words string) []string {
	var parts []string
	from := 0
	for _, m := range clauseEnd.FindAllStringSubmatchIndex(words, -1) {
		parts = append(parts, words[from:m[0]])
		from = m[1]
		for _, group := range [][2]int{{m[2], m[3]}, {m[4], m[5]}, {m[6], m[7]}} {
			if group[0] >= 0 {
				from = group[0]
			}
		}
	}
	parts = append(parts, words[from:])
	kept := parts[:0]
	for _, part := range parts {
		if part = strings.TrimSpace(strings.Trim(part, ` .,、"“”「」~～…:：`)); part != "" {
			kept = append(kept, part)
		}
	}
	return kept
}
