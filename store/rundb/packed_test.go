package rundb

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

func TestPack(t *testing.T) {
	t.Parallel()
	var p packer
	for _, text := range []string{"", "{}", `{"messages":[]}`, `{"a":"` + strings.Repeat("菜", 400) + `"}`, `{"a":"` + strings.Repeat("水煮牛肉 32.00；", 9000) + `"}`} {
		stored, err := p.pack([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		raw := stored
		_, packed := column(stored).([]byte)
		if packed != (len(text) >= packFrom) || (packed && len(raw) > len(text)/3) {
			t.Errorf("%d bytes are stored as %d, packed: %v", len(text), len(raw), packed)
		}
		if back, err := unpack(raw); err != nil || string(back) != text {
			t.Errorf("%d bytes came back as %d, %v", len(text), len(back), err)
		}
	}
	if _, err := unpack([]byte{packedMark, 0xff, 0xff}); err == nil {
		t.Error("what is damaged was unpacked")
	}
}

func TestPack_AtOnce(t *testing.T) {
	t.Parallel()
	var p packer
	var everybody sync.WaitGroup
	for i := range 16 {
		text := bytes.Repeat([]byte{byte('a' + i)}, 4096)
		everybody.Go(func() {
			for range 50 {
				stored, err := p.pack(text)
				if err != nil {
					t.Error(err)
					return
				}
				if back, err := unpack(stored); err != nil || !bytes.Equal(back, text) {
					t.Errorf("came back otherwise: %v", err)
				}
			}
		})
	}
	everybody.Wait()
}
