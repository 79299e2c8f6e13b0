package demo

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// citiesZh are found anywhere in a clause. Other names go to call_weather as they stand, and it says what it does not know.
const citiesZh = `北京|上海|广州|深圳|杭州|成都|武汉|西安|南京|重庆`

var (
	knownCityZh = regexp.MustCompile(citiesZh)
	knownCityEn = regexp.MustCompile(`(?i)\b(?:beijing|shanghai|guangzhou|shenzhen|hangzhou|chengdu|wuhan|xi'?an|nanjing|chongqing)\b`)

	beforeWeather = regexp.MustCompile(`^(.*?)(?:未来|接下来|这几天|最近|今后)?(?:的)?(?:天气|气温|温度|会不会下|会下|要下|有没有|下雨|有雨|下雪|冷不冷|热不热|要带伞|需要带伞|带伞|多少度|刮风)`)
	cityNoise     = regexp.MustCompile(`大后天|后天|明天|明日|明晚|今天|今日|今晚|昨天|现在|当前|目前|这里|这边|外面|外边|本地|当地|我们|我这|你们|咱们|那边|室外|下?(?:周|星期|礼拜)[一二三四五六日天末]|[这本下]周|周末|未来|接下来|最近|[一二三四五六七八九十几\d]+天|\d+月\d+[日号]|请问|告诉我|我想(?:知道|看看|问)?|(?:帮我|给我|麻烦)?(?:查询|查一下|查查|查|看一下|看看|看|问一下)|帮我|麻烦|你好|那么|那|的|在|会|和|呢|吗|吧|怎么样|如何|怎样|一下|出门|要不要|需要|需不需要|是不是|是否|不要|要`)
	otherCityEn   = regexp.MustCompile(`\b(?:in|for|at) ((?:[A-Z][A-Za-z'.-]+ ?)+)|\b([A-Z][a-z]+(?: [A-Z][a-z]+)?)(?:'s)? (?:weather|forecast|temperature)\b`)
	notCityEn     = regexp.MustCompile(`^(?:What|How|Is|Show|Tell|Check|The|My|Today|Tomorrow|Celsius|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)\b`)
)

// findCities returns the cities of a clause about the weather: known ones anywhere, else what stands where a city stands.
func findCities(clause string, zh bool) []string {
	cities := appendNew(knownCityZh.FindAllString(clause, 5), knownCityEn.FindAllString(clause, 5))
	if len(cities) > 0 {
		return cities
	}
	city := otherCity(clause, zh)
	if city == "" {
		return nil
	}
	return []string{city}
}

func otherCity(clause string, zh bool) string {
	if !zh {
		for _, m := range otherCityEn.FindAllStringSubmatch(clause, 5) {
			if name := group(m); !notCityEn.MatchString(name) {
				return name
			}
		}
		return ""
	}
	m := beforeWeather.FindStringSubmatch(clause)
	if m == nil {
		return ""
	}
	name := strings.TrimSpace(cityNoise.ReplaceAllString(m[1], ""))
	if length := utf8.RuneCountInString(name); length < 2 || length > 10 {
		return ""
	}
	return name
}

func knownCity(clause string) string {
	if city := knownCityZh.FindString(clause); city != "" {
		return city
	}
	return knownCityEn.FindString(clause)
}
