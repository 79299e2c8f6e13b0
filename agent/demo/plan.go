package demo

// step is what the model does next: calls of tools, or the answer.
type step struct {
	calls []plannedCall
	text  string
}

type plannedCall struct {
	tool string
	args map[string]any
}

// maxDays is how far the weather can be told.
const maxDays = 7

// maxTurnCalls ends a turn whose results lead nowhere.
const maxTurnCalls = 24

// ability names a group of tools as the skill list does.
type ability int

const (
	abilityClock ability = iota
	abilityMemory
	abilityWeather
	abilityCanteen
	abilityOrdering
)

// planner works out one step. It walks through everything that was asked; what has a result is kept for the answer,
// what can be called now is called, all in one round, and what waits for another result comes in a later round.
type planner struct {
	conversation
	ask     ask
	calls   []plannedCall
	missing []ability

	clock, recalled, menu, recommended, ordered *result
	remembered, forgotten, found, weather       []*result
	waiting                                     bool   // something is left for a later round
	unmet                                       string // the dish for want of which the order is not placed
	needsCity                                   bool
	named                                       []namedCall
}

// answerTo decides what to answer to a request.
func answerTo(req request) step {
	if isSummary(req.Messages) {
		return step{text: summarise(string(req.Messages[1].Content))}
	}
	return plan(newConversation(req.Messages, req.offered()))
}

// plan decides the next step of a conversation.
func plan(c conversation) step {
	p := &planner{conversation: c, ask: understand(c)}
	p.walk()
	if len(p.calls) > 0 && len(c.turn().calls) < maxTurnCalls {
		return step{calls: p.calls}
	}
	return step{text: p.answer()}
}

func (p *planner) walk() {
	a := &p.ask
	if a.has(intentClock) {
		p.clock = p.want(abilityClock, toolClock, nil)
	}
	p.planMemory()
	if a.has(intentRecall) || a.has(intentRecommend) && (p.can(toolRecall) || a.preference) {
		p.planRecall()
	}
	if a.has(intentWeather) {
		p.planWeather()
	}
	if a.has(intentMenu) || a.has(intentOrder) && a.conditional && !p.orderBlocked() && p.can(toolMenu) {
		p.planMenu()
	}
	if a.has(intentDish) {
		for _, name := range a.dishes {
			p.found = append(p.found, p.want(abilityCanteen, p.searchTool(), p.searchArgs(name)))
		}
		if len(a.dishes) == 0 && !p.can(p.searchTool()) {
			p.miss(abilityCanteen)
		}
	}
	if a.has(intentRecommend) {
		p.planRecommend()
	}
	if a.has(intentOrder) {
		p.planOrder()
	}
	p.planNamed()
}

// want returns the result of a call of this turn, or nil and plans the call if its tool is offered. A call that was
// made and has no result counts as made: it is never made twice with the same arguments.
func (p *planner) want(a ability, tool string, args map[string]any) *result {
	if c, ok := p.turn().find(tool, args); ok {
		return c.result
	}
	if made := p.turn().outcomeOf(tool); made != nil && once(tool) {
		return made
	}
	if !p.tools[tool] {
		p.miss(a)
		return nil
	}
	for _, c := range p.calls {
		if c.tool == tool && encode(c.args) == encode(args) {
			return nil
		}
	}
	p.calls = append(p.calls, plannedCall{tool: tool, args: args})
	return nil
}

// once names the tools that a turn calls one time, whatever the arguments.
func once(tool string) bool {
	switch tool {
	case toolClock, toolRecall, toolRecommend, toolOrder:
		return true
	}
	return false
}

// can tells whether a tool is offered or has been called in this turn already.
func (p *planner) can(tool string) bool {
	return p.tools[tool] || p.turn().outcomeOf(tool) != nil
}

func (p *planner) planned(tool string) bool {
	for _, c := range p.calls {
		if c.tool == tool {
			return true
		}
	}
	return false
}

func (p *planner) miss(a ability) {
	for _, old := range p.missing {
		if old == a {
			return
		}
	}
	p.missing = append(p.missing, a)
}

// planMemory remembers and forgets; these come before anything is recalled.
func (p *planner) planMemory() {
	for _, text := range p.ask.statements {
		p.remembered = append(p.remembered, p.want(abilityMemory, toolRemember, map[string]any{"statement": text, "kind": kindOf(text)}))
	}
	for _, query := range p.ask.forget {
		p.forgotten = append(p.forgotten, p.want(abilityMemory, toolForget, map[string]any{"query": query}))
	}
	if !p.ask.forgetAll {
		return
	}
	p.recalled = p.want(abilityMemory, toolRecall, nil)
	if p.recalled == nil || p.recalled.outcome != succeeded {
		return
	}
	for i, pref := range p.recalled.Preferences {
		if i < 20 && pref.ID != "" {
			p.forgotten = append(p.forgotten, p.want(abilityMemory, toolForget, map[string]any{"id": pref.ID}))
		}
	}
}

func (p *planner) planRecall() {
	if p.planned(toolRemember) || p.planned(toolForget) {
		p.waiting = true
		return
	}
	p.recalled = p.want(abilityMemory, toolRecall, nil)
}

func (p *planner) planWeather() {
	a := &p.ask
	if a.city == "" {
		a.city = p.rememberedCity()
	}
	switch {
	case !p.can(toolWeather):
		p.miss(abilityWeather)
	case a.weatherDay.kind == kindOffset && a.weatherDay.offset < 0, a.weatherDay.kind == kindUnknown:
	case a.city == "":
		p.needsCity = true
	default:
		if len(a.cities) == 0 {
			a.cities = []string{a.city}
		}
		for _, city := range a.cities {
			p.weather = append(p.weather, p.want(abilityWeather, toolWeather, map[string]any{"city": city, "days": min(a.span, maxDays)}))
		}
	}
}

// rememberedCity returns the city of the newest preference read in this conversation that tells where the user is.
func (p *planner) rememberedCity() string {
	for i := len(p.exchanges) - 1; i >= 0; i-- {
		calls := p.exchanges[i].calls
		for j := len(calls) - 1; j >= 0; j-- {
			for _, pref := range append([]preference{calls[j].result.Remembered}, calls[j].result.Preferences...) {
				if city := knownCity(pref.Statement); city != "" && (pref.Kind == "place" || kindPlace.MatchString(pref.Statement)) {
					return city
				}
			}
		}
	}
	return ""
}

func (p *planner) planMenu() {
	if !p.can(toolMenu) {
		p.miss(abilityCanteen)
		return
	}
	day, known := p.dayArgument()
	if !known {
		return
	}
	args := map[string]any{}
	if day != "" {
		args["day"] = day
	}
	p.menu = p.want(abilityCanteen, toolMenu, args)
}

// dayArgument returns the day for the canteen's tools, "" for none. A day like 后天 needs today's date first, and is
// not known until that has been read.
func (p *planner) dayArgument() (string, bool) {
	if !p.ask.menuDay.needsClock() {
		return p.ask.menuDay.word, true
	}
	clock := p.want(abilityClock, toolClock, nil)
	if clock == nil {
		p.waiting = p.waiting || p.planned(toolClock)
		return "", false
	}
	word := p.ask.menuDay.menuArgument(clock.Date)
	return word, word != ""
}

// searchTool is where a dish is looked up: the catalog, or today's menu if only that is offered.
func (p *planner) searchTool() string {
	if p.can(toolSearch) || !p.can(toolMenu) {
		return toolSearch
	}
	return toolMenu
}

func (p *planner) searchArgs(name string) map[string]any {
	if p.searchTool() == toolSearch {
		return map[string]any{"query": name}
	}
	return map[string]any{}
}
