package demo

import "testing"

func TestPlan_wishesBecomeNotes(t *testing.T) {
	t.Parallel()
	peanuts := placed("宫保鸡丁*1*不要花生")
	var scenes []scene
	for said, want := range map[string]string{
		"宫保鸡丁不要花生，来一份":           peanuts,
		"宫保鸡丁，不要花生，来一份":          peanuts,
		"来一份不要花生的宫保鸡丁":           peanuts,
		"不要花生的宫保鸡丁来一份":           peanuts,
		"不要花生，来一份宫保鸡丁":           peanuts,
		"宫保鸡丁不要花生来一份":            peanuts,
		"帮我订一份宫保鸡丁，麻烦不要花生，谢谢":    peanuts,
		"帮我订一份宫保鸡丁 备注：不要花生":      peanuts,
		"帮我订一份宫保鸡丁，记得不要花生":       peanuts,
		"水煮牛肉不要辣来两份":             placed("水煮牛肉*2*不要辣"),
		"水煮牛肉(不要辣) x2":           placed("水煮牛肉*2*不要辣"),
		"我要一份不辣的水煮牛肉":            placed("水煮牛肉*1*不辣"),
		"来一份微辣水煮牛肉":              placed("水煮牛肉*1*微辣"),
		"一份水煮牛肉少辣多放葱":            placed("水煮牛肉*1*少辣多放葱"),
		"来一份没有花生的宫保鸡丁":           placed("宫保鸡丁*1*没有花生"),
		"宫保鸡丁里面别放花生，帮我订一份":       placed("宫保鸡丁*1*别放花生"),
		"来一份宫保鸡丁，花生不要":           placed("宫保鸡丁*1*花生不要"),
		"来一份宫保鸡丁，我对花生过敏":         placed("宫保鸡丁*1*我对花生过敏"),
		"我花生过敏，来一份宫保鸡丁和一碗米饭":     placed("宫保鸡丁*1*我花生过敏", "米饭*1*我花生过敏"),
		"宫保鸡丁不要花生、葱、蒜，来一份":       placed("宫保鸡丁*1*不要花生、葱、蒜"),
		"来一份水煮牛肉，要辣一点":           placed("水煮牛肉*1*要辣一点"),
		"来一份水煮牛肉，越辣越好":           placed("水煮牛肉*1*越辣越好"),
		"来两份水煮牛肉，一份不要辣":          placed("水煮牛肉*2*一份不要辣"),
		"来一份香菇青菜，不要香菇":           placed("香菇青菜*1*不要香菇"),
		"来一份米饭和水煮牛肉，水煮牛肉不要辣":     placed("米饭*1", "水煮牛肉*1*不要辣"),
		"来一份米饭和一份水煮牛肉，米饭少一点":     placed("米饭*1*少一点", "水煮牛肉*1"),
		"来一份宫保鸡丁和一份水煮牛肉，都不要辣":    placed("宫保鸡丁*1*都不要辣", "水煮牛肉*1*都不要辣"),
		"少辣的水煮牛肉来两份，米饭一份":        placed("水煮牛肉*2*少辣", "米饭*1"),
		"宫保鸡丁，不要花生，来一份，水煮牛肉，来两份": placed("宫保鸡丁*1*不要花生", "水煮牛肉*2"),
		"来一份米饭，不要米饭了，来一份水煮牛肉":    placed("水煮牛肉*1"),

		"one Kung Pao chicken without peanuts, please":                   placed("Kung Pao chicken*1*without peanuts"),
		"Kung Pao chicken without peanuts, one please":                   placed("Kung Pao chicken*1*without peanuts"),
		"Kung Pao chicken, no peanuts, two portions":                     placed("Kung Pao chicken*2*no peanuts"),
		"order one no-peanut Kung Pao chicken":                           placed("Kung Pao chicken*1*no-peanut"),
		"Order one Kung Pao chicken without peanuts and garlic":          placed("Kung Pao chicken*1*without peanuts, garlic"),
		"order one Kung Pao chicken and don't put peanuts in it":         placed("Kung Pao chicken*1*don't put peanuts in it"),
		"order one Kung Pao chicken, note: no peanuts":                   placed("Kung Pao chicken*1*no peanuts"),
		"Order one Kung Pao chicken, I'm allergic to peanuts":            placed("Kung Pao chicken*1*I'm allergic to peanuts"),
		"I'd like the Kung Pao chicken but no peanuts":                   placed("Kung Pao chicken*1*no peanuts"),
		"two boiled beef, not spicy":                                     placed("boiled beef*2*not spicy"),
		"Two mild boiled beef and one rice":                              placed("boiled beef*2*mild", "rice*1"),
		"order one boiled beef, make it mild":                            placed("boiled beef*1*make it mild"),
		"Get me a boiled beef, less oil, no salt":                        placed("boiled beef*1*less oil, no salt"),
		"order two steamed rice and a boiled beef, rice, no salt":        noted("rice, no salt", "steamed rice*2", "boiled beef*1"),
		"帮我订两份水煮牛肉和一份米饭，少放辣":                                             noted("少放辣", "水煮牛肉*2", "米饭*1"),
		"来两份水煮牛肉，少放辣，再来一份米饭":                                             placed("水煮牛肉*2*少放辣", "米饭*1"),
		"Order two Kung Pao chicken and one soy milk, no peanuts please": noted("no peanuts", "Kung Pao chicken*2", "soy milk*1"),
		"order two steamed rice and a beef, rice without salt":           placed("steamed rice*2*without salt", "beef*1"),
		"one boiled beef and one rice, no chili in the beef":             placed("boiled beef*1*no chili", "rice*1"),
		"Hello, order one Kung Pao chicken. Thanks!":                     placed("Kung Pao chicken*1"),
		"来一份米饭，不要订了":                                                     "",
		"来一份米饭，算了不要了":                                                    "",
	} {
		scenes = append(scenes, scene{say: said, calls: want})
	}
	playEach(t, scenes)
}

func TestPlan_wishesOfFollowUps(t *testing.T) {
	t.Parallel()
	for name, scenes := range map[string][]scene{
		"the same again":       {{say: "来一份宫保鸡丁不要花生", calls: placed("宫保鸡丁*1*不要花生")}, {say: "再来一份", calls: placed("宫保鸡丁*1*不要花生")}},
		"again, but":           {{say: "来一份水煮牛肉", calls: placed("水煮牛肉*1")}, {say: "再来一份不要辣", calls: placed("水煮牛肉*1*不要辣")}},
		"how many":             {{say: "来两三份宫保鸡丁，不要花生"}, {say: "三份", calls: placed("宫保鸡丁*3*不要花生")}},
		"how many, and a wish": {{say: "来两三份宫保鸡丁"}, {say: "三份吧，不要花生", calls: placed("宫保鸡丁*3*不要花生")}},
		"which dish":           {{say: "帮我订一份"}, {say: "宫保鸡丁不要花生", calls: placed("宫保鸡丁*1*不要花生")}},
		"a dish of the menu":   {{say: "菜单", calls: "list_menu_by_day{}"}, {say: "水煮牛肉不要辣", calls: placed("水煮牛肉*1*不要辣")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, s := range scenes {
				s.play(w)
			}
		})
	}
}
