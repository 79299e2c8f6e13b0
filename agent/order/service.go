package order

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/fault"
	"agentmesh/app/platform/text"
	"agentmesh/capability"
)

// HoldMargin is how much longer than its question a hold lives, so that a yes in the last second finds
// it.
const HoldMargin = 10 * time.Minute

// Deps are the parts that the service works with.
type Deps struct {
	Store Store
	// Call goes through the pipeline; quote_order and the stock tools are reached only by it.
	Call func(ctx context.Context, call capability.Call) (json.RawMessage, error)
	// Preferences gives a user's remembered statements, for the warnings on the card.
	Preferences     func(ctx context.Context, userID string) ([]string, error)
	ConfirmationTTL time.Duration
	Zone            *time.Location // the canteen's: it says when an order's day is over
	Now             func() time.Time
	NewID           func(kind string) string
}

// Service prepares, settles and dismisses the calls of place_order.
type Service struct {
	deps  Deps
	relay relay
}

// New makes the service.
func New(deps Deps) *Service { return &Service{deps: deps} }

// quote is the Food agent's checked answer: what would be ordered, at which price.
type quote struct {
	Lines    []Line          `json:"lines"`
	TotalFen int64           `json:"totalFen"`
	Total    string          `json:"total"`
	Date     string          `json:"date"`
	Note     string          `json:"note,omitempty"`
	Warnings json.RawMessage `json:"warnings,omitempty"`
}

// reservation is the catalog's answer about a hold.
type reservation struct {
	Key    string `json:"key"`
	State  string `json:"state"`
	Reason string `json:"reason"`
	Lines  []struct {
		DishID   string `json:"dishId"`
		Quantity int    `json:"quantity"`
		UnitFen  int64  `json:"unitFen"`
	} `json:"lines"`
	Short []struct {
		Name      string `json:"name"`
		Available int    `json:"available"`
		Wanted    int    `json:"wanted"`
	} `json:"short"`
}

// Reservation is the catalog's key of a call's nth hold; n counts its quotes. Holds of one call are
// alternatives: at most one is committed.
func Reservation(invocationID string, n int) string { return fmt.Sprintf("%s/%d", invocationID, n) }

// Prepare quotes an order and holds its stock, before the person is asked: what they see is what will
// happen. The key of the hold is the invocation's, so a repeated Prepare holds nothing twice.
func (s *Service) Prepare(ctx context.Context, call capability.Call) (capability.Prepared, error) {
	args, err := arguments(call)
	if err != nil {
		return capability.Prepared{}, err
	}
	return s.prepare(ctx, call, args)
}

func arguments(call capability.Call) (map[string]any, error) {
	var args map[string]any
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return nil, fault.Wrap(err, fault.Invalid, "the order cannot be read")
	}
	return args, nil
}

// PrepareText does the same for call_food, whose argument is a sentence (D-93): the Food agent, which
// touches no stock, says what it would do. A recommendation is asked about as well, with nothing held.
func (s *Service) PrepareText(ctx context.Context, call capability.Call) (capability.Prepared, error) {
	args, err := s.intent(ctx, call)
	if err != nil || args == nil {
		switch held, known := s.holds(ctx, call, Reservation(call.ID, 1)); {
		case held:
			// It was an order before a crash and is none now: what was held for it is given back.
			return capability.Prepared{Changes: s.Dismiss(call, "conflict")}, fault.New(fault.Conflict, "订单没能重新备好，请重新下单 / the order cannot be prepared again; please order again")
		case !known && err != nil:
			return capability.Prepared{Changes: s.Dismiss(call, string(fault.CodeOf(err)))}, err
		}
	}
	if err != nil {
		return capability.Prepared{}, err
	}
	if args == nil {
		return capability.Prepared{Summary: json.RawMessage(`{"orders":false}`)}, nil
	}
	return s.prepare(ctx, call, args)
}

// intent gives the arguments of the order that a sentence means, or nil when it orders nothing.
func (s *Service) intent(ctx context.Context, call capability.Call) (map[string]any, error) {
	args, err := arguments(call)
	if err != nil {
		return nil, err
	}
	var would struct {
		Lines []Line `json:"lines"`
		Note  string `json:"note"`
	}
	err = s.call(ctx, call, call.ID+"/intent", "food_intent", args, &would)
	if err != nil || len(would.Lines) == 0 {
		return nil, err
	}
	items := make([]map[string]any, 0, len(would.Lines))
	for _, l := range would.Lines {
		items = append(items, map[string]any{"dish": l.DishID, "quantity": l.Quantity, "note": l.Note})
	}
	return map[string]any{"items": items, "note": would.Note}, nil
}

func (s *Service) prepare(ctx context.Context, call capability.Call, args map[string]any) (capability.Prepared, error) {
	s.deliverOwn(ctx, call.UserID)
	key := Reservation(call.ID, 1)
	if failpoint.On(failpoint.NoKey) {
		key = Reservation(s.deps.NewID("hold"), 1)
	}
	q, err := s.quote(ctx, call, args)
	if err != nil {
		held, known := s.holds(ctx, call, key)
		if held {
			// An earlier try of this preparation holds the portions already, and they are not to be counted as
			// sold to somebody else.
			args["held"] = true
			q, err = s.quote(ctx, call, args)
		}
		if err != nil && (held || !known) {
			return capability.Prepared{Changes: s.Dismiss(call, string(fault.CodeOf(err)))}, err
		}
	}
	if err != nil {
		return capability.Prepared{}, err
	}
	if maybeHeld, err := s.hold(ctx, call, key, q); err != nil {
		var release []capability.Change
		if maybeHeld {
			release = s.Dismiss(call, string(fault.CodeOf(err)))
		}
		return capability.Prepared{Changes: release}, err
	}
	now := s.deps.Now()
	o := Order{
		ID: s.deps.NewID("order"), UserID: call.UserID, RunID: call.RunID, ThreadID: call.ThreadID,
		InvocationID: call.ID, Status: Placing, CreatedAt: now,
	}
	return prepared(q, Place{o.quoted(q, key, now)})
}

// quoted gives the order as a quote has it, with the hold that was made for it.
func (o Order) quoted(q quote, reservation string, at time.Time) Order {
	o.Reservation, o.Date, o.Note, o.TotalFen, o.Lines, o.UpdatedAt = reservation, q.Date, q.Note, q.TotalFen, q.Lines, at
	return o
}

// prepared shows a quote, and what is written with it.
func prepared(q quote, changes ...capability.Change) (capability.Prepared, error) {
	warnings := q.Warnings
	q.Warnings = nil
	summary, err := json.Marshal(struct {
		quote
		Words string `json:"words"` // for whoever shows a question without knowing what an order is
	}{q, q.words()})
	if err != nil {
		return capability.Prepared{}, fmt.Errorf("summarise quote: %w", err)
	}
	return capability.Prepared{Summary: summary, Warnings: warnings, Changes: changes}, nil
}

// words says what would be ordered, in both languages.
func (q quote) words() string {
	var zh, en []string
	for _, l := range q.Lines {
		zh = append(zh, fmt.Sprintf("%s × %d", l.Name, l.Quantity))
		en = append(en, fmt.Sprintf("%s × %d", cmp.Or(l.NameEn, l.Name), l.Quantity))
	}
	total := text.Yuan(q.TotalFen)
	return fmt.Sprintf("%s，共 %s 元 / %s, %s yuan", strings.Join(zh, "、"), total, strings.Join(en, ", "), total)
}

func (s *Service) quote(ctx context.Context, call capability.Call, args map[string]any) (quote, error) {
	preferences, err := s.deps.Preferences(ctx, call.UserID)
	if err != nil {
		return quote{}, fmt.Errorf("recall preferences for the quote: %w", err)
	}
	if len(preferences) > 0 {
		args["preferences"] = preferences
	}
	var q quote
	if err := s.call(ctx, call, call.ID+"/quote", "quote_order", args, &q); err != nil {
		return quote{}, err
	}
	if len(q.Lines) == 0 {
		return quote{}, fault.New(fault.Internal, "the Food agent quoted nothing")
	}
	return q, nil
}

// holds tells whether an earlier try of the same preparation holds portions: after a crash, it is made
// again under the same key. A catalog that does not answer leaves that unknown.
func (s *Service) holds(ctx context.Context, call capability.Call, key string) (held, known bool) {
	r, err := s.stock(ctx, call, key+"/look", "get_reservation", key, "")
	return err == nil && r.State == "HELD", err == nil || fault.CodeOf(err) == fault.NotFound
}

// hold reserves the stock of a quote, at the quoted prices or not at all. With an error it tells whether
// something may be held all the same: the answer was lost, or the price is another one.
func (s *Service) hold(ctx context.Context, call capability.Call, key string, q quote) (maybeHeld bool, err error) {
	ttl := s.deps.ConfirmationTTL + HoldMargin
	var r reservation
	if err := failpoint.Hit(ctx, failpoint.BeforeReserve); err != nil {
		return false, err
	}
	err = s.call(ctx, call, key, "reserve_stock", map[string]any{
		"key": key, "group": call.ID, "owner": call.UserID, "lines": stockLines(q.Lines), "ttlSeconds": int(ttl.Seconds()),
	}, &r)
	err = errors.Join(err, failpoint.Hit(ctx, failpoint.AfterReserve))
	switch code := fault.CodeOf(err); {
	case err != nil:
		return code != fault.Invalid, err // a conflict is an earlier hold of other lines under the key
	case r.State != "HELD":
		return false, notHeld(r, q.Lines)
	case samePrices(r, q.Lines):
		return true, nil
	}
	return true, fault.New(fault.Conflict, "刚刚有菜变了价，请重新下单 / a price changed just now; please order again")
}

// stockLines adds up the portions of each dish, since one dish may be ordered with different notes.
func stockLines(lines []Line) []map[string]any {
	var out []map[string]any
	at := map[string]int{}
	for _, l := range lines {
		if i, ok := at[l.DishID]; ok {
			out[i]["quantity"] = out[i]["quantity"].(int) + l.Quantity
			continue
		}
		at[l.DishID] = len(out)
		out = append(out, map[string]any{"dishId": l.DishID, "quantity": l.Quantity})
	}
	return out
}

// notHeld says in both languages why nothing was set aside.
func notHeld(r reservation, lines []Line) error {
	if len(r.Short) > 0 {
		short := r.Short[0]
		name := short.Name
		if i := slices.IndexFunc(lines, func(l Line) bool { return l.Name == short.Name && l.NameEn != "" }); i >= 0 {
			name = lines[i].NameEn
		}
		if short.Available == 0 {
			return fault.New(fault.Conflict, "%s今天已售完 / %s is sold out today", short.Name, name)
		}
		return fault.New(fault.Conflict, "%s只剩 %d 份，不够 %d 份 / only %d of %s left, %d wanted",
			short.Name, short.Available, short.Wanted, short.Available, name, short.Wanted)
	}
	switch r.Reason {
	case "too_many_holds":
		return fault.New(fault.Conflict, "已经有三个订单在等您确认，请先处理其中一个 / there are already three orders waiting for an answer: confirm or reject one first")
	case "group_committed":
		return fault.New(fault.Conflict, "这个订单已经下过了 / the order has been placed already")
	case "too_many_portions":
		return fault.New(fault.Conflict, "等待确认的订单加起来最多 20 份 / no more than 20 portions can wait for an answer at once")
	}
	return fault.New(fault.Conflict, "库存没能留住（%s） / the stock could not be held: %s", r.State, r.State)
}

func samePrices(r reservation, lines []Line) bool {
	price := map[string]int64{}
	for _, l := range r.Lines {
		price[l.DishID] = l.UnitFen
	}
	for _, l := range lines {
		if price[l.DishID] != l.UnitFen {
			return false
		}
	}
	return true
}

// stock makes a call about a reservation. An answer about another one is none.
func (s *Service) stock(ctx context.Context, parent capability.Call, id, op, key, reason string) (reservation, error) {
	args := map[string]any{"key": key}
	if op == "release_reservation" {
		args["reason"] = reason
	}
	var r reservation
	err := s.call(ctx, parent, id, op, args, &r)
	if err == nil && r.Key != key {
		return reservation{}, fault.New(fault.Unavailable, "the canteen answered %s of %s with another reservation", op, key)
	}
	return r, err
}

// call makes a hidden call for an order and reads its answer.
func (s *Service) call(ctx context.Context, parent capability.Call, id, name string, args map[string]any, into any) error {
	raw, err := json.Marshal(args)
	if err != nil {
		return fmt.Errorf("call %s: %w", name, err)
	}
	result, err := s.deps.Call(ctx, capability.Call{
		ID: id, Name: name, Args: raw, UserID: parent.UserID, ThreadID: parent.ThreadID, RunID: parent.RunID, Source: "order",
	})
	if err != nil || into == nil {
		return err
	}
	if err := json.Unmarshal(result, into); err != nil {
		return fault.Wrap(err, fault.Internal, "the answer of %s cannot be read", name)
	}
	return nil
}
