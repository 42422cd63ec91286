package main

import (
	"testing"

	"github.com/alecthomas/kong"

	"smsdesk/internal/wording"
)

// TestTheHelpSaysOneWord reads what --help says of every command and flag.
func TestTheHelpSaysOneWord(t *testing.T) {
	parser, err := kong.New(&command{})
	if err != nil {
		t.Fatal(err)
	}
	banned, read := wording.NewChecker(), 0
	var look func(*kong.Node)
	look = func(n *kong.Node) {
		texts := map[string]string{n.Path(): n.Help}
		for _, f := range n.Flags {
			texts[n.Path()+" --"+f.Name] = f.Help
		}
		for _, p := range n.Positional {
			texts[n.Path()+" "+p.Name] = p.Help
		}
		for what, text := range texts {
			read++
			for _, f := range banned.Check(text) {
				t.Errorf("the help of %s says %s", what, f)
			}
		}
		for _, child := range n.Children {
			look(child)
		}
	}
	look(parser.Model.Node)
	if read < 100 {
		t.Errorf("only %d texts were read", read)
	}
}
