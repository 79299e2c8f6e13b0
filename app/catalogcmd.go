package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"agentmesh/app/platform/fault"
	"agentmesh/mcp/catalog"
)

// catalogCommand is for the catalog's operator: dishes, prices, stock. It works beside the running program
// and without it.
func catalogCommand() *cobra.Command {
	var c Config
	cmd := &cobra.Command{
		Use: "catalog", Short: "List the dishes, set prices, restock, import",
		Long: "List the dishes, set prices, restock, import. While the program runs on the data folder the commands go through\n" +
			"its catalog; otherwise they open the database themselves.",
	}
	c.bindFlags(cmd.PersistentFlags(), "data")
	cmd.AddCommand(catalogList(&c), catalogPrice(&c), catalogRestock(&c), catalogImport(&c))
	return cmd
}

func catalogList(c *Config) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the dishes with price, stock, and what is held of it", Args: cobra.NoArgs,
		Long: "List the dishes. On hand are the portions that are there; those held for open questions are among them.\n" +
			"What --json prints can be changed and imported again.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return c.withCatalog(cmd, func(ctx context.Context, o operator) error {
				list, err := o.Shelves(ctx)
				if err != nil {
					return err
				}
				if asJSON {
					return printJSON(cmd.OutOrStdout(), list)
				}
				printShelves(cmd.OutOrStdout(), list)
				return nil
			})
		},
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

func catalogPrice(c *Config) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "price ID YUAN", Short: "Set the price of a dish, such as 32.00", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.edit(cmd, dry, []catalog.Edit{{Place: "price", ID: args[0], Price: &args[1]}}, nil)
		},
	}
	dryFlag(cmd, &dry)
	return cmd
}

func catalogRestock(c *Config) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "restock ID COUNT", Short: "Say how many portions of a dish are on hand, or with +N how many came", Args: cobra.ExactArgs(2),
		Long: "Say how many portions of a dish are on hand, those held for open questions included; or, with +N, how many came.\n" +
			"Fewer than are held is refused.",
		Example: "  agentmesh catalog restock food-001 20\n  agentmesh catalog restock food-001 +5",
		RunE: func(cmd *cobra.Command, args []string) error {
			digits, more := strings.CutPrefix(args[1], "+")
			n, err := strconv.ParseUint(digits, 10, 31)
			if err != nil {
				return fmt.Errorf("restock: %q is not a number of portions such as 20 or +5", args[1])
			}
			count := int(n)
			e := catalog.Edit{Place: "restock", ID: args[0], Stock: &count}
			if more {
				e.Stock, e.Add = nil, &count
			}
			return c.edit(cmd, dry, []catalog.Edit{e}, nil)
		},
	}
	dryFlag(cmd, &dry)
	return cmd
}

func catalogImport(c *Config) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "import FILE", Short: "Add and change dishes from a .json or .csv file, all or none", Args: cobra.ExactArgs(1),
		Long: "Add and change dishes from a file, all or none; every mistake is reported. A known id is changed in what the file\n" +
			"gives, a new one is added and needs everything but descriptions, spicy, vegetarian, allergens and tags.\n" +
			"Dishes that the file does not name stay. A dish whose list of weekdays is empty, in JSON [], is on no menu.\n\n" +
			"JSON is what 'catalog list --json' prints. CSV names its columns in the first line:\n" +
			"  id, name, nameEn, category, description, descriptionEn, price (yuan), stock (on hand), spicy, vegetarian,\n" +
			"  allergens, tags, weekdays (1 is Monday); lists are separated by semicolons; an empty cell changes nothing.",
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, wrong, err := readDishes(args[0])
			if err != nil {
				return err
			}
			return c.edit(cmd, dry, edits, wrong)
		},
	}
	dryFlag(cmd, &dry)
	return cmd
}

func dryFlag(cmd *cobra.Command, into *bool) {
	cmd.Flags().BoolVar(into, "dry-run", false, "only say what would change")
}

// readDishes reads a file of dishes; wrong are the mistakes in it.
func readDishes(path string) (edits []catalog.Edit, wrong, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, fmt.Errorf("import: %w", err)
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, catalog.MaxFile+1))
	switch ext := strings.ToLower(filepath.Ext(path)); {
	case err != nil:
		return nil, nil, fmt.Errorf("import: %w", err)
	case len(raw) > catalog.MaxFile:
		return nil, nil, fmt.Errorf("import: %s is larger than %s; split it", path, size(catalog.MaxFile))
	case ext == ".json":
		edits, wrong = catalog.ReadJSON(raw)
	case ext == ".csv":
		edits, wrong = catalog.ReadCSV(raw)
	default:
		return nil, nil, fmt.Errorf("import: %s is neither a .json nor a .csv file", path)
	}
	if wrong == nil && len(edits) == 0 {
		return nil, nil, fmt.Errorf("import: there is no dish in %s", path)
	}
	return edits, wrong, nil
}

// edit makes the edits and says what changed. Mistakes found already make it a dry run, which finds the
// others.
func (c *Config) edit(cmd *cobra.Command, dry bool, edits []catalog.Edit, wrong error) error {
	return c.withCatalog(cmd, func(ctx context.Context, o operator) error {
		changes, err := o.Edit(ctx, edits, dry || wrong != nil)
		if err != nil || wrong != nil {
			return errors.Join(wrong, inWords(err), outcomeOf(err))
		}
		printChanges(cmd.OutOrStdout(), changes, dry)
		return nil
	})
}

// outcomeOf says what stands after edits that failed. Only who was answered knows.
func outcomeOf(err error) error {
	switch fault.CodeOf(err) {
	case fault.Timeout, fault.Unavailable, fault.Cancelled, fault.Internal:
		return errors.New("it is not known whether anything was changed: look with 'agentmesh catalog list'")
	}
	return errors.New("nothing was changed")
}

// inWords gives a fault without the path that it took.
func inWords(err error) error {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.Invalid {
		return errors.New(f.Message)
	}
	return err
}

// withCatalog runs fn on the catalog of the data folder, wherever it is.
func (c *Config) withCatalog(cmd *cobra.Command, fn func(context.Context, operator) error) error {
	if _, err := c.resolve(cmd); err != nil {
		return err
	}
	ctx := commandContext(cmd)
	o, err := openOperator(ctx, *c)
	if err != nil {
		return err
	}
	return errors.Join(fn(ctx, o), o.Close())
}

func printShelves(w io.Writer, list []catalog.Shelf) {
	names := 4
	for _, s := range list {
		names = max(names, width(s.Name))
	}
	row := func(id, name, price, onHand, held, days, english string) {
		fmt.Fprintf(w, "%-10s %s %8s %8s %5s  %-13s  %s\n", id, name+strings.Repeat(" ", names-width(name)), price, onHand, held, days, english)
	}
	row("ID", "NAME", "YUAN", "ON HAND", "HELD", "DAYS", "")
	for _, s := range list {
		row(s.ID, s.Name, s.Price, strconv.Itoa(s.Stock), strconv.Itoa(s.Held), daysText(s.Weekdays), s.NameEn)
	}
}

// width counts the columns that a text takes: two for a Chinese character.
func width(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r >= 0x1100 {
			n++
		}
	}
	return n
}

// daysText writes weekdays, 1 for Monday.
func daysText(days []int) string {
	if len(days) == 0 {
		return "-"
	}
	var words []string
	for _, day := range slices.Sorted(slices.Values(days)) {
		words = append(words, strconv.Itoa(day))
	}
	return strings.Join(words, " ")
}

func printChanges(w io.Writer, changes []catalog.Change, dry bool) {
	added, changed := 0, 0
	for _, c := range changes {
		fmt.Fprintf(w, "%s %s\n", c.ID, c.Name)
		switch {
		case c.Added:
			added++
			fmt.Fprintln(w, "  new")
		case len(c.Fields) == 0:
			fmt.Fprintln(w, "  is so already")
		default:
			changed++
		}
		for _, f := range c.Fields {
			note := ""
			if f.Name == "stock" && c.Held > 0 {
				note = fmt.Sprintf(" on hand, %d of them held", c.Held)
			}
			if c.Added {
				fmt.Fprintf(w, "  %s: %s%s\n", f.Name, orNone(f.To), note)
			} else {
				fmt.Fprintf(w, "  %s: %s → %s%s\n", f.Name, orNone(f.From), orNone(f.To), note)
			}
		}
	}
	verb := ""
	if dry {
		verb = "would be "
	}
	fmt.Fprintf(w, "%d %schanged, %d %sadded\n", changed, verb, added, verb)
}
