package food

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"agentmesh/a2a"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/flow"
	"agentmesh/app/platform/text"
)

type executor struct{ menu Menu }

// Execute implements a2a.Executor.
func (e *executor) Execute(ctx context.Context, req a2a.Request, emit func(a2a.Update) error) (a2a.Result, error) {
	log := flow.Log(ctx)
	log.Debug().Str("agent", "food").Str("skill", req.Skill).Bytes("arguments", req.Arguments).Str("text", req.Text).Msg("agent received")
	zh := text.HasHan(req.Text) || text.HasHan(string(req.Arguments))
	progress := "Looking at the menu…"
	if zh {
		progress = "正在查看菜单…"
	}
	if err := emit(a2a.Update{Text: progress}); err != nil {
		return a2a.Result{}, err
	}
	in, err := e.decide(ctx, req)
	if err != nil {
		return a2a.Result{}, err
	}
	log.Debug().Str("agent", "food").Str("skill", in.skill).Str("question", in.question).Msg("agent decided")
	if in.question != "" {
		return a2a.Result{Question: in.question}, nil
	}
	result, err := e.do(ctx, in, zh)
	if err != nil {
		return a2a.Result{}, err
	}
	log.Debug().Str("agent", "food").Str("artifact", result.ArtifactName).Msg("agent returned")
	return result, nil
}

// decide finds out what is wanted: the data part says it, or else the text.
func (e *executor) decide(ctx context.Context, req a2a.Request) (intent, error) {
	in := intent{skill: req.Skill}
	switch req.Skill {
	case SkillRecommend:
		return in, arguments(req.Arguments, &in.wish, `recommend_food takes {"preferences": [text], "query": text, "day": text, "limit": 1 to 5}`)
	case SkillPlace, SkillQuote:
		return in, arguments(req.Arguments, &in.order, `an order is {"items": [{"dish": text, "quantity": 1 to 20, "note": text}], "note": text}`)
	case SkillText, "call_food":
		var args struct{ Text string }
		if err := arguments(req.Arguments, &args, `call_food takes {"text": text}`); err != nil {
			return in, err
		}
		if args.Text != "" {
			req.Text = args.Text
		}
	case "":
	default:
		return in, fault.New(fault.Invalid, "the Food agent has no skill %q; it has %s, %s, %s and %s",
			req.Skill, SkillRecommend, SkillPlace, SkillQuote, SkillText)
	}
	return e.read(ctx, req)
}

// read understands a text; with an answer to a question, what was said before counts too.
func (e *executor) read(ctx context.Context, req a2a.Request) (intent, error) {
	dishes, err := e.menu.All(ctx)
	if err != nil {
		return intent{}, err
	}
	in := understand(req.Text, dishes)
	if len(req.Earlier) > 0 && (in.question != "" || len(in.order.Items) == 0 && in.skill == SkillPlace) {
		in = understand(strings.Join(append(req.Earlier, req.Text), "\n"), dishes)
	}
	if in.err == nil && in.day != "" && (in.skill == SkillPlace || in.skill == SkillQuote) {
		in.err = fault.New(fault.Invalid, "只能订今天的餐，不能订%s的 / orders are for today only", in.day)
	}
	return in, in.err
}

// do does what is wanted.
func (e *executor) do(ctx context.Context, in intent, zh bool) (a2a.Result, error) {
	switch in.skill {
	case SkillRecommend:
		r, err := recommend(ctx, e.menu, in.wish)
		return a2a.Result{Text: r.text(zh), ArtifactName: a2a.ArtifactResult, Data: r}, err
	case SkillPlace:
		o, _, err := place(ctx, e.menu, in.order)
		return a2a.Result{Text: o.text(zh), ArtifactName: a2a.ArtifactOrder, Data: o}, err
	case SkillQuote:
		q, err := quote(ctx, e.menu, in.order)
		return a2a.Result{Text: q.text(zh), ArtifactName: a2a.ArtifactResult, Data: q}, err
	}
	day, err := e.menu.Day(ctx, in.day)
	return a2a.Result{Text: day.text(zh), ArtifactName: a2a.ArtifactResult, Data: day}, err
}

func arguments(raw json.RawMessage, out any, form string) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fault.Wrap(err, fault.Invalid, "%s", form)
	}
	return nil
}

func (r Recommendation) text(zh bool) string {
	if len(r.Recommendations) == 0 {
		if zh {
			return "今天的菜单里没有合适的菜。"
		}
		return "Nothing on the menu fits."
	}
	var b strings.Builder
	for _, p := range r.Recommendations {
		if zh {
			fmt.Fprintf(&b, "推荐%s（%s 元）：%s。\n", p.Dish.Name, text.Yuan(p.Dish.PriceFen), p.Reason)
		} else {
			fmt.Fprintf(&b, "%s (%s yuan): %s.\n", p.Dish.NameEn, text.Yuan(p.Dish.PriceFen), p.ReasonEn)
		}
	}
	return strings.TrimSpace(b.String())
}

func (o Order) text(zh bool) string {
	var b strings.Builder
	for _, l := range o.Lines {
		name, note := l.NameEn, ""
		if zh {
			name = l.Name
		}
		if l.Note != "" {
			note = " (" + l.Note + ")"
		}
		fmt.Fprintf(&b, "%s × %d%s = %s\n", name, l.Quantity, note, text.Yuan(l.AmountFen))
	}
	if zh {
		return b.String() + "合计 " + o.Total + " 元"
	}
	return b.String() + "Total " + o.Total + " yuan"
}

func (q Quote) text(zh bool) string {
	out := q.Order.text(zh)
	for _, w := range q.Warnings {
		if zh {
			out += "\n注意：" + w.Text
		} else {
			out += "\nNote: " + w.TextEn
		}
	}
	return out
}

func (d Day) text(zh bool) string {
	var b strings.Builder
	if zh {
		fmt.Fprintf(&b, "%s（%s）的菜单：", d.Date, d.WeekdayZh)
	} else {
		fmt.Fprintf(&b, "Menu of %s (%s):", d.Date, d.WeekdayEn)
	}
	for _, dish := range d.Dishes {
		name := dish.NameEn
		if zh {
			name = dish.Name
		}
		fmt.Fprintf(&b, "\n%s %s", name, text.Yuan(dish.PriceFen))
	}
	return b.String()
}
