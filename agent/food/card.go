package food

import "agentmesh/a2a"

// The skills of the Food agent. SkillMenu is reached by text alone.
const (
	SkillRecommend = "recommend_food"
	SkillPlace     = "place_order"
	SkillQuote     = "quote_order"
	SkillText      = "order_or_recommend"
	SkillMenu      = "menu"
)

func card() a2a.Card {
	return a2a.Card{
		Name: "Food Agent",
		Description: "点餐智能体：按当日菜单和口味偏好推荐菜品，核对订单和价格。" +
			"Recommends dishes of the day's menu by taste, and checks and prices orders.",
		Version:            "1.0.0",
		Capabilities:       a2a.Capabilities{Streaming: true},
		DefaultInputModes:  []string{"text/plain", "application/json"},
		DefaultOutputModes: []string{"text/plain", "application/json"},
		Skills: []a2a.Skill{
			{
				ID: SkillRecommend, Name: "推荐菜品 / Recommend",
				Description: "按口味偏好推荐当日菜单里的菜。Recommends dishes of a day's menu that fit somebody's preferences.",
				Tags:        []string{"food", "recommend", "推荐", "菜单"},
				Examples:    []string{"结合我的偏好推荐一道菜", "Recommend two dishes, no spicy food please"},
			},
			{
				ID: SkillPlace, Name: "下单 / Place an order",
				Description: "核对并给出订单数据（ORDER_DATA），不扣库存。Checks an order and returns its data; stock is not touched.",
				Tags:        []string{"food", "order", "订餐", "下单"},
				Examples:    []string{"帮我订一份水煮牛肉", "Order two bowls of rice and a boiled beef, no cilantro"},
			},
			{
				ID: SkillQuote, Name: "报价 / Quote",
				Description: "核对订单、库存和忌口，给出价格，只读。Prices an order and checks stock and preferences, without placing it.",
				Tags:        []string{"food", "price", "报价"},
				Examples:    []string{"两份水煮牛肉多少钱", "How much are three bowls of rice?"},
			},
			{
				ID: SkillText, Name: "点餐对话 / Order or recommend",
				Description: "按一句话的意图推荐、报价、下单或看菜单。Does what a sentence asks for: recommend, quote, order or show the menu.",
				Tags:        []string{"food", "call_food", "点餐"},
				Examples:    []string{"今天有什么菜？", "来一份番茄炒蛋和两碗米饭"},
			},
		},
	}
}
