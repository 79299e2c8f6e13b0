package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp"
)

const defaultLimit = 20

// Tools lists what a catalog of this version offers, for whoever must know it while none answers.
func Tools() []mcp.Tool { return (&Module{}).tools() }

// tools are the service's operations as MCP tools: three for everybody, six for the mesh's own modules, two
// for the operator.
func (m *Module) tools() []mcp.Tool {
	reading := []mcp.Tool{
		{
			Name: "search_food_catalog", Title: "Search the food catalog · 搜索菜品",
			Description: "Finds dishes by name, kind, ingredient, taste or tag, in Chinese or English; without a query it lists them all. " +
				"按名称、类别、食材、口味或标签查找菜品。",
			InputSchema: schema(searchIn), OutputSchema: schema(searchOut), Handle: handle(m.search),
		},
		{
			Name: "get_food_item", Title: "Get one dish · 查看菜品",
			Description: "Gives one dish by its id: price, stock, allergens, weekdays. 按编号查看一道菜的价格、库存、过敏原和供应日。",
			InputSchema: schema(itemIn), OutputSchema: schema(dishOut), Handle: handle(m.item),
		},
		{
			Name: "list_menu_by_day", Title: "Menu of a day · 某天的菜单",
			Description: "Lists the dishes of a day: today (default), tomorrow, monday … sunday, 今天, 明天, 后天, 周一 … 周日, 下周一, or YYYY-MM-DD. " +
				"列出某一天供应的菜品，默认是今天。",
			InputSchema: schema(menuIn), OutputSchema: schema(menuOut), Handle: handle(m.menu),
		},
	}
	for i := range reading {
		reading[i].ReadOnly, reading[i].Idempotent = true, true
	}
	return slices.Concat(reading, m.stockTools(), m.operatorTools())
}

func (m *Module) stockTools() []mcp.Tool {
	stock := func(name, title, description, in string, h func(context.Context, json.RawMessage) (any, error)) mcp.Tool {
		return mcp.Tool{
			Name: name, Title: title, Description: description, Write: true, Idempotent: true, Destructive: true,
			InputSchema: schema(in), OutputSchema: schema(reservationOut), Handle: h,
		}
	}
	reserve := stock("reserve_stock", "Reserve stock", "Sets all lines aside under a key, or none. The same key gives the same answer.", reserveIn, handle(m.reserve))
	commit := stock("commit_reservation", "Commit a reservation", "Makes a hold final and releases its alternatives; a late one becomes EXPIRED.", keyIn, handle(m.commit))
	release := stock("release_reservation", "Release a reservation", "Gives the stock of a hold back.", releaseIn, handle(m.release))
	get := stock("get_reservation", "Get a reservation", "Reads the state of a reservation.", keyIn, handle(m.reservation))
	restore := stock("return_stock", "Return stock", "Gives the stock of a committed reservation back.", keyIn, handle(m.giveBack))
	deduct := stock("deduct_stock", "Deduct stock", "Reserves and commits one line at once. Without a key it must not be repeated.", deductIn, handle(m.deduct))
	reserve.Destructive, release.Destructive, restore.Destructive = false, false, false
	get.ReadOnly, get.Destructive = true, false
	deduct.Idempotent = false // the key is optional
	return []mcp.Tool{reserve, commit, release, get, restore, deduct}
}

// handle decodes arguments that fit the schema already.
func handle[In, Out any](call func(context.Context, In) (Out, error)) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, args json.RawMessage) (any, error) {
		var in In
		if err := json.Unmarshal(args, &in); err != nil {
			return nil, fault.Wrap(err, fault.Invalid, "the arguments are not what the tool takes")
		}
		out, err := call(ctx, in)
		if err != nil {
			return nil, err // a typed zero value must not become a result
		}
		return out, nil
	}
}

type searchResult struct {
	Dishes []Dish `json:"dishes"`
	Total  int    `json:"total"`
}

func (m *Module) search(ctx context.Context, in struct {
	Query    string
	Category Category
	Limit    int
},
) (searchResult, error) {
	dishes, err := m.store.Dishes(ctx)
	if err != nil {
		return searchResult{}, fmt.Errorf("search dishes: %w", err)
	}
	if in.Limit == 0 {
		in.Limit = defaultLimit
	}
	found := search(dishes, in.Query, in.Category)
	return searchResult{Dishes: found[:min(in.Limit, len(found))], Total: len(found)}, nil
}

func (m *Module) item(ctx context.Context, in struct{ ID string }) (Dish, error) {
	return m.store.Dish(ctx, in.ID)
}

func (m *Module) menu(ctx context.Context, in struct{ Day string }) (Menu, error) {
	day, err := m.calendar.day(in.Day)
	if err != nil {
		return Menu{}, err
	}
	dishes, err := m.store.Dishes(ctx)
	if err != nil {
		return Menu{}, fmt.Errorf("list menu: %w", err)
	}
	return menuOf(day, dishes), nil
}

func (m *Module) reserve(ctx context.Context, in struct {
	Key        string
	Group      string
	Owner      string
	Lines      []Wanted
	TTLSeconds int
},
) (Reservation, error) {
	ttl := time.Duration(in.TTLSeconds) * time.Second
	return m.store.Reserve(ctx, Request{Key: in.Key, Group: in.Group, Owner: in.Owner, Lines: in.Lines, TTL: ttl})
}

func (m *Module) deduct(ctx context.Context, in struct {
	DishID   string
	Quantity int
	Key      string
},
) (Reservation, error) {
	return m.store.Deduct(ctx, Request{Key: in.Key, Lines: []Wanted{{DishID: in.DishID, Quantity: in.Quantity}}})
}

type keyed struct{ Key string }

func (m *Module) commit(ctx context.Context, in keyed) (Reservation, error) {
	return m.store.Commit(ctx, in.Key)
}

func (m *Module) release(ctx context.Context, in struct{ Key, Reason string }) (Reservation, error) {
	return m.store.Release(ctx, in.Key, in.Reason)
}

func (m *Module) reservation(ctx context.Context, in keyed) (Reservation, error) {
	return m.store.Reservation(ctx, in.Key)
}

func (m *Module) giveBack(ctx context.Context, in keyed) (Reservation, error) {
	return m.store.Return(ctx, in.Key)
}
