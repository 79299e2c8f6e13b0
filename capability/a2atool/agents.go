package a2atool

import (
	"encoding/json"

	"agentmesh/a2a"
	"agentmesh/capability"
)

const itemsSchema = `"items":{"type":"array","minItems":1,"maxItems":20,"description":"Every dish of the order",
	"items":{"type":"object","properties":{
		"dish":{"type":"string","minLength":1,"maxLength":100,"description":"Name or id of the dish, as the person said it"},
		"quantity":{"type":"integer","minimum":1,"maximum":20},
		"note":{"type":"string","maxLength":200,"description":"A wish for this dish, such as 不要辣"}},
		"required":["dish","quantity"],"additionalProperties":false}},
	"note":{"type":"string","maxLength":200}`

// Weather is the Weather agent's skill as a capability.
func Weather(client *a2a.Client) capability.Definition {
	return New(client, "call_weather", capability.Definition{
		Name: "call_weather", Provider: "weather", ReadOnly: true, Idempotent: true,
		Description: "Current weather, forecast and clothing advice for one of ten Chinese cities (simulated data): 北京 上海 广州 深圳 杭州 成都 武汉 西安 南京 重庆.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"city":{"type":"string","minLength":1,"maxLength":50,"description":"Chinese or English name"},
			"days":{"type":"integer","minimum":1,"maximum":7,"description":"Days of forecast, today included; 1 if left out"}},
			"required":["city"],"additionalProperties":false}`),
	})
}

// Recommend is the Food agent's read-only half (D-99, D-119).
func Recommend(client *a2a.Client) capability.Definition {
	return New(client, "recommend_food", capability.Definition{
		Name: "recommend_food", Provider: "food", ReadOnly: true, Idempotent: true,
		Description: "Recommends dishes of a day's menu that suit the person. Pass what recall_preferences gave. Orders nothing.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{
			"preferences":{"type":"array","maxItems":50,"items":{"type":"string","maxLength":200},"description":"Statements from recall_preferences"},
			"query":{"type":"string","maxLength":200,"description":"What is wanted, such as 汤 or something light"},
			"day":{"type":"string","maxLength":40,"description":"today if left out"},
			"limit":{"type":"integer","minimum":1,"maximum":5}},"additionalProperties":false}`),
	})
}

// Quote is what place_order asks the Food agent before the person is asked. Hidden.
func Quote(client *a2a.Client) capability.Definition {
	return New(client, "quote_order", capability.Definition{
		Name: "quote_order", Provider: "food", ReadOnly: true, Idempotent: true, Hidden: true,
		Description: "Checks an order and gives its lines, prices and warnings.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + itemsSchema + `,
			"preferences":{"type":"array","items":{"type":"string"}},
			"held":{"type":"boolean","description":"The portions are held for this order already"}},"required":["items"],"additionalProperties":false}`),
	})
}

// Order is the Food agent's half with a side effect: it always asks (D-93). It is idempotent by the
// invocation's id, since the stock that it takes is held and committed under that key.
func Order(client *a2a.Client) capability.Definition {
	return New(client, "place_order", capability.Definition{
		Name: "place_order", Provider: "food", Idempotent: true, RequiresConfirmation: true, AlwaysAsks: true,
		Description: "Orders dishes from today's menu, all of them in one call. The program asks the person to confirm; do not ask yourself.",
		InputSchema: json.RawMessage(`{"type":"object","properties":{` + itemsSchema + `},"required":["items"],"additionalProperties":false}`),
	})
}

const textSchema = `{"type":"object","properties":{
	"text":{"type":"string","minLength":1,"maxLength":500,"description":"What the person wants, in their words"}},
	"required":["text"],"additionalProperties":false}`

// Food is both halves in one, as the founding design had it (D-93, D-99); only with FOOD_TOOLS=combined.
func Food(client *a2a.Client) capability.Definition {
	return New(client, "order_or_recommend", capability.Definition{
		Name: "call_food", Provider: "food", Idempotent: true, RequiresConfirmation: true, AlwaysAsks: true,
		Description: "Asks the Food agent to recommend or to order, in words. The program asks the person to confirm; do not ask yourself.",
		InputSchema: json.RawMessage(textSchema),
	})
}

// Intent is what call_food asks the Food agent before the person is asked: what it would do. Hidden.
func Intent(client *a2a.Client) capability.Definition {
	return New(client, "order_or_recommend", capability.Definition{
		Name: "food_intent", Provider: "food", ReadOnly: true, Idempotent: true, Hidden: true,
		Description: "What the Food agent would do about a request in words; it does nothing.",
		InputSchema: json.RawMessage(textSchema),
	})
}
