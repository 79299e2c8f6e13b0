package weather

import (
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"agentmesh/app/platform/text"
)

//go:embed cities.json
var files embed.FS

// city is a place with its climate: twelve monthly means, January first.
type city struct {
	Name     string   `json:"name"`
	NameEn   string   `json:"nameEn"`
	Aliases  []string `json:"aliases"`
	Low      [12]int  `json:"low"`      // °C, of the night
	High     [12]int  `json:"high"`     // °C, of the day
	Rain     [12]int  `json:"rain"`     // % of days with rain or snow
	Humidity [12]int  `json:"humidity"` // %
}

type atlas []city

func loadCities() (atlas, error) {
	raw, err := files.ReadFile("cities.json")
	if err != nil {
		return nil, fmt.Errorf("read cities.json: %w", err)
	}
	var a atlas
	if err := json.Unmarshal(raw, &a); err != nil {
		return nil, fmt.Errorf("read cities.json: %w", err)
	}
	return a, nil
}

// named finds a city by its whole name, in Chinese with or without 市, or in English.
func (a atlas) named(name string) (city, bool) {
	name = plain(strings.TrimSuffix(strings.TrimSpace(name), "市"))
	for _, c := range a {
		for _, known := range c.names() {
			if plain(known) == name {
				return c, true
			}
		}
	}
	return city{}, false
}

// mentioned finds the first city that a text names.
func (a atlas) mentioned(sentence string) (city, bool) {
	found, at := city{}, -1
	for _, c := range a {
		for _, name := range c.names() {
			if i := text.WordAt(sentence, name); i >= 0 && (at < 0 || i < at) {
				found, at = c, i
			}
		}
	}
	return found, at >= 0
}

func (c city) names() []string { return append([]string{c.Name, c.NameEn}, c.Aliases...) }

// list names all cities, for an answer to somebody who asked for another one.
func (a atlas) list() string {
	names := make([]string, 0, len(a))
	for _, c := range a {
		names = append(names, c.Name+" ("+c.NameEn+")")
	}
	return strings.Join(names, ", ")
}

// plain reduces a name to its letters: Xi’an, xi an and Xian are one.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}
