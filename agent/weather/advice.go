package weather

import (
	"fmt"
	"strings"
)

// advice says what to wear today and whether an umbrella is needed, in Chinese and in English.
func advice(days []Day, now Current) (string, string) {
	wearZh, wearEn := clothes(days[0])
	zh, en := []string{wearZh}, []string{wearEn}
	if days[0].High-days[0].Low >= 10 {
		zh = append(zh, "早晚温差大，可加一件外套")
		en = append(en, "mornings and evenings are much cooler, so bring a layer")
	}
	umbrellaZh, umbrellaEn := umbrella(days)
	zh, en = append(zh, umbrellaZh), append(en, umbrellaEn)
	if now.Humidity >= 85 && days[0].High >= 28 {
		zh, en = append(zh, "天气闷热，注意补水"), append(en, "it is muggy, so drink enough water")
	}
	return strings.Join(zh, "；") + "。", sentence(strings.Join(en, "; ")) + "."
}

func clothes(d Day) (string, string) {
	switch mean := (d.Low + d.High) / 2; {
	case mean >= 27:
		return "天气炎热，宜穿短袖、短裤等清凉衣物，注意防晒", "hot: wear short sleeves and mind the sun"
	case mean >= 21:
		return "天气暖和，宜穿短袖或薄长袖", "warm: short sleeves or a thin shirt will do"
	case mean >= 15:
		return "天气舒适，宜穿长袖衬衫或薄外套", "mild: wear long sleeves or a light jacket"
	case mean >= 8:
		return "天气偏凉，宜穿毛衣或夹克", "cool: wear a sweater or a jacket"
	case mean >= 0:
		return "天气寒冷，宜穿厚外套或羽绒服", "cold: wear a thick coat or a down jacket"
	}
	return "天气严寒，宜穿羽绒服，戴帽子和手套", "freezing: wear a down jacket, a hat and gloves"
}

// umbrella names the wet days.
func umbrella(days []Day) (string, string) {
	var zh, en []string
	for i, d := range days {
		if d.RainProbability < 50 {
			continue
		}
		nameZh, nameEn := d.WeekdayZh, d.WeekdayEn
		switch i {
		case 0:
			nameZh, nameEn = "今天", "today"
		case 1:
			nameZh, nameEn = "明天", "tomorrow"
		}
		zh, en = append(zh, nameZh), append(en, nameEn)
	}
	if len(zh) == 0 {
		return "不需要带伞", "no umbrella needed"
	}
	return fmt.Sprintf("%s请带伞", strings.Join(zh, "、")), fmt.Sprintf("take an umbrella %s", strings.Join(en, ", "))
}

func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
