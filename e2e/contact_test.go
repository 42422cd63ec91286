package e2e

import (
	"regexp"
	"testing"

	"github.com/playwright-community/playwright-go"
)

const peopleFile = `Phone,Name,Town,Paid,Tags
0803 000 0001,Ada Obi,Ibadan,no,Parents
08030000002,Bola Ade,Ibadan,yes,Parents
08030000004,Chidi Eze,Lagos,no,"Parents, Board"
08030000101,Dayo One_very_long_name_without_any_place_to_break_it_anywhere_at_all,Ibadan,no,
0803,Nobody,,,
`

// TestContactsFromASheetToACampaign: people come in from a file, a filter finds
// some of them and shows how many, is saved as an audience and written to; who
// is blocked is left out and the page says so; the history of a person shows
// what they got.
func TestContactsFromASheetToACampaign(t *testing.T) {
	beside(t)
	o := openOffice(t)
	p := newTab(t, newBrowser(t), o.base)
	p.firstRun(o)
	p.open("/contacts")
	p.sees("No contacts yet.")
	p.picture("contacts-empty")
	p.open("/contacts/audiences")
	p.sees("No audiences yet.")

	p.importPeople(peopleFile)
	p.sees("4 added, 1 row left out.")
	p.row("0803 000 0001", "Ibadan")
	p.picture("contacts")

	p.open("/settings/blocked")
	p.fill("Phone numbers", "0803 000 0101")
	p.press("Block numbers")
	p.sees("Entered by hand")

	p.open("/contacts?column=paid&op=is&value=NO&column=town&op=is&value=ibadan")
	p.sees("2 contacts match: Paid is NO and Town is ibadan")
	p.row("0803 000 0101", "Blocked")
	p.picture("contacts-filter")
	p.fill("Save this filter as an audience. Name", "Ibadan, not paid")
	p.press("Save audience")
	p.sees("2 contacts now.")
	p.sees("1 is blocked and will be left out. The message will go to 1 contact.")
	p.picture("audience")
	p.press("Send to 1 contact")
	p.reaches(atMessage)
	p.do2(p.Locator("select[name=sender_id]").SelectOption(playwright.SelectOptionValues{Values: &[]string{"CLINIC"}}))
	p.fill("Message", "Dear ##Name##, please pay in ##Town##.")
	p.press("Continue")
	p.sees("1 number is blocked.")
	p.sees("1 message is ready")
	p.picture("audience-check")
	p.press("Continue with 1 message")
	p.press("Send 1 message now")
	p.do(p.WaitForURL(regexp.MustCompile(`/campaigns/\d+$`)))
	p.row("0803 000 0001", "Delivered")
	p.row("0803 000 0101", "Left out")

	p.open("/contacts")
	p.fill("Name or phone number", "0803 000 0001")
	p.press("Find")
	p.do(p.Locator("main").GetByRole("link", playwright.LocatorGetByRoleOptions{Name: "Ada Obi"}).First().Click())
	p.sees("Dear Ada Obi, please pay in Ibadan.")
	p.row("0803 000 0001", "Delivered")
	p.picture("contact")
	p.quiet()
	p.follow("Change")
	p.fill("Phone number", "0803")
	p.press("Save")
	p.sees("There is a problem")
	p.fill("Phone number", "0803 000 0002")
	p.press("Save")
	p.sees("Bola Ade already has this number")
	p.picture("contact-error")
	p.fill("Phone number", "0803 000 0021")
	p.press("Save")
	p.sees("0803 000 0021")

	p.open("/settings/blocked")
	p.do(p.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Unblock 0803 000 0101"}).Click())
	p.fill("Why are you unblocking this number?", "came by in person")
	p.press("Unblock this number")
	p.open("/contacts?column=paid&op=is&value=no")
	p.do(p.GetByRole("link", playwright.PageGetByRoleOptions{Name: "Dayo One"}).Click())
	p.row("added by Ada Obi", "came by in person")
	p.picture("contact-blocks")

	p.open("/contacts?column=town&op=more&value=x")
	p.sees("Correct the filter to see matching contacts.")
	p.follow("Enter a number or a date, for example 5000 or 2026-01-31")
	p.fill("Value", "y")
	p.open("/contacts?find=gone")
	p.sees("This search has expired. Enter it again.")
	p.fill("Name or phone number", "chidi")
	p.press("Find")
	p.row("0803 000 0004", "Chidi Eze")

	p.open("/contacts")
	p.do(p.GetByLabel("Select Chidi Eze").Check())
	p.press("Add selected contacts")
	p.sees("Enter a name for the audience")
	p.do(p.GetByLabel("Select Chidi Eze").Check())
	p.fill("Name of a new audience", "Board")
	p.press("Add selected contacts")
	p.sees("1 contact now.")
	p.do(p.GetByLabel("Select Chidi Eze").Check())
	p.press("Remove selected contacts")
	p.sees("This audience is empty")
	p.open("/contacts/audiences")
	p.row("Board", "Picked by hand")
	p.row("Ibadan, not paid", "Paid is NO and Town is ibadan")
	p.picture("audiences")
	p.follow("Board")
	p.follow("Delete this audience")
	p.press("Delete the audience")
	p.sees("Audience deleted.")
}

// importPeople takes in a file as it is read.
func (p *tab) importPeople(content string) {
	p.t.Helper()
	p.open("/contacts/import")
	p.picture("contacts-import")
	p.choose(writeFile(p.t, "people.csv", content))
	p.sees("Match the columns")
	p.picture("contacts-columns")
	p.press("Check and import")
	p.sees(" of 5 rows needs fixing")
	p.picture("contacts-check")
	p.press("Leave out 1 row and continue")
}
