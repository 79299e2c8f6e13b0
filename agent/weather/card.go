package weather

import "agentmesh/a2a"

// SkillWeather is the agent's one skill.
const SkillWeather = "call_weather"

func card() a2a.Card {
	return a2a.Card{
		Name: "Weather Agent",
		Description: "天气智能体：十个城市的实时天气、最多七天的预报，以及穿衣和带伞建议（模拟数据）。" +
			"Current weather, forecasts of up to seven days and advice on clothes and umbrellas for ten Chinese cities (simulated data).",
		Version:            "1.0.0",
		Capabilities:       a2a.Capabilities{Streaming: true},
		DefaultInputModes:  []string{"text/plain", "application/json"},
		DefaultOutputModes: []string{"text/plain", "application/json"},
		Skills: []a2a.Skill{{
			ID:          SkillWeather,
			Name:        "天气查询 / Weather",
			Description: "查询城市的当前天气和未来一到七天的预报。Current weather and a forecast of one to seven days for a city.",
			Tags:        []string{"weather", "forecast", "天气", "预报", "穿衣"},
			Examples:    []string{"上海未来三天天气怎么样？", "明天北京要带伞吗？", "What is the weather in Chengdu for the next 3 days?"},
		}},
	}
}
