package app

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"agentmesh/app/platform/identity"
)

// noKeys says what it means that nobody has one.
const noKeys = "There are no keys in this folder: unless AGENTMESH_API_KEYS has some, a program on loopback trusts every program on this machine, and one on another address lets nobody in."

// keyCommand manages the keys of a data folder. A running program notices a change by itself.
func keyCommand() *cobra.Command {
	var c Config
	cmd := &cobra.Command{Use: "key", Short: "Add, list and revoke the keys that callers need"}
	c.bindFlags(cmd.PersistentFlags(), "data")
	cmd.AddCommand(keyAdd(&c), keyList(&c), keyRevoke(&c))
	return cmd
}

// keyring opens the keys of the command's data folder.
func (c *Config) keyring(cmd *cobra.Command) (*keyring, error) {
	if _, err := c.resolve(cmd); err != nil {
		return nil, err
	}
	return openKeyring(c.Data, "")
}

func keyAdd(c *Config) *cobra.Command {
	var user, role string
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make a key and print its secret, once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.keyring(cmd)
			if err != nil {
				return err
			}
			if user == "" {
				user = args[0]
			}
			secret, err := r.add(args[0], user, identity.Role(role), time.Now())
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), secret)
			fmt.Fprintln(cmd.ErrOrStderr(), "It is shown once. Send it as 'Authorization: Bearer …'; from now on every caller needs a key.")
			return nil
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "whose key it is (default: the key's name)")
	cmd.Flags().StringVar(&role, "role", string(identity.Person), "person (decides own confirmations), agent (decides nothing), admin")
	return cmd
}

func keyList(c *Config) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the keys of the folder", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r, err := c.keyring(cmd)
			if err != nil {
				return err
			}
			if len(r.stored) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), noKeys)
			}
			for _, k := range r.stored {
				fmt.Fprintf(cmd.OutOrStdout(), "%-20s %-8s user %-20s %s\n", k.Name, k.Role, k.User, k.CreatedAt.Format(time.RFC3339))
			}
			return nil
		},
	}
}

func keyRevoke(c *Config) *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Take a key out of use", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := c.keyring(cmd)
			if err != nil {
				return err
			}
			if err := r.revoke(args[0]); err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "revoked %s\n", args[0])
			if left, err := r.keys(); err == nil && len(left) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), noKeys)
			}
			return nil
		},
	}
}
