package family

import (
	"encoding/binary"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// births panics at each birth, and counts what is lost.
type births struct{ lost int }

func (*births) Born(int, int) { panic("secret") }
func (*births) Ended(int)     {}
func (b *births) Lost()       { b.lost++ }

// TestPanicsOfBirths: a birth that panics counts as one that nobody saw.
func TestPanicsOfBirths(t *testing.T) {
	message := make([]byte, eventRoom)
	order := binary.NativeEndian
	order.PutUint32(message, eventRoom)
	event := message[headerSize+messageSize:]
	order.PutUint32(event, eventFork)
	order.PutUint32(event[eventData+4:], 100)
	order.PutUint32(event[eventData+12:], 101)
	before, b := rescue.Caught(), &births{}
	hear(message, b)
	if n := rescue.Caught() - before; n != 1 || b.lost != 1 {
		t.Errorf("%d were counted, %d lost", n, b.lost)
	}
}
