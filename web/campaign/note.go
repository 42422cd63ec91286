package campaign

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"smsdesk/internal/sms"
	"smsdesk/views"
)

// recordNotes says what has become of the template, the sender ID and the group
// that a campaign was made with, as far as it still waits for its time. It keeps
// what was confirmed, whatever happens to them.
func (s *campaigns) recordNotes(ctx context.Context, c sms.Campaign) ([]views.RecordNote, error) {
	if c.State != sms.CampaignScheduled && !c.Held() && c.State != sms.CampaignDraft {
		return nil, nil
	}
	var notes []views.RecordNote
	said, err := s.templateNote(ctx, c)
	if err != nil {
		return nil, err
	}
	if said != "" {
		notes = append(notes, views.RecordNote{ID: "template-changed", Tone: views.ToneInfo, Text: said})
	}
	senders, err := s.store.SenderIDs(ctx, c.AccountID)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(senders, func(x sms.SenderID) bool { return x.Text == c.SenderID }) {
		notes = append(notes, views.RecordNote{ID: "sender-gone", Tone: views.ToneWarn,
			Text: "Sender ID " + c.SenderID + " no longer exists at the provider. Nothing will be sent: the campaign will " +
				"pause at its scheduled time and ask you what to do."})
	}
	if c.GroupID == "" {
		return notes, nil
	}
	groups, err := s.store.Groups(ctx, c.AccountID)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(groups, func(g sms.Group) bool { return strconv.FormatInt(g.ID, 10) == c.GroupID })
	switch {
	case i < 0:
		notes = append(notes, views.RecordNote{ID: "group-gone", Tone: views.ToneWarn,
			Text: "The group " + c.GroupName +
				" no longer exists at the provider. Nothing will be sent: the campaign will pause at its scheduled time and " +
				"ask you what to do."})
	case groups[i].Name != c.GroupName:
		notes = append(notes, views.RecordNote{ID: "group-renamed", Tone: views.ToneInfo,
			Text: "The group " + c.GroupName + " has been renamed " + groups[i].Name + "."})
	}
	return notes, nil
}

func (s *campaigns) templateNote(ctx context.Context, c sms.Campaign) (string, error) {
	used, err := s.store.CampaignTemplate(ctx, c.ID)
	if errors.Is(err, sms.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	all, err := s.store.Templates(ctx, c.AccountID)
	for _, t := range all {
		if t.ID != used.TemplateID {
			continue
		}
		if t.Text == used.Text {
			return "", err
		}
		return "The template “" + used.Name +
			"” was changed after this campaign was created. The campaign keeps its confirmed text.", err
	}
	return "The template “" + used.Name +
		"” was deleted at the provider after this campaign was created. The campaign keeps its confirmed text.", err
}
