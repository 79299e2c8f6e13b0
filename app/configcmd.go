package app

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/cobra"
)

// shown is one setting as `config` prints it.
type shown struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	From  string `json:"from"`
	Help  string `json:"help"`
}

// configCommand prints what serve would run with.
func configCommand() *cobra.Command {
	var c Config
	var asJSON bool
	cmd := &cobra.Command{
		Use: "config", Short: "Print every setting with its value and where it came from, and the limits", Args: cobra.NoArgs,
		Long: "Print every setting that a start from here would have, with its value and where it came from, and the limits of\n" +
			"the program. A program that runs already goes by the settings of its own start. A secret is only said to be set.\n" +
			"The flags are those of serve.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			from, err := c.resolve(cmd)
			if err != nil {
				return err
			}
			list := c.shown(from)
			if asJSON {
				err = printJSON(cmd.OutOrStdout(), map[string]any{"settings": list, "limits": bounds()})
			} else {
				printConfig(cmd.OutOrStdout(), list)
			}
			if err != nil {
				return err
			}
			return c.check() // after the values, which show what is meant
		},
	}
	c.bindFlags(cmd.Flags())
	jsonFlag(cmd, &asJSON)
	return cmd
}

func (c *Config) shown(from origins) []shown {
	var out []shown
	for _, s := range settings(c) {
		out = append(out, shown{Name: s.name(), Value: c.secrets().Text(withoutPasswords(s.show())), From: from[s.name()], Help: s.help})
	}
	return out
}

var userinfo = regexp.MustCompile(`://[^/@\s,]*@`)

// withoutPasswords takes user names and passwords out of addresses.
func withoutPasswords(text string) string { return userinfo.ReplaceAllString(text, "://…@") }

func printConfig(w io.Writer, list []shown) {
	fmt.Fprintf(w, "settings\n")
	for _, s := range list {
		fmt.Fprintf(w, "  %-24s %-28s %s\n", s.Name, orNone(s.Value), s.From)
	}
	fmt.Fprintf(w, "\nlimits\n")
	for _, l := range bounds() {
		fmt.Fprintf(w, "  %-34s %s\n", l.Name, l.Value)
	}
}

func orNone(value string) string {
	if value == "" {
		return "-"
	}
	return value
}

func jsonFlag(cmd *cobra.Command, into *bool) {
	cmd.Flags().BoolVar(into, "json", false, "print JSON")
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}
