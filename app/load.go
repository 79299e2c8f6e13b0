package app

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// dotEnvFile is read from the folder in which the program starts, where there is one.
const dotEnvFile = ".env"

// sources are the places beside the flags that settings come from.
type sources struct {
	environment func(string) (string, bool)
	dotEnv      map[string]string
	file        map[string]fileValue // by the setting's name
	fileName    string
}

// origins says of each setting, by name, where its value came from.
type origins map[string]string

// origin names where the value of a setting came from; fromDefault when nobody set it.
const fromDefault = "default"

// load takes every setting from the first place that has it: flag, environment, .env, configuration file.
// It reports all mistakes together.
func (c *Config) load(fs *pflag.FlagSet, from sources) (origins, error) {
	out := origins{}
	var errs []error
	for _, s := range settings(c) {
		out[s.name()] = fromDefault
		if s.flag != "" && fs.Changed(s.flag) {
			out[s.name()] = "flag --" + s.flag
			continue
		}
		value, origin := from.find(s)
		if value == "" { // an empty variable goes before the file, and means the default
			continue
		}
		out[s.name()] = origin
		if err := s.parse(value); err != nil {
			errs = append(errs, fmt.Errorf("%s: %s: %w", origin, s.name(), s.unreadable(value, err)))
		}
	}
	for i, m := range c.Models {
		c.Models[i].Key, _ = from.variable(m.KeyEnv)
	}
	return out, errors.Join(errs...)
}

// unreadable says what is wrong with a value. A value of many parts is not repeated: its parts are named, and one may
// be a secret that should not be there.
func (s setting) unreadable(value string, err error) error {
	if s.structured {
		return err
	}
	return fmt.Errorf("%q cannot be read: %w", value, err)
}

// variable finds a variable of the environment or of .env, and says where.
func (f sources) variable(name string) (value, origin string) {
	if v, ok := f.environment(name); ok {
		return v, "environment " + name
	}
	if v, ok := f.dotEnv[name]; ok {
		return v, dotEnvFile + " " + name
	}
	return "", ""
}

func (f sources) find(s setting) (value, origin string) {
	if v, where := f.variable(s.env); where != "" {
		return v, where
	}
	if v, ok := f.file[s.name()]; ok {
		return v.text, fmt.Sprintf("%s line %d", f.fileName, v.line)
	}
	return "", fromDefault
}

// configFlag names the configuration file, for every command.
const configFlag = "config"

// resolve gives a command its settings: the flags that it has, and for the others the other places.
func (c *Config) resolve(cmd *cobra.Command) (origins, error) {
	from := sources{environment: os.LookupEnv}
	var err error
	if from.dotEnv, err = readDotEnv(dotEnvFile); err != nil {
		return nil, err
	}
	flag := cmd.Flag(configFlag)
	from.fileName = flag.Value.String()
	if from.file, err = readConfigFile(from.fileName, flag.Changed); err != nil {
		return nil, err
	}
	return c.load(cmd.Flags(), from)
}
