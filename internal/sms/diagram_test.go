package sms

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the diagrams of internal/workers/README.md again")

const diagrams = "../workers/README.md"

// TestDiagramsAreThoseOfTheTables: what people read of the states is written from
// the tables that the code goes by.
func TestDiagramsAreThoseOfTheTables(t *testing.T) {
	raw, err := os.ReadFile(diagrams)
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for name, want := range map[string]string{"message": messageDiagram(), "campaign": campaignDiagram(),
		"ways": wayTable()} {
		block := regexp.MustCompile(`(?s)(<!-- ` + name + `: [^\n]*-->\n).*?(<!-- end -->)`)
		if !block.MatchString(text) {
			t.Fatalf("%s has no place for %s", diagrams, name)
		}
		text = block.ReplaceAllString(text, "${1}"+strings.ReplaceAll(want, "$", "$$")+"${2}")
	}
	switch {
	case text == string(raw):
	case *update:
		if err := os.WriteFile(diagrams, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the tables say; write it again with go test ./internal/sms -run Diagram -update", diagrams)
	}
}

func messageDiagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n  [*] --> draft\n")
	for _, from := range States() {
		for _, to := range from.Next() {
			fmt.Fprintf(&b, "  %s --> %s\n", from, to)
		}
		if len(from.Next()) == 0 {
			fmt.Fprintf(&b, "  %s --> [*]\n", from)
		}
	}
	return b.String() + "```\n"
}

// campaignDiagram has one arrow for each pair of states, with every way on it.
func campaignDiagram() string {
	var b strings.Builder
	b.WriteString("```mermaid\nstateDiagram-v2\n")
	arrow := func(from, to CampaignState, ways []string) {
		if len(ways) > 0 {
			fmt.Fprintf(&b, "  %s --> %s: %s\n", node(from), node(to), strings.Join(ways, ", "))
		}
	}
	for _, to := range CampaignStates() {
		arrow("", to, waysBetween("", to))
	}
	for _, from := range CampaignStates() {
		for _, to := range append(CampaignStates(), "") {
			if from != to {
				arrow(from, to, waysBetween(from, to))
			}
		}
	}
	return b.String() + "```\n"
}

func node(s CampaignState) string {
	if s == "" {
		return "[*]"
	}
	return string(s)
}

// waysBetween names the ways between two states; "" is where there is no campaign.
func waysBetween(from, to CampaignState) (list []string) {
	for _, tr := range transitions {
		starts := slices.Contains(tr.From, from) || from == "" && len(tr.From) == 0
		ends := slices.Contains(tr.To, to) || to == "" && tr.Gone
		if starts && ends {
			list = append(list, string(tr.Way))
		}
	}
	return list
}

func wayTable() string {
	var b strings.Builder
	b.WriteString("| way | from | to | goes along | asks before | why not for the rest |\n|---|---|---|---|---|---|\n")
	for _, tr := range transitions {
		to := words(tr.To)
		switch {
		case tr.Gone:
			to = "gone"
		case len(tr.To) == 0:
			to = "the same"
		}
		along := words(tr.Along)
		if tr.Seen {
			along += " (as seen)"
		}
		asked := words(tr.Asks)
		if len(tr.Asks) == len(Checks()) {
			asked = "everything"
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s |\n", tr.Way, words(tr.From), to, strings.TrimSpace(along), asked,
			tr.Leaves)
	}
	return b.String()
}

func words[T ~string](list []T) string {
	names := make([]string, len(list))
	for i, w := range list {
		names[i] = string(w)
	}
	return strings.Join(names, ", ")
}
