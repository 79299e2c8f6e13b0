package app

import "strings"

// models lists the names of the models that are asked, in this order.
func (c Config) models() []string {
	var names []string
	for name := range strings.SplitSeq(c.LLMModels, ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return []string{c.LLMModel}
	}
	return names
}
