package views

import (
	"net/url"

	"smsdesk/internal/sms"
)

// download is the address of a table of the messages that the filter shows.
func (p CampaignPage) download(name string) string {
	address, q := CampaignPath(p.Campaign.ID)+"/"+name, url.Values{}
	if p.State != "" {
		q.Set("state", p.State)
	} else if p.Tile != "" {
		q.Set("tile", string(p.Tile))
	}
	p.Search.Values(q)
	if len(q) > 0 {
		address += "?" + q.Encode()
	}
	return address
}

// downloadWords says what is downloaded. It holds no number: the figures move,
// this line does not.
func (p CampaignPage) downloadWords() string {
	only := ""
	if s, ok := sms.StandingByKey(p.State); ok {
		only = s.Words
	} else if p.Tile != "" {
		only = p.Tile.Words()
	}
	switch {
	case p.Search.Narrows() && only == "":
		return "Download these messages:"
	case p.Search.Narrows():
		return "Download all “" + only + "” messages:"
	case only == "":
		return "Download all messages:"
	}
	return "Download all “" + only + "”:"
}
