package views

import (
	"strconv"

	"smsdesk/internal/picture"
	"smsdesk/internal/sms"
	"smsdesk/internal/wall"
)

// WallSuffix ends the address of a campaign's links to its wall screen.
const WallSuffix = "/wall"

// WallPage is a campaign's counts, readable from afar.
type WallPage struct {
	CampaignPage
	Title  string // the campaign's name, or as much of it as strangers may read
	Leave  string // the way back, "" for strangers
	Stream string // the stream of a link, "" for who is signed in
}

// frame is what the document's head is made from.
func (p WallPage) frame(f PageFrame) PageFrame {
	f.Sheet, f.Again = "wall.css", true
	return f
}

// tiles5 are the five counts of a wall screen: the last is the most urgent of those
// that are seldom.
func (p WallPage) tiles5() []TileProps {
	last := sms.TileNotSent
	for _, t := range []sms.Tile{sms.TileUnknown, sms.TileDecision} {
		if p.Tally.Tile(t) > 0 {
			last = t
		}
	}
	var list []TileProps
	for _, t := range []sms.Tile{sms.TileWaiting, sms.TileNetwork, sms.TileDelivered, sms.TileFailed, last} {
		list = append(list, TileProps{ID: "wall-" + string(t), Label: t.Words(), Value: Number(int(p.Tally.Tile(t))),
			Tone: toneOf(t.Tone())})
	}
	return list
}

// long says that the figures need smaller letters.
func (p WallPage) long() bool { return p.Tally.Total() >= 100_000 }

// wallPlot is how much of its picture's height a wall screen's areas take.
const wallPlot = 0.86

// wallY is a height of the areas, in percent of the picture.
func wallY(v float64) string { return picture.Unit(100*wallPlot*v) + "%" }

// WallLinksPage are the links to a campaign's wall screen.
type WallLinksPage struct {
	Formatter
	Campaign sms.Campaign
	Links    []wall.Link
	Made     string // the address of a new link, shown once
}

// working are the links that still open the wall screen.
func (p WallLinksPage) working() (list []wall.Link) {
	for _, l := range p.Links {
		if l.Works(p.Now.UnixMilli(), p.Campaign.FinishedAt) {
			list = append(list, l)
		}
	}
	return list
}

// mayMake says that a new link would work.
func (p WallLinksPage) mayMake() bool {
	now := p.Now.UnixMilli()
	return p.Campaign.Started() && wall.Link{MadeAt: now}.Works(now, p.Campaign.FinishedAt)
}

func (p WallLinksPage) ends(l wall.Link) string {
	if p.Campaign.FinishedAt > 0 {
		return p.When(l.Until(p.Campaign.FinishedAt))
	}
	return "24 hours after the campaign, " + p.When(l.Until(0)) + " at the latest"
}

func wallPath(c sms.Campaign) string { return CampaignPath(c.ID) + WallSuffix }

func wallLinkID(l wall.Link) string { return "wall-link-" + strconv.FormatInt(l.ID, 10) }
