package e2e

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/playwright-community/playwright-go"

	"smsdesk/internal/sms"
)

// archive is a desk and its service as two processes, and a person at the desk.
type archive struct {
	*pair
	*tab
	t *testing.T
}

func openArchive(t *testing.T, options ...playwright.BrowserNewContextOptions) *archive {
	t.Helper()
	p := newPair(t, binary(t, ""), 100, "--dlr-url", "")
	must(t, p.bin, "--data", p.data, "user", "add", "--email", adaEmail, "--name", "Ada Obi", "--role", "administrator",
		"--password-file", writeFile(t, "password", adaPassword))
	p.serve()
	waitFor(t, patience, "the records", func() bool {
		groups, err := p.db.Groups(context.Background(), p.account.ID)
		return err == nil && len(groups) == 2
	})
	a := &archive{pair: p, tab: newTab(t, newBrowser(t), "http://"+p.listen, options...), t: t}
	a.signIn(adaEmail, adaPassword)
	return a
}

const archiveKeys = "ApiKey=k%2B%2Fy%3D%3D&ClientId=client-7"

// elsewhere calls the service itself, as somebody in its dashboard would.
func (a *archive) elsewhere(method, path, fields string) {
	a.t.Helper()
	target := "http://" + a.sandbox + "/v2" + path
	if fields == "" {
		target += map[bool]string{true: "&", false: "?"}[strings.Contains(path, "?")] + archiveKeys
	} else {
		fields = `{"ApiKey":"k+/y==","ClientId":"client-7",` + fields + `}`
	}
	req, err := http.NewRequest(method, target, strings.NewReader(fields))
	if err != nil {
		a.t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if said, _ := io.ReadAll(resp.Body); !strings.Contains(string(said), `"ErrorCode":0`) {
		a.t.Fatalf("%s %s: %s", method, path, said)
	}
}

// unreachable cuts every connection until the returned function is called.
func (a *archive) unreachable() (mend func()) {
	a.t.Helper()
	setFaults(a.t, a.sandbox, `{"cutBefore":1}`)
	return func() { setFaults(a.t, a.sandbox, `{}`) }
}

// goes opens a page, looks at it on a phone too and keeps its picture.
func (a *archive) goes(path, see, name string) {
	a.t.Helper()
	a.open(path)
	a.sees(see)
	a.picture(name)
	a.fits(path, 1280)
}

// refused forgets what the browser says of a page with status 422.
func (a *archive) refused(sentence string) {
	a.t.Helper()
	a.sees(sentence)
	a.complaints = nil
}

// TestTemplates: the list with approval and activity, a change with other
// marks, a change made elsewhere meanwhile, one that is gone, drafts, and the
// page when the provider cannot be reached.
func TestTemplates(t *testing.T) {
	beside(t)
	a := openArchive(t)
	a.goes("/templates", "5 templates at the provider", "templates")
	a.fill("Name or text", "fees of")
	a.press("Search")
	a.sees("1 template contains “fees of”")
	a.follow("Fees")
	a.sees("only approved and active templates can be used")
	a.open("/templates?q=nothing+at+all")
	a.sees("No templates contain “nothing at all”.")

	a.goes("/templates/105", "##Name##", "template")
	a.follow("Change")
	a.fill("Text", "Dear ##Name##, come to ##Place##.")
	a.press("Save template")
	a.refused("This changes the template's placeholders. Tick the box to confirm")
	a.sees("New: ##Place##. Gone: ##Date##.")
	a.picture("template-marks")
	a.do(a.GetByLabel("Change the placeholders").Check())
	a.press("Save template")
	a.sees("Template changed at the provider.")
	a.open("/templates/105")
	a.sees("##Place##")

	a.open("/templates/109/edit")
	a.elsewhere("PUT", "/Template?id=109", `"TemplateName":"Holiday","MessageTemplate":"Closed today."`)
	a.refreshed(t, "/templates")
	a.fill("Text", "Mine.")
	a.press("Save template")
	a.refused("Someone else changed this template while you had it open.")
	a.sees("Closed today.")

	a.open("/templates/110/delete")
	a.sees("Not used by any campaign.")
	a.elsewhere("DELETE", "/Template?id=110", "")
	a.press("Delete template")
	a.sees("This template no longer exists at the provider. We have removed it from the list.")
	a.sees("4 templates at the provider")
	a.open("/templates/106/delete")
	a.press("Delete template")
	a.sees("Template deleted at the provider.")

	a.drafts()
	mend := a.unreachable()
	a.open("/templates/109/edit")
	a.fill("Name", "Holidays")
	a.press("Save template")
	a.refused("cannot")
	a.open("/templates")
	a.press("Refresh list")
	a.sees("We could not reach the provider")
	a.sees("Showing what the provider said today at")
	a.sees("Appointment")
	a.picture("templates-unreachable")
	mend()
	time.Sleep(2100 * time.Millisecond)
	a.press("Refresh list")
	a.sees("Refreshed from the provider.")
	a.quiet()
}

// refreshed reads a list again in another tab.
func (a *archive) refreshed(t *testing.T, path string) {
	t.Helper()
	time.Sleep(2100 * time.Millisecond)
	state, err := a.tab.Context().StorageState()
	if err != nil {
		t.Fatal(err)
	}
	other := newTab(t, a.tab.Context().Browser(), a.base,
		playwright.BrowserNewContextOptions{StorageState: state.ToOptionalStorageState()})
	other.open(path)
	other.press("Refresh list")
	other.sees("Refreshed from the provider.")
}

// drafts are kept here, and go to the provider only where the account allows it.
func (a *archive) drafts() {
	a.t.Helper()
	a.open("/templates")
	a.follow("New draft")
	a.press("Save the draft")
	a.refused("Enter a name for the template")
	a.fill("Name", "Exam results")
	a.fill("Text", "Dear ##Name##, the results are out.")
	a.press("Save the draft")
	a.sees("1 draft (saved in smsdesk only)")
	a.follow("Exam results")
	a.do(a.GetByRole("heading", playwright.PageGetByRoleOptions{Name: "Create the template"}).WaitFor(
		playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateHidden}))
	a.open(fmt.Sprintf("/settings/account/%d/advanced", a.account.ID))
	a.do(a.GetByLabel("Create templates and sender IDs in smsdesk").Check())
	a.press("Save advanced settings")
	a.sees("Saved.")
	a.open("/templates/drafts/1")
	a.picture("draft")
	a.press("Create at the provider")
	a.sees("Template created at the provider. It may need approval before you can use it.")
	a.sees("Exam results")
}

// TestSenderIDs: the provider's own words, the purpose, the default, and what is
// gone.
func TestSenderIDs(t *testing.T) {
	beside(t)
	a := openArchive(t)
	a.goes("/senders", "4 sender IDs", "senders")
	a.sees("Pending")
	a.open("/senders/101")
	a.sees("You can change the purpose but not the sender ID.")
	a.fill("Purpose", "")
	a.press("Save purpose")
	a.refused("Enter what you will use this sender ID for")
	a.fill("Purpose", "Appointments and reminders")
	a.press("Save purpose")
	a.sees("Purpose changed at the provider.")
	a.sees("Appointments and reminders")
	a.follow("SCHOOL")
	a.picture("sender")
	a.press("Make default")
	a.sees("This is now the default sender ID.")
	a.open("/new")
	if chosen, err := a.Locator("select[name=sender_id]").InputValue(); err != nil || chosen != "SCHOOL" {
		t.Errorf("a new message begins with %q, %v", chosen, err)
	}

	later := a.scheduled("CLINIC", "Held because of its sender ID")
	a.open("/senders/101/delete")
	a.sees("1 scheduled campaign uses it.")
	a.picture("sender-delete")
	a.press("Delete sender ID")
	a.sees("Sender ID deleted at the provider.")
	a.open(fmt.Sprintf("/campaigns/%d", later))
	a.sees("Sender ID CLINIC no longer exists at the provider. Nothing will be sent")
	if c := a.campaign(later); c.State != sms.CampaignScheduled || c.SenderID != "CLINIC" {
		t.Errorf("the campaign is %s with %s", c.State, c.SenderID)
	}

	a.open("/senders/104/delete")
	a.elsewhere("DELETE", "/SenderId?id=104", "")
	a.press("Delete sender ID")
	a.sees("This sender ID no longer exists at the provider. We have removed it from the list.")

	a.open(fmt.Sprintf("/settings/account/%d/advanced", a.account.ID))
	a.do(a.GetByLabel("Create templates and sender IDs in smsdesk").Check())
	a.press("Save advanced settings")
	a.sees("Saved.")
	a.open("/senders")
	a.fill("Sender ID", "A B")
	a.fill("Purpose", "Library")
	a.press("Send request")
	a.refused("Sender ID must only contain letters A to Z and digits, with no spaces")
	a.fill("Sender ID", "AB")
	a.press("Send request")
	a.refused("Sender ID must be 3 to 11 characters. Yours is 2")
	a.fill("Sender ID", "LIBRARY")
	a.press("Send request")
	a.sees("Request sent to the provider.")
	a.sees("LIBRARY")
	a.quiet()
}

// scheduled makes a campaign for tomorrow, as a person would.
func (a *archive) scheduled(sender, text string) int64 {
	a.t.Helper()
	a.open("/new")
	a.numbers("0803 555 0101")
	a.do2(a.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{sender}}))
	a.fill("Message", text)
	a.press("Continue")
	a.do(a.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	var id int64
	_, err := fmt.Sscanf(a.later("Tomorrow 9:00am", "Schedule for tomorrow at 9:00am"), a.base+"/campaigns/%d", &id)
	a.do(err)
	return id
}

// TestGroups: made, below another one, renamed, deleted by its name; a name that
// is taken, a group that is gone; and a message to a whole group.
func TestGroups(t *testing.T) {
	beside(t)
	a := openArchive(t)
	a.goes("/groups", "2 groups", "groups-flat")
	a.follow("Create a group")
	a.fill("Name", "Staff")
	a.press("Create the group")
	a.refused("There is already a group called “Staff”. Choose another name")
	a.picture("group-taken")
	a.fill("Name", "Class 1")
	a.press("Create the group")
	a.sees("Group created at the provider.")
	if text := a.text("#main"); strings.Contains(text, "success#") {
		t.Errorf("the prefix is shown: %s", text)
	}
	a.follow("Add sub-group to Parents")
	a.fill("Name", "Mothers")
	a.press("Create the sub-group")
	a.sees("Sub-group created at the provider.")
	rows, err := a.Locator("#groups tbody th").AllInnerTexts()
	if want := []string{"Class 1", "Parents", "\u2003↳ Mothers", "Staff"}; err != nil || !slices.Equal(rows, want) {
		t.Errorf("the tree is %q (%v), want %q", rows, err, want)
	}
	a.picture("groups")
	a.follow("Rename Staff")
	a.fill("New name", "Teachers")
	a.press("Rename group")
	a.sees("Group renamed at the provider.")

	a.open("/groups/108")
	a.elsewhere("PUT", "/Group?id=108", `"GroupName":"Everybody at work"`)
	a.refreshed(t, "/groups")
	a.fill("New name", "Colleagues")
	a.press("Rename group")
	a.refused("Someone renamed this group to “Everybody at work”")

	a.follow("Groups")
	a.follow("Delete Class 1")
	a.fill("Enter the group name to confirm", "Class 2")
	a.press("Delete group")
	a.refused("Enter the group's name, “Class 1”, to delete it")
	a.picture("group-delete")
	a.fill("Enter the group name to confirm", "Class 1")
	a.press("Delete group")
	a.sees("Group deleted at the provider.")

	a.groupMessage()
	a.open("/groups/108/delete")
	a.elsewhere("DELETE", "/Group?id=108", "")
	a.fill("Enter the group name to confirm", "Everybody at work")
	a.press("Delete group")
	a.sees("This group no longer exists at the provider. We have removed it from the list.")
	a.open("/groups/107/delete")
	a.sees("It has 1 sub-group.")
	a.sees("The provider will remove all 12 contacts from the group. This cannot be undone.")
	a.elsewhere("DELETE", "/Group?id=107", "")
	a.refreshed(t, "/groups")
	a.goes("/groups", "No groups yet.", "groups-empty")

	mend := a.unreachable()
	a.follow("Create a group")
	a.fill("Name", "Nowhere")
	a.press("Create the group")
	a.refused("cannot")
	a.picture("group-unreachable")
	mend()
	a.quiet()
}

// groupMessage sends to a group that nobody can see into.
func (a *archive) groupMessage() {
	a.t.Helper()
	a.open("/groups")
	a.follow("Send to Parents")
	a.sees("About 12 recipients. We cannot show or check a provider group's numbers")
	a.do2(a.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	a.fill("Message", "School begins at nine.")
	a.picture("group-compose")
	a.press("Continue")
	a.do(a.WaitForURL(regexp.MustCompile(`/campaigns/\d+/confirm$`)))
	a.sees("Everyone in the group Parents")
	a.press("Send to the group Parents now")
	a.refused("Tick the box to confirm that we cannot show or check this group's numbers")
	a.picture("group-confirm")
	a.do(a.GetByLabel("Send to the whole group. I understand we cannot see its numbers").Check())
	a.press("Send to the group Parents now")
	a.do(a.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	a.tile("All", "12")
	a.sees("Messages 1 to 12 of 12")
	a.row("0803 123 4501", "Awaiting report")
	if n := len(ledger(a.t, a.sandbox)); n != 12 {
		a.t.Errorf("the service executed %d texts, want 12", n)
	}
}
