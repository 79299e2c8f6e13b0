package demo

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	knownCityZh = regexp.MustCompile(`北京|上海|广州|深圳|杭州|成都|武汉|西安|南京|重庆|天津|苏州|青岛|大连|厦门|长沙|郑州|济南|合肥|福州|昆明|沈阳|哈尔滨|长春|贵阳|南宁|海口|三亚|兰州|西宁|拉萨|乌鲁木齐|呼和浩特|银川|太原|石家庄|南昌|宁波|无锡|佛山|东莞|珠海|香港|澳门|台北|高雄|东京|伦敦|巴黎|纽约`)
	knownCityEn = regexp.MustCompile(`(?i)\b(?:beijing|shanghai|guangzhou|shenzhen|hangzhou|chengdu|wuhan|xi'?an|nanjing|chongqing|tianjin|suzhou|qingdao|dalian|xiamen|changsha|zhengzhou|jinan|hefei|fuzhou|kunming|shenyang|harbin|changchun|guiyang|nanning|haikou|sanya|lanzhou|lhasa|urumqi|ningbo|wuxi|zhuhai|hong kong|macau|taipei|tokyo|london|paris|new york)\b`)

	beforeWeather = regexp.MustCompile(`^(.*?)(?:未来|接下来|这几天|最近|今后)?(?:的)?(?:天气|气温|温度|会不会下|会下|要下|有没有|下雨|有雨|下雪|冷不冷|热不热|要带伞|需要带伞|带伞|多少度|刮风)`)
	cityNoise     = regexp.MustCompile(`大后天|后天|明天|明日|明晚|今天|今日|今晚|昨天|现在|当前|目前|这里|这边|外面|外边|本地|当地|我们|我这|你们|咱们|那边|室外|下?(?:周|星期|礼拜)[一二三四五六日天末]|[这本下]周|周末|未来|接下来|最近|[一二三四五六七八九十几\d]+天|\d+月\d+[日号]|请问|告诉我|我想(?:知道|看看|问)?|(?:帮我|给我|麻烦)?(?:查询|查一下|查查|查|看一下|看看|看|问一下)|帮我|麻烦|你好|那么|那|的|在|会|和|呢|吗|吧|怎么样|如何|怎样|一下|出门|要不要|需要|需不需要|是不是|是否|不要|要`)
	inCity        = regexp.MustCompile(`(?i)\b(?:in|for|at|of)\s+((?-i:[A-Z][A-Za-z'.-]+(?:\s+[A-Z][A-Za-z'.-]+)*)|[a-z]+(?:\s[a-z]+)?)`)
	cityWeather   = regexp.MustCompile(`\b([A-Z][a-z]+(?: [A-Z][a-z]+)?)(?:'s)? (?:weather|forecast|temperature)\b`)
	notCityEn     = regexp.MustCompile(`(?i)^(?:the|a|an|my|your|our|this|next|today|tomorrow|tonight|now|week|weekend|days?|me|lunch|dinner|monday|tuesday|wednesday|thursday|friday|saturday|sunday|what|how|is|show|tell|check|weather|canteen|general|it|that|here|coming|following|one|two|three|four|five|six|seven|general|\d+)\b`)
	cityTail      = regexp.MustCompile(`(?i)\s+(?:today|tomorrow|tonight|now|this|next|on|for|over|please|will|be|like|the|and|right|currently)\b.*$`)
)

// findCities returns the cities of a clause about the weather: known ones anywhere, else what stands where a city stands.
func findCities(clause string, zh bool) []string {
	cities := appendNew(knownCityZh.FindAllString(clause, 5), knownCityEn.FindAllString(clause, 5))
	if len(cities) > 0 {
		return cities
	}
	city := unknownCityEn(clause)
	if zh {
		city = unknownCityZh(clause)
	}
	if city == "" {
		return nil
	}
	return []string{city}
}

func unknownCityEn(clause string) string {
	if m := cityWeather.FindStringSubmatch(clause); m != nil && !notCityEn.MatchString(m[1]) {
		return m[1]
	}
	for _, m := range inCity.FindAllStringSubmatch(clause, -1) {
		name := cityTail.ReplaceAllString(m[1], "")
		if !notCityEn.MatchString(name) {
			return name
		}
	}
	return ""
}

func knownCity(clause string) string {
	if city := knownCityZh.FindString(clause); city != "" {
		return city
	}
	return knownCityEn.FindString(clause)
}

func unknownCityZh(clause string) string {
	m := beforeWeather.FindStringSubmatch(clause)
	if m == nil {
		return ""
	}
	name := strings.TrimSpace(cityNoise.ReplaceAllString(m[1], ""))
	if length := utf8.RuneCountInString(name); length < 2 || length > 10 {
		return ""
	}
	return strings.TrimSuffix(name, "市")
}
