package capability

// Toolkit is what one turn may call. What is not in it cannot be called in that turn, whoever names it.
type Toolkit struct {
	definitions []Definition
}

// Definitions lists the toolkit in the registry's order.
func (t Toolkit) Definitions() []Definition { return t.definitions }

// Names lists the names in the registry's order.
func (t Toolkit) Names() []string {
	names := make([]string, 0, len(t.definitions))
	for _, d := range t.definitions {
		names = append(names, d.Name)
	}
	return names
}

// Has tells whether a capability is in the toolkit.
func (t Toolkit) Has(name string) bool {
	for _, d := range t.definitions {
		if d.Name == name {
			return true
		}
	}
	return false
}
