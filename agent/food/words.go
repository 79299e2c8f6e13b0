package food

import (
	"regexp"
	"slices"
	"strings"

	"agentmesh/app/platform/text"
)

// group is one kind of food under all its names. The first Chinese and the first English one are used in answers.
type group struct {
	zh, en   []string
	category string // dishes of this category are of the kind, whatever their names
}

// groups are the kinds of food that preferences are about.
func groups() []group {
	return []group{
		{zh: []string{"牛肉", "牛腩", "肥牛", "牛排", "牛杂"}, en: []string{"beef", "steak", "brisket"}},
		{zh: []string{"猪肉", "猪", "五花肉", "肉丝", "肉末", "肉片", "排骨", "回锅肉", "红烧肉", "里脊"}, en: []string{"pork", "bacon", "ham", "rib"}},
		{zh: []string{"羊肉", "羊"}, en: []string{"lamb", "mutton"}},
		{zh: []string{"鸡肉", "鸡"}, en: []string{"chicken"}},
		{zh: []string{"鸭肉", "鸭"}, en: []string{"duck"}},
		{zh: []string{"鱼", "鱼肉", "鲈鱼", "鲫鱼"}, en: []string{"fish", "bass", "carp", "salmon"}},
		{zh: []string{"虾", "虾仁", "大虾"}, en: []string{"shrimp", "prawn"}},
		{zh: []string{"蟹", "螃蟹"}, en: []string{"crab"}},
		{zh: []string{"海鲜", "水产", "鱼", "虾", "蟹", "贝", "鱿鱼"}, en: []string{"seafood", "fish", "shrimp", "prawn", "crab", "squid"}, category: "seafood"},
		{zh: []string{"甲壳类", "贝类", "甲壳", "虾", "蟹", "贝", "蛤", "蚝"}, en: []string{"shellfish", "crustacean", "shrimp", "prawn", "crab", "clam", "oyster"}},
		{zh: []string{"花生"}, en: []string{"peanut"}},
		{zh: []string{"坚果", "花生", "核桃", "腰果", "杏仁"}, en: []string{"nut", "tree nut", "peanut", "cashew", "walnut", "almond"}},
		{zh: []string{"鸡蛋", "蛋", "蛋类"}, en: []string{"egg"}},
		{zh: []string{"奶制品", "牛奶", "奶", "乳制品", "乳糖", "乳", "芝士"}, en: []string{"dairy", "milk", "lactose", "cheese", "butter", "cream", "yogurt"}},
		{zh: []string{"麸质", "小麦", "面筋", "面粉", "面条", "拉面", "汤面", "炒面", "拌面", "馒头", "包子", "饺子"}, en: []string{"gluten", "wheat", "noodle", "bread", "dumpling", "bun"}},
		{zh: []string{"大豆", "黄豆", "豆腐", "豆制品", "豆浆", "豆干"}, en: []string{"soy", "soybean", "soya", "tofu", "bean curd"}},
		{zh: []string{"豆腐"}, en: []string{"tofu", "bean curd"}},
		{zh: []string{"芝麻"}, en: []string{"sesame"}},
		{zh: []string{"香菜", "芫荽"}, en: []string{"cilantro", "coriander"}},
		{zh: []string{"葱", "洋葱", "葱花"}, en: []string{"scallion", "onion", "leek"}},
		{zh: []string{"蒜", "大蒜", "蒜蓉"}, en: []string{"garlic"}},
		{zh: []string{"姜", "生姜"}, en: []string{"ginger"}},
		{zh: []string{"蘑菇", "菇", "香菇"}, en: []string{"mushroom"}},
		{zh: []string{"番茄", "西红柿"}, en: []string{"tomato"}},
		{zh: []string{"土豆", "马铃薯"}, en: []string{"potato"}},
		{zh: []string{"茄子"}, en: []string{"eggplant", "aubergine"}},
		{zh: []string{"米饭", "饭"}, en: []string{"rice"}},
		{zh: []string{"面条", "面食", "拉面", "汤面", "炒面", "拌面"}, en: []string{"noodle"}},
		{zh: []string{"内脏", "下水", "牛杂", "毛肚", "猪肝"}, en: []string{"offal", "tripe", "liver"}},
		{zh: []string{"甜食", "甜", "甜品", "甜点"}, en: []string{"sweets", "sweet", "dessert", "sugar"}, category: "dessert"},
		{zh: []string{"汤", "汤品"}, en: []string{"soup"}, category: "soup"},
		{zh: []string{"蔬菜", "青菜", "素菜"}, en: []string{"vegetables", "vegetable", "greens", "veggie"}, category: "vegetable"},
		{zh: []string{"主食"}, en: []string{"staple"}, category: "staple"},
		{zh: []string{"饮料", "喝的", "饮品"}, en: []string{"drinks", "drink", "beverage"}, category: "drink"},
		{zh: []string{"肉", "肉类", "荤菜", "荤"}, en: []string{"meat"}, category: "meat"},
	}
}

// groupOf finds the kind that a word names. The first name of a kind wins over a later name of another.
func groupOf(term string) (group, bool) {
	term = singular(strings.ToLower(strings.TrimSpace(term)))
	all := groups()
	for _, g := range all {
		if g.zh[0] == term || singular(g.en[0]) == term {
			return g, true
		}
	}
	for _, g := range all {
		if slices.Contains(g.zh, term) || slices.ContainsFunc(g.en, func(name string) bool { return singular(name) == term }) {
			return g, true
		}
	}
	return group{}, false
}

// kindsIn finds the kinds that a text names by a word of theirs; a word inside a longer one of another kind doesn't count.
func kindsIn(text string) []group {
	var found []group
	left := strings.ToLower(text)
	for _, length := range []int{4, 3, 2, 1} {
		for _, g := range groups() {
			for _, name := range g.zh {
				if len([]rune(name)) == length && strings.Contains(without(left, name), name) {
					found, left = append(found, g), strings.ReplaceAll(left, name, "·")
				}
			}
		}
	}
	for _, g := range groups() {
		if slices.ContainsFunc(g.en, func(name string) bool { return hasWord(left, name) }) {
			found = append(found, g)
		}
	}
	return found
}

// isOf tells whether a dish is, or has in it, the kind of food that a word names. It is for what a person must not get:
// everything that is said of the dish counts. Soup, dessert and the like are a matter of category alone.
func (d Dish) isOf(term string) bool {
	g := kind(term)
	switch g.category {
	case "":
	case "meat", "seafood": // may be in any dish
		if g.category == d.Category {
			return true
		}
	default:
		return g.category == d.Category
	}
	zh, en := d.words()
	return g.in(zh, en)
}

// isMainly tells whether a dish is of the kind that a word names. It is for what a person likes: by category, name and tags.
func (d Dish) isMainly(term string) bool {
	g := kind(term)
	if g.category != "" {
		return g.category == d.Category
	}
	tags := " " + strings.Join(d.Tags, " ")
	return g.in(d.Name+tags, strings.ToLower(d.NameEn+tags))
}

func kind(term string) group {
	if g, known := groupOf(term); known {
		return g
	}
	return group{zh: []string{term}, en: []string{strings.ToLower(term)}}
}

// in tells whether a text has a name of the kind in it.
func (g group) in(zh, en string) bool {
	for _, name := range g.zh {
		if text.HasHan(name) && strings.Contains(without(zh, name), name) {
			return true
		}
	}
	en = otherThings.ReplaceAllString(en, "")
	return slices.ContainsFunc(g.en, func(name string) bool { return hasWord(en, name) })
}

// words gives everything that is said of a dish.
func (d Dish) words() (zh, en string) {
	lists := strings.Join(append(slices.Clone(d.Allergens), d.Tags...), " ")
	zh = d.Name + " " + d.Description + " " + lists
	return zh, strings.ToLower(d.NameEn + " " + d.DescriptionEn + " " + lists)
}

// otherThings are English words with a kind's name in them that mean something else.
var otherThings = regexp.MustCompile(`fish[- ]fragrant|[a-z]+-free|soy ?milk|coconut milk`)

// without takes out of a text what has a word in it and means something else: 鱼香 has no fish in it.
func without(text, word string) string {
	var others []string
	switch word {
	case "鱼":
		others = []string{"鱼香"}
	case "鸡":
		others = []string{"鸡蛋", "鸡精"}
	case "汤":
		others = []string{"汤圆", "汤汁"}
	case "甜":
		others = []string{"甜椒", "不甜"}
	case "饭":
		others = []string{"饭后", "下饭", "配饭"}
	case "蛋":
		others = []string{"高蛋白", "低蛋白"}
	case "肉丝", "肉末", "肉片":
		others = []string{"牛肉", "鸡肉", "羊肉", "鱼肉", "鸭肉"}
	case "肉":
		others = []string{"果肉"}
	}
	for _, other := range others {
		text = strings.ReplaceAll(text, other, "")
	}
	return text
}

// hasWord tells whether a text has an English word, singular or plural.
func hasWord(said, word string) bool {
	word = singular(word)
	return text.HasWord(said, word) || text.HasWord(said, word+"s") || text.HasWord(said, word+"es")
}

func singular(word string) string {
	for _, es := range []string{"toes", "shes", "xes"} {
		if strings.HasSuffix(word, es) {
			return strings.TrimSuffix(word, "es")
		}
	}
	if len(word) > 3 && !strings.HasSuffix(word, "ss") && !text.HasHan(word) {
		return strings.TrimSuffix(word, "s")
	}
	return word
}
