package campaign

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"smsdesk/internal/lists"
	"smsdesk/internal/sms"
	"smsdesk/views"
	"smsdesk/web/page"
)

// downloads are the files that people take away from a campaign.
type downloads struct {
	*base
	lists     downloadOrders
	downloads page.Seats
}

// downloadOrders are what people do on these pages.
type downloadOrders interface {
	CampaignEvidence(ctx context.Context, by sms.User, id int64) (*lists.Evidence, error)
	DownloadCampaign(ctx context.Context, by sms.User, o lists.DownloadOrder) (*lists.Download, error)
}

// downloadsMost is how many downloads are written at once: each keeps a
// processor busy.
const downloadsMost = 4

// Table gives the messages that the page's filter shows.
func (s *downloads) Table(format, kind string) page.Handler {
	return func(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
		c, a, err := s.campaignOf(r)
		if err != nil {
			return err
		}
		p := views.CampaignPage{Campaign: c, Account: a}
		p.Tile, p.State = messageFilter(r.URL.Query())
		s.readSearch(v, r.URL.Query(), &p.Search)
		if p.Search.Ended {
			return s.ShowProblem(w, r, v, views.Problem{Status: http.StatusGone, Title: "This search has expired",
				Text: "Enter the number again on the campaign page.",
				Link: views.Link{Text: "Go to the campaign", Href: views.CampaignPath(c.ID)}})
		}
		o := lists.DownloadOrder{Format: format, What: filterKinds(p)}
		if o.Filter, err = wantedMessages(p); err != nil {
			return err
		}
		return s.download(w, r, v, func() (string, func(context.Context, io.Writer) error, func() error, error) {
			d, err := s.lists.DownloadCampaign(r.Context(), v.User, o)
			if err != nil {
				return "", nil, nil, err
			}
			return d.Name, func(_ context.Context, w io.Writer) error { return d.Write(w) }, d.Close, nil
		}, kind)
	}
}

// filterKinds says what a filter goes by, for the audit log, which holds no
// number and no text.
func filterKinds(p views.CampaignPage) string {
	kinds := []string{cmp.Or(p.State, string(p.Tile))}
	if p.Search.Network != "" {
		kinds = append(kinds, "by network")
	}
	if p.Search.Text != "" {
		kinds = append(kinds, "by text")
	}
	if p.Search.Typed != "" {
		kinds = append(kinds, "by number")
	}
	return strings.TrimSpace(strings.Join(kinds, " "))
}

// Evidence gives everything that is known of a campaign.
func (s *downloads) Evidence(w http.ResponseWriter, r *http.Request, v *page.Visit) error {
	id := page.PathID(r)
	return s.download(w, r, v, func() (string, func(context.Context, io.Writer) error, func() error, error) {
		e, err := s.lists.CampaignEvidence(r.Context(), v.User, id)
		if err != nil {
			return "", nil, nil, err
		}
		return e.Name, e.Write, e.Close, nil
	}, page.KindZIP)
}

// download writes a file as it is made. After the first byte nothing but
// breaking off can tell that it is not whole.
func (s *downloads) download(w http.ResponseWriter, r *http.Request, v *page.Visit,
	open func() (name string, write func(context.Context, io.Writer) error, done func() error, err error),
	kind string) error {
	select {
	case s.downloads <- struct{}{}:
		defer s.downloads.Leave()
	default:
		return s.ShowProblem(w, r, v, views.Problem{Status: http.StatusTooManyRequests, Title: "Too many downloads at once",
			Text: "Try again in a minute."})
	}
	name, write, done, err := open()
	if err != nil {
		return err
	}
	defer func() { _ = done() }()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s"; filename*=UTF-8''%s`, name, name))
	if r.Method == http.MethodHead {
		return nil
	}
	if err := write(r.Context(), w); err != nil {
		if r.Context().Err() == nil {
			s.Log.Error("download broken off", "id", page.RequestID(r.Context()), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}
