package weather

import (
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"agentmesh/app/platform/text"
)

// Report is the answer of call_weather.
type Report struct {
	City      string  `json:"city"`
	CityEn    string  `json:"cityEn"`
	Current   Current `json:"current"`
	Days      []Day   `json:"days"`
	Advice    string  `json:"advice"`
	AdviceEn  string  `json:"adviceEn"`
	Simulated bool    `json:"simulated"`
}

// Current is the weather of this hour.
type Current struct {
	Condition   string `json:"condition"`
	ConditionEn string `json:"conditionEn"`
	Temperature int    `json:"temperature"`
	Humidity    int    `json:"humidity"`
	Wind        string `json:"wind"`
	WindEn      string `json:"windEn"`
}

// Day is the forecast of one day.
type Day struct {
	Date            string `json:"date"`
	Weekday         int    `json:"weekday"`
	WeekdayZh       string `json:"weekdayZh"`
	WeekdayEn       string `json:"weekdayEn"`
	Condition       string `json:"condition"`
	ConditionEn     string `json:"conditionEn"`
	Low             int    `json:"low"`
	High            int    `json:"high"`
	RainProbability int    `json:"rainProbability"`
}

// report makes the weather of a city from the hour of now on. The same city and date always have the same weather.
func report(c city, now time.Time, days int) Report {
	r := Report{City: c.Name, CityEn: c.NameEn, Simulated: true, Days: make([]Day, 0, days)}
	for i := range days {
		r.Days = append(r.Days, day(c, now.AddDate(0, 0, i)))
	}
	r.Current = current(c, now, r.Days[0])
	r.Advice, r.AdviceEn = advice(r.Days, r.Current)
	return r
}

func day(c city, date time.Time) Day {
	dice := roll(c.NameEn, date.Format(time.DateOnly))
	month, weekday := date.Month()-1, text.Weekday(date)
	shift := dice.in(-4, 4)
	d := Day{
		Date: date.Format(time.DateOnly), Weekday: weekday,
		WeekdayZh: text.WeekdayZh(weekday), WeekdayEn: text.WeekdayEn(weekday),
		Low: c.Low[month] + shift + dice.in(-1, 1), High: c.High[month] + shift + dice.in(-1, 2),
	}
	wet := dice.in(0, 99) < c.Rain[month]
	if wet {
		d.High -= 2
		d.RainProbability = 60 + 5*dice.in(0, 7)
	} else {
		d.RainProbability = 5 * dice.in(0, 6)
	}
	d.High = max(d.High, d.Low+2)
	d.Condition, d.ConditionEn = condition(d, wet, date.Month(), dice)
	return d
}

func condition(d Day, wet bool, month time.Month, dice *dice) (string, string) {
	kind := dice.in(0, 9)
	switch {
	case wet && d.High <= 3 && kind < 7:
		return "小雪", "light snow"
	case wet && d.High <= 3:
		return "中雪", "moderate snow"
	case wet && month >= time.May && month <= time.September && kind < 3:
		return "雷阵雨", "thundershowers"
	case wet && kind < 7:
		return "小雨", "light rain"
	case wet:
		return "中雨", "moderate rain"
	case d.RainProbability >= 25:
		return "阴", "overcast"
	case kind < 5:
		return "多云", "cloudy"
	}
	return "晴", "sunny"
}

// current follows the day's curve: coldest at five, warmest at two in the afternoon.
func current(c city, now time.Time, today Day) Current {
	dice := roll(c.NameEn, now.Format("2006-01-02T15"))
	warmth := (1 - math.Cos(2*math.Pi*float64((now.Hour()+24-2)%24)/24)) / 2
	out := Current{
		Condition: today.Condition, ConditionEn: today.ConditionEn,
		Temperature: today.Low + int(math.Round(warmth*float64(today.High-today.Low))),
		Humidity:    min(98, max(15, c.Humidity[now.Month()-1]+dice.in(-8, 8)-int(10*warmth)+today.RainProbability/10)),
	}
	level := dice.in(1, 4)
	zh, en := direction(dice.in(0, 7))
	out.Wind, out.WindEn = fmt.Sprintf("%s风%d级", zh, level), fmt.Sprintf("%s %d", en, level)
	return out
}

func direction(n int) (string, string) {
	zh := []string{"东", "东南", "南", "西南", "西", "西北", "北", "东北"}
	en := []string{"east", "southeast", "south", "southwest", "west", "northwest", "north", "northeast"}
	return zh[n], en[n]
}

// dice are numbers that follow from a place and a time, and from nothing else.
type dice struct{ state uint64 }

func roll(place, when string) *dice {
	h := fnv.New64a()
	_, _ = h.Write([]byte(place + "|" + when)) // never fails
	return &dice{state: h.Sum64()}
}

// in gives the next number from low to high (splitmix64).
func (d *dice) in(low, high int) int {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	z ^= z >> 31
	return low + int(z%uint64(high-low+1))
}
