package numeral_test

import (
	"testing"
	"unicode/utf8"

	"agentmesh/app/platform/numeral"
)

// parsed is a word and what Parse shall read in it.
type parsed struct {
	word string
	kind numeral.Kind
	n    int
}

func checkParse(t *testing.T, tests []parsed) {
	t.Helper()
	for _, test := range tests {
		t.Run(test.word, func(t *testing.T) {
			t.Parallel()
			got, ok := numeral.Parse(test.word)
			if !ok || got.Kind != test.kind || got.N != test.n {
				t.Errorf("Parse(%q) = %+v, %v; want kind %d, n %d", test.word, got, ok, test.kind, test.n)
			}
		})
	}
}

func TestParse_Chinese(t *testing.T) {
	t.Parallel()
	checkParse(t, []parsed{
		{"一份", numeral.Whole, 1},
		{"1份", numeral.Whole, 1},
		{"１２份", numeral.Whole, 12},
		{"两份", numeral.Whole, 2},
		{"二份", numeral.Whole, 2},
		{"俩", numeral.Whole, 2},
		{"仨", numeral.Whole, 3},
		{"十份", numeral.Whole, 10},
		{"十二份", numeral.Whole, 12},
		{"二十份", numeral.Whole, 20},
		{"二十一份", numeral.Whole, 21},
		{"一百份", numeral.Whole, 100},
		{"一百二", numeral.Whole, 120},
		{"一百零五份", numeral.Whole, 105},
		{"九百九十九份", numeral.Whole, 999},
		{"一千份", numeral.Whole, 1000},
		{"一千零一十份", numeral.Whole, 1010},
		{"一万两千份", numeral.Whole, 12000},
		{"100000000份", numeral.Whole, 100000000},
		{"一亿份", numeral.Whole, 100000000},
		{"99999999999999999999份", numeral.Whole, 2147483647},
		{"3万份", numeral.Whole, 30000},
		{"一打", numeral.Whole, 12},
		{"两打", numeral.Whole, 24},
		{"半打", numeral.Whole, 6},
		{"零份", numeral.Whole, 0},
		{"0份", numeral.Whole, 0},
		{"二零二六", numeral.Whole, 2026},
		{"一大份", numeral.Whole, 1},
		{"半份", numeral.Half, 0},
		{"半碗", numeral.Half, 0},
		{"0.5份", numeral.Half, 0},
		{"1/2份", numeral.Half, 0},
		{"½", numeral.Half, 0},
		{"零点五份", numeral.Half, 0},
		{"二分之一份", numeral.Half, 0},
		{"两三份", numeral.Vague, 0},
		{"三五个", numeral.Vague, 0},
		{"一两碗", numeral.Vague, 0},
		{"十二三份", numeral.Vague, 0},
		{"二三十份", numeral.Vague, 0},
		{"两到三份", numeral.Vague, 0},
		{"两份到三份", numeral.Vague, 0},
		{"2-3份", numeral.Vague, 0},
		{"2~3份", numeral.Vague, 0},
		{"几份", numeral.Vague, 0},
		{"十几份", numeral.Vague, 0},
		{"十多份", numeral.Vague, 0},
		{"2.5", numeral.Fraction, 2},
		{"2.5份", numeral.Fraction, 2},
		{"二点五份", numeral.Fraction, 2},
		{"一份半", numeral.Fraction, 1},
		{"三分之一份", numeral.Fraction, 0},
		{"2.0份", numeral.Whole, 2},
		{"-1份", numeral.Negative, 1},
		{"−1", numeral.Negative, 1},
		{"负一份", numeral.Negative, 1},
	})
}

func TestParse_English(t *testing.T) {
	t.Parallel()
	checkParse(t, []parsed{
		{"one", numeral.Whole, 1},
		{"a", numeral.Whole, 1},
		{"two", numeral.Whole, 2},
		{"Two portions of", numeral.Whole, 2},
		{"twenty-one", numeral.Whole, 21},
		{"a hundred and five", numeral.Whole, 105},
		{"one thousand two hundred", numeral.Whole, 1200},
		{"a thousand", numeral.Whole, 1000},
		{"1,000", numeral.Whole, 1000},
		{"a dozen", numeral.Whole, 12},
		{"two dozen", numeral.Whole, 24},
		{"half a dozen", numeral.Whole, 6},
		{"a couple of", numeral.Whole, 2},
		{"another", numeral.Whole, 1},
		{"another two", numeral.Whole, 2},
		{"2x", numeral.Whole, 2},
		{"x2", numeral.Whole, 2},
		{"×3", numeral.Whole, 3},
		{"zero", numeral.Whole, 0},
		{"half a", numeral.Half, 0},
		{"half a portion of", numeral.Half, 0},
		{"a few", numeral.Vague, 0},
		{"two or three", numeral.Vague, 0},
		{"two to three portions", numeral.Vague, 0},
		{"several", numeral.Vague, 0},
		{"one and a half", numeral.Fraction, 1},
		{"minus one", numeral.Negative, 1},
	})
}

func TestParse_refusesOtherWords(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "份", "水煮牛肉", "点", "beef", "一份水煮牛肉", "1/0", "dozen beef", "hundred"} {
		if got, ok := numeral.Parse(word); ok {
			t.Errorf("Parse(%q) = %+v; want none", word, got)
		}
	}
}

func TestFindAll(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"帮我点一份水煮牛肉", []string{"一份"}},
		{"来两份水煮牛肉和一份米饭", []string{"两份", "一份"}},
		{"周三有什么菜，五花肉和三文鱼", nil},
		{"周一一份水煮牛肉", []string{"一份"}},
		{"第一份太咸", nil},
		{"三块钱的饼，两个月，三杯鸡一份", []string{"一份"}},
		{"包子来仨", []string{"仨"}},
		{"来仨包子", []string{"仨"}},
		{"订2.5份米饭", []string{"2.5份"}},
		{"订-1份米饭", []string{"-1份"}},
		{"水煮牛肉x2，米饭 3", []string{"x2", "3"}},
		{"12月1日 8:30 32元", nil},
		{"上海未来三天天气", nil},
		{"order two boiled beef and a steamed rice", []string{"two", "a"}},
		{"Half a portion of rice", []string{"Half a portion of"}},
		{"3 bowls of rice, boiled beef x 2", []string{"3 bowls of", "x 2"}},
		{"the 2nd one", []string{"one"}},
	}
	for _, test := range tests {
		t.Run(test.text, func(t *testing.T) {
			t.Parallel()
			phrases := numeral.FindAll(test.text)
			if len(phrases) != len(test.want) {
				t.Fatalf("FindAll(%q) = %+v; want %q", test.text, phrases, test.want)
			}
			for i, phrase := range phrases {
				if got := test.text[phrase.Start:phrase.End]; got != test.want[i] || phrase.Text != got {
					t.Errorf("phrase %d = %q (text %q); want %q", i, got, phrase.Text, test.want[i])
				}
			}
		})
	}
}

func TestQuantity_Count(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{"两份": true, "0份": false, "半份": false, "两三份": false, "-1份": false, "2.5": false} {
		quantity, _ := numeral.Parse(word)
		if _, got := quantity.Count(); got != want {
			t.Errorf("Parse(%q).Count() = %v; want %v", word, got, want)
		}
	}
}

func FuzzFindAll(f *testing.F) {
	for _, seed := range []string{"来两份水煮牛肉和一份米饭", "half a dozen", "一百亿万千份", "十二三", "2-3份", "\xff一份", "x×*负-1,000.5/2 dozen"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		end := 0
		for _, phrase := range numeral.FindAll(text) {
			if phrase.Start < end || phrase.End <= phrase.Start || phrase.End > len(text) {
				t.Fatalf("phrase %+v does not follow %d in %q", phrase, end, text)
			}
			if phrase.N < 0 || utf8.ValidString(text) && !utf8.ValidString(phrase.Text) {
				t.Fatalf("phrase %+v of %q", phrase, text)
			}
			end = phrase.End
		}
		numeral.Parse(text)
	})
}
