package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"agentmesh/agent/run"
	"agentmesh/app/platform/failpoint"
	"agentmesh/app/platform/redact"
	"agentmesh/capability"
)

// Config is everything that can be set.
type Config struct {
	Listen          string
	Modules         []string
	Splits          []string
	Peers           []string
	Data            string
	ConfirmationTTL time.Duration
	OffloadAfter    time.Duration
	Recovery        string
	TimeZone        string
	PublicURL       string
	AllowHosts      []string
	AllowOrigins    []string
	Insecure        bool
	LogLevel        string
	KeepEvents      time.Duration // 0 keeps for ever, here and below
	KeepAudit       time.Duration
	KeepSpans       time.Duration

	Policies []capability.Rule // of the configuration file

	Models      []ModelSetting
	LLMKey      string
	LLMBaseURL  string
	LLMModel    string
	LLMModels   string
	LLMContext  int
	DemoTools   bool
	FoodTools   string
	InternalKey string
	APIKeys     string
	Key         string
	Failpoints  string
}

// setting is one row of the table from which flags, environment variables and help are made.
type setting struct {
	flag   string // empty: no flag
	key    string // how it is called where that is not the flag's or the variable's name
	env    string
	help   string
	secret bool // never shown, and not taken from the configuration file
	list   bool

	structured bool // in the configuration file it is more than a text; parse takes it as JSON

	reset func() // to the default
	bind  func(fs *pflag.FlagSet, name, help string)
	parse func(value string) error // from the environment or a file
	show  func() string
}

// name is how the setting is called in the configuration file and by `config`.
func (s setting) name() string {
	if s.flag != "" || s.key != "" {
		return cmp.Or(s.flag, s.key)
	}
	return strings.ToLower(strings.ReplaceAll(s.env, "_", "-"))
}

// secret is a text that is never shown.
func secret(env, help string, into *string) setting {
	s := text("", env, "", help, into)
	s.secret = true
	s.show = func() string {
		if *into == "" {
			return "not set"
		}
		return "set"
	}
	return s
}

// settings is the table of all settings with their defaults.
func settings(c *Config) []setting {
	return []setting{
		text("listen", "AGENTMESH_LISTEN", "127.0.0.1:8000", "address of the main listener; :PORT means 127.0.0.1:PORT", &c.Listen),
		list("module", "AGENTMESH_MODULE", "run only this module here; repeatable (all when left out)", &c.Modules),
		list("split", "AGENTMESH_SPLIT", "NAME=ADDRESS gives a module of this process a listener of its own; repeatable; all for the classic ports", &c.Splits),
		list("peer", "AGENTMESH_PEER", "NAME=URL says that a module runs in another process; repeatable", &c.Peers),
		text("data", "AGENTMESH_DATA", "data", "folder of the databases", &c.Data),
		duration("confirmation-ttl", "AGENTMESH_CONFIRMATION_TTL", 300*time.Second, "how long a question to the person stays open", &c.ConfirmationTTL),
		duration("offload-after", "AGENTMESH_OFFLOAD_AFTER", run.OffloadAfter, "how long a run waits for a call before it goes on in the background; 0 for ever", &c.OffloadAfter),
		text("recovery", "AGENTMESH_RECOVERY", "resume", "what a restart does with unfinished runs: resume, or fail", &c.Recovery),
		text("time-zone", "AGENTMESH_TIME_ZONE", "Asia/Shanghai", "the canteen's time zone, in which \"today\" is computed", &c.TimeZone),
		text("public-url", "AGENTMESH_PUBLIC_URL", "", "base URL under which others reach the main listener", &c.PublicURL),
		list("allow-host", "AGENTMESH_ALLOW_HOST", "a further Host to answer to; repeatable", &c.AllowHosts),
		list("allow-origin", "AGENTMESH_ALLOW_ORIGIN", "an origin elsewhere whose pages may call, such as http://localhost:5173; repeatable", &c.AllowOrigins),
		truth("insecure", "AGENTMESH_INSECURE", "listen beyond loopback although no keys are configured", &c.Insecure),
		text("log-level", "AGENTMESH_LOG_LEVEL", "warn", "debug, info, warn, error or off", &c.LogLevel),
		age("keep-events", "AGENTMESH_KEEP_EVENTS", 30*day, "how long the events of an ended run are kept, such as 30d; 0 for ever", &c.KeepEvents),
		age("keep-audit", "AGENTMESH_KEEP_AUDIT", 180*day, "how long audit records are kept; 0 for ever", &c.KeepAudit),
		age("keep-spans", "AGENTMESH_KEEP_SPANS", 30*day, "how long the spans of traces are kept; 0 for ever", &c.KeepSpans),
		policies(&c.Policies),
		modelList(&c.Models),
		secret("LLM_API_KEY", "key of the model's endpoint; without it and LLM_BASE_URL the demo model answers", &c.LLMKey),
		text("", "LLM_BASE_URL", "", "address of an OpenAI-compatible endpoint, up to and including /v1", &c.LLMBaseURL),
		text("", "LLM_MODEL", "gpt-4o-mini", "name of the model", &c.LLMModel),
		text("", "LLM_MODELS", "", "names of models of the same endpoint, separated by commas, in place of LLM_MODEL: when one fails before it has said anything, the next is asked", &c.LLMModels),
		number("LLM_CONTEXT_SIZE", 32_768, "tokens that a request to the model and its answer may have together", &c.LLMContext),
		truth("", "DEMO_TOOLS_ENABLED", "show the demonstration tools: web_search, which is simulated, and execute_python, which runs Starlark in a sandbox", &c.DemoTools),
		text("", "FOOD_TOOLS", "split", "split, or combined: one call_food instead of recommend_food and place_order", &c.FoodTools),
		secret("AGENTMESH_API_KEYS", "keys that callers need, as name:role:secret, separated by commas; beside those of 'agentmesh key'", &c.APIKeys),
		secret("AGENTMESH_KEY", "your own key, which commands such as trace send where keys are configured", &c.Key),
		text("", failpoint.Env, "", "faults put into this process, for tests of what it survives (docs/durability.md)", &c.Failpoints),
		secret("AGENTMESH_INTERNAL_KEY", "key by which the modules know each other; random when empty", &c.InternalKey),
	}
}

func text(flag, env, usual, help string, into *string) setting {
	return setting{
		flag: flag, env: env, help: help, reset: func() { *into = usual },
		bind:  func(fs *pflag.FlagSet, name, help string) { fs.StringVar(into, name, usual, help) },
		parse: func(v string) error { *into = v; return nil },
		show:  func() string { return *into },
	}
}

func duration(flag, env string, usual time.Duration, help string, into *time.Duration) setting {
	return setting{
		flag: flag, env: env, help: help, reset: func() { *into = usual },
		bind: func(fs *pflag.FlagSet, name, help string) { fs.DurationVar(into, name, usual, help) },
		parse: func(v string) (err error) {
			*into, err = time.ParseDuration(v)
			return err
		},
		show: func() string { return into.String() },
	}
}

// age is a duration that may be given in days.
func age(flag, env string, usual time.Duration, help string, into *time.Duration) setting {
	v := (*days)(into)
	return setting{
		flag: flag, env: env, help: help, reset: func() { *into = usual },
		bind:  func(fs *pflag.FlagSet, name, help string) { *into = usual; fs.Var(v, name, help) },
		parse: v.Set, show: v.String,
	}
}

const day = 24 * time.Hour

// days is a duration that people give as 30d.
type days time.Duration

// Set reads 30d, or what a duration is written as.
func (d *days) Set(text string) error {
	if number, inDays := strings.CutSuffix(text, "d"); inDays {
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil {
			return fmt.Errorf("%q is no number of days such as 30d", text)
		}
		*d = days(time.Duration(n) * day)
		return nil
	}
	v, err := time.ParseDuration(text)
	*d = days(v)
	return err
}

// String writes whole days as days.
func (d *days) String() string {
	v := time.Duration(*d)
	if v%day == 0 && v != 0 {
		return strconv.Itoa(int(v/day)) + "d"
	}
	return v.String()
}

// Type names it in the help.
func (d *days) Type() string { return "duration" }

func truth(flag, env, help string, into *bool) setting {
	return setting{
		flag: flag, env: env, help: help, reset: func() { *into = false },
		bind: func(fs *pflag.FlagSet, name, help string) { fs.BoolVar(into, name, false, help) },
		parse: func(v string) (err error) {
			*into, err = strconv.ParseBool(v)
			return err
		},
		show: func() string { return strconv.FormatBool(*into) },
	}
}

// number is a setting of the environment that is a whole number.
func number(env string, usual int, help string, into *int) setting {
	return setting{
		env: env, help: help, reset: func() { *into = usual },
		parse: func(v string) (err error) {
			*into, err = strconv.Atoi(v)
			return err
		},
		show: func() string { return strconv.Itoa(*into) },
	}
}

func list(flag, env, help string, into *[]string) setting {
	return setting{
		flag: flag, env: env, help: help, list: true, reset: func() { *into = nil },
		bind: func(fs *pflag.FlagSet, name, help string) { fs.StringArrayVar(into, name, nil, help) },
		parse: func(v string) error {
			*into = strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' })
			return nil
		},
		show: func() string { return strings.Join(*into, ", ") },
	}
}

// Default gives the settings as they are when nothing is set.
func Default() Config {
	var c Config
	for _, s := range settings(&c) {
		s.reset()
	}
	return c
}

// bindFlags sets the defaults and makes a flag of every setting that has one, or only of the named ones.
func (c *Config) bindFlags(fs *pflag.FlagSet, only ...string) {
	*c = Default()
	for _, s := range settings(c) {
		if s.flag != "" && (len(only) == 0 || slices.Contains(only, s.flag)) {
			s.bind(fs, s.flag, s.help+" ["+s.env+"]")
		}
	}
}

// environmentHelp lists the settings that only the environment has.
func environmentHelp() string {
	var b strings.Builder
	for _, s := range settings(&Config{}) {
		if s.flag == "" {
			fmt.Fprintf(&b, "  %-24s %s\n", s.env, s.help)
		}
	}
	return b.String()
}

// check finds every mistake before anything starts.
func (c *Config) check() error {
	var errs []error
	wrong := func(name, format string, args ...any) {
		errs = append(errs, fmt.Errorf(name+": "+format, args...))
	}
	if strings.HasPrefix(c.Listen, ":") {
		c.Listen = "127.0.0.1" + c.Listen
	}
	host, _, err := net.SplitHostPort(c.Listen)
	keys, keyErr := openKeyring(c.Data, c.APIKeys)
	if keyErr != nil {
		errs = append(errs, keyErr)
	}
	switch {
	case err != nil:
		wrong("--listen", "%q is not HOST:PORT", c.Listen)
	case keyErr == nil && !keys.configured():
		errs = append(errs, c.exposed("--listen", host))
	}
	where, err := place(*c)
	if err != nil {
		errs = append(errs, err)
	}
	for name, addr := range where.split {
		if host, _, err := net.SplitHostPort(addr); err == nil && keyErr == nil && !keys.configured() {
			errs = append(errs, c.exposed("--split "+name, host))
		}
	}
	if c.Data == "" {
		wrong("--data", "it is empty: name a folder")
	}
	if c.ConfirmationTTL < time.Second || c.ConfirmationTTL > 24*time.Hour {
		wrong("--confirmation-ttl", "%s is not between 1s and 24h", c.ConfirmationTTL)
	}
	if c.OffloadAfter < 0 || (c.OffloadAfter > 0 && c.OffloadAfter < time.Second) {
		wrong("--offload-after", "%s is less than a second; 0 waits for ever", c.OffloadAfter)
	}
	for name, keep := range map[string]time.Duration{"--keep-events": c.KeepEvents, "--keep-audit": c.KeepAudit, "--keep-spans": c.KeepSpans} {
		if keep < 0 || (keep > 0 && keep < time.Hour) {
			wrong(name, "%s is less than an hour; 0 keeps for ever", keep)
		}
	}
	if !slices.Contains([]string{"resume", "fail"}, c.Recovery) {
		wrong("--recovery", "%q is neither resume nor fail", c.Recovery)
	}
	if !slices.Contains([]string{"debug", "info", "warn", "error", "off"}, c.LogLevel) {
		wrong("--log-level", "%q is none of debug, info, warn, error, off", c.LogLevel)
	}
	if !slices.Contains([]string{"split", "combined"}, c.FoodTools) {
		wrong("FOOD_TOOLS", "%q is neither split nor combined", c.FoodTools)
	}
	errs = append(errs, c.checkModels())
	if _, err := time.LoadLocation(c.TimeZone); err != nil || c.TimeZone == "" {
		wrong("--time-zone", "%q is not a time zone", c.TimeZone)
	}
	for _, origin := range c.AllowOrigins {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			wrong("--allow-origin", "%q is not an origin, such as http://localhost:5173; there is no wildcard", origin)
		}
	}
	if u, err := url.Parse(c.PublicURL); c.PublicURL != "" && (err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https")) {
		wrong("--public-url", "%q is not an http or https address", c.PublicURL)
	}
	return errors.Join(errs...)
}

// exposed refuses a listener that others reach while nobody needs a key.
func (c *Config) exposed(flag, host string) error {
	if loopback(host) || c.Insecure {
		return nil
	}
	return fmt.Errorf("%s: %s is not a loopback address and no keys are configured; make one with 'agentmesh key add', or say with --insecure that you mean it", flag, host)
}

// secrets are what must never be written or shown.
func (c *Config) secrets() *redact.Set {
	values := []string{c.LLMKey, c.InternalKey, c.Key}
	for _, m := range c.Models {
		values = append(values, m.Key)
	}
	for _, entry := range apiKeyEntries(c.APIKeys) {
		values = append(values, entry[strings.LastIndexByte(entry, ':')+1:])
	}
	return redact.New(values...)
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// readDotEnv reads a .env file, where there is one: NAME=value lines, # comments, optional quotes. The
// process's own environment goes before it.
func readDotEnv(path string) (map[string]string, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	out := map[string]string{}
	for n, line := range strings.Split(string(raw), "\n") {
		line = strings.TrimPrefix(strings.TrimSpace(line), "export ")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok {
			return nil, fmt.Errorf("read %s: line %d is not NAME=value", path, n+1)
		}
		value = strings.TrimSpace(value)
		if len(value) > 1 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0] {
			value = value[1 : len(value)-1]
		}
		out[strings.TrimSpace(name)] = value
	}
	return out, nil
}
