package catalog

import (
	"encoding/json"
	"strings"
)

// The arguments and results of the tools. Scalars have one type, strings and numbers have bounds, and
// lists are never null, because model APIs and old clients refuse more than that.
const (
	searchIn = `{"type":"object","properties":{
		"query":{"type":"string","maxLength":200,"description":"words that must all fit, e.g. 不辣的牛肉 or vegetarian soup"},
		"category":{"type":"string","enum":["meat","seafood","vegetable","staple","soup","drink","dessert"]},
		"limit":{"type":"integer","minimum":1,"maximum":50,"default":20}}}`
	searchOut = `{"type":"object","properties":{"dishes":{"type":"array","items":DISH},"total":{"type":"integer"}},"required":["dishes","total"]}`

	itemIn  = `{"type":"object","properties":{"id":{"type":"string","minLength":1,"maxLength":100,"description":"such as food-001"}},"required":["id"]}`
	dishOut = `DISH`

	menuIn  = `{"type":"object","properties":{"day":{"type":"string","maxLength":60,"description":"today, tomorrow, a weekday, or YYYY-MM-DD"}}}`
	menuOut = `{"type":"object","properties":{
		"date":{"type":"string"},"weekday":{"type":"integer","minimum":1,"maximum":7},
		"weekdayZh":{"type":"string"},"weekdayEn":{"type":"string"},
		"dishes":{"type":"array","items":DISH}},"required":["date","weekday","weekdayZh","weekdayEn","dishes"]}`

	keyIn     = `{"type":"object","properties":{"key":KEY},"required":["key"]}`
	releaseIn = `{"type":"object","properties":{"key":KEY,"reason":{"type":"string","maxLength":200}},"required":["key"]}`
	reserveIn = `{"type":"object","properties":{
		"key":KEY,
		"group":{"type":"string","minLength":1,"maxLength":200,"description":"holds of one group are alternatives; the key if left out"},
		"owner":{"type":"string","minLength":1,"maxLength":200},
		"lines":{"type":"array","minItems":1,"maxItems":50,"items":{"type":"object","properties":{
			"dishId":{"type":"string","minLength":1,"maxLength":100},
			"quantity":{"type":"integer","minimum":1,"maximum":20}},"required":["dishId","quantity"],"additionalProperties":false}},
		"ttlSeconds":{"type":"integer","minimum":1,"maximum":604800}},"required":["key","owner","lines","ttlSeconds"]}`
	deductIn = `{"type":"object","properties":{
		"dishId":{"type":"string","minLength":1,"maxLength":100},
		"quantity":{"type":"integer","minimum":1,"maximum":20},
		"key":KEY},"required":["dishId","quantity"]}`
	reservationOut = `{"type":"object","properties":{
		"key":{"type":"string"},
		"state":{"type":"string","enum":["HELD","COMMITTED","RELEASED","EXPIRED","RETURNED","REFUSED"]},
		"reason":{"type":"string"},"expiresAt":{"type":"string"},
		"lines":{"type":"array","items":{"type":"object","properties":{
			"dishId":{"type":"string"},"name":{"type":"string"},"quantity":{"type":"integer"},"unitFen":{"type":"integer"}},
			"required":["dishId","name","quantity","unitFen"]}},
		"short":{"type":"array","items":{"type":"object","properties":{
			"dishId":{"type":"string"},"name":{"type":"string"},"available":{"type":"integer"},"wanted":{"type":"integer"}},
			"required":["dishId","name","available","wanted"]}},
		"replayed":{"type":"boolean"}},"required":["key","state","lines"]}`

	keySchema  = `{"type":"string","minLength":1,"maxLength":200,"description":"makes the call repeatable"}`
	dishSchema = `{"type":"object","properties":{
		"id":{"type":"string"},"name":{"type":"string"},"nameEn":{"type":"string"},"category":{"type":"string"},
		"description":{"type":"string"},"descriptionEn":{"type":"string"},
		"priceFen":{"type":"integer","minimum":0},"price":{"type":"string","description":"yuan"},"stock":{"type":"integer","minimum":0},
		"spicy":{"type":"boolean"},"vegetarian":{"type":"boolean"},
		"allergens":{"type":"array","items":{"type":"string"}},"tags":{"type":"array","items":{"type":"string"}},
		"weekdays":{"type":"array","items":{"type":"integer","minimum":1,"maximum":7}}},
		"required":["id","name","nameEn","category","priceFen","price","stock","spicy","vegetarian","allergens","tags","weekdays"]}`
)

// schema writes the shared parts out in full: a $ref is what some model APIs refuse.
func schema(text string) json.RawMessage {
	return json.RawMessage(strings.NewReplacer("DISH", dishSchema, "KEY", keySchema).Replace(text))
}
