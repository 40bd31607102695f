package toolpolicy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"strconv"
	"unicode/utf8"
)

// checkJSON refuses a text that is no single JSON value, is nested too deeply,
// holds a key twice, or a number that others would round.
func checkJSON(text []byte) error {
	if !utf8.Valid(text) {
		return errors.New("the arguments are no UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	c := checker{d: d}
	if err := c.value(0); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the arguments")
	}
	return nil
}

type checker struct {
	d     *json.Decoder
	nodes int
}

func (c *checker) value(depth int) error {
	if c.nodes++; c.nodes > maxNodes {
		return fmt.Errorf("the arguments hold more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return fmt.Errorf("the arguments are nested more than %d deep", maxDepth)
	}
	token, err := c.d.Token()
	if err != nil {
		return errors.New("the arguments are no JSON")
	}
	switch v := token.(type) {
	case json.Number:
		return exact(v)
	case json.Delim:
		if v == '{' {
			return c.object(depth)
		}
		for c.d.More() {
			if err := c.value(depth + 1); err != nil {
				return err
			}
		}
		return c.end()
	}
	return nil
}

func (c *checker) object(depth int) error {
	seen := map[string]bool{}
	for c.d.More() {
		token, err := c.d.Token()
		key, ok := token.(string)
		if err != nil || !ok {
			return errors.New("the arguments are no JSON")
		}
		if seen[key] {
			return fmt.Errorf("the argument %q is there twice", key)
		}
		seen[key] = true
		if err := c.value(depth + 1); err != nil {
			return err
		}
	}
	return c.end()
}

func (c *checker) end() error {
	if _, err := c.d.Token(); err != nil {
		return errors.New("the arguments are no JSON")
	}
	return nil
}

// maxDigits bounds a number that is compared exactly.
const maxDigits = 64

// exact refuses a number that is another one as a double, which is what the
// canonical form knows: two calls would have one name.
func exact(n json.Number) error {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil || len(n) > maxDigits {
		return fmt.Errorf("the number %.20s cannot be kept exactly: send it as a text", n)
	}
	said, ok := new(big.Float).SetPrec(512).SetString(string(n))
	shortest := strconv.FormatFloat(f, 'g', -1, 64)
	short, _ := new(big.Float).SetPrec(512).SetString(shortest)
	if !ok || said.Cmp(short) != 0 {
		return fmt.Errorf("the number %.20s cannot be kept exactly: send it as a text", n)
	}
	return nil
}
