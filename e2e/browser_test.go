package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/playwright-community/playwright-go"
)

// stage is the browser of all stories: one Playwright driver and one Chromium
// for the whole package. Each story has contexts of its own in it, which share
// no cookies, storage or cache.
type stage struct {
	once    sync.Once
	driver  *playwright.Playwright
	browser playwright.Browser
	err     error
}

var theStage stage

// newBrowser gives the machine's Chromium. A test that cannot have it fails
// and says how to get it: a story that was not played proves nothing.
func newBrowser(t *testing.T) playwright.Browser {
	t.Helper()
	theStage.once.Do(func() { theStage.err = theStage.open() })
	if theStage.err != nil {
		t.Fatal(theStage.err)
	}
	return theStage.browser
}

func (s *stage) open() error {
	chromium := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	folder := os.Getenv("PLAYWRIGHT_DRIVER_PATH")
	if folder == "" {
		folder = filepath.Join("..", ".cache", "playwright")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(folder, "package", "cli.js")); err != nil || chromium == "" {
		return fmt.Errorf("the browser tests need Chromium and the Playwright driver (in %s). Run: make deps", folder)
	}
	if node, err := exec.LookPath("node"); err == nil {
		if err := os.Setenv("PLAYWRIGHT_NODEJS_PATH", node); err != nil {
			return err
		}
	}
	if err := os.Setenv("PLAYWRIGHT_DRIVER_PATH", folder); err != nil {
		return err
	}
	options := &playwright.RunOptions{DriverDirectory: folder, SkipInstallBrowsers: true, Verbose: false}
	driver, err := playwright.NewDriver(options)
	if err != nil {
		return err
	}
	if err := driver.DownloadDriver(); err != nil {
		return fmt.Errorf("the Playwright driver is not usable. Run: make deps (%w)", err)
	}
	if s.driver, err = playwright.Run(options); err != nil {
		return err
	}
	flags := []string{"--disable-background-networking", "--disable-quic", "--no-first-run", "--disable-component-update",
		"--disable-sync"}
	if os.Geteuid() == 0 {
		flags = append(flags, "--no-sandbox")
	}
	s.browser, err = s.driver.Chromium.Launch(playwright.BrowserTypeLaunchOptions{ExecutablePath: &chromium, Args: flags})
	return err
}

func (s *stage) close() {
	if s.browser != nil {
		_ = s.browser.Close()
	}
	if s.driver != nil {
		_ = s.driver.Stop()
	}
}

// tab is one page of a browser that fails the test at the first thing that
// goes wrong, and collects what the browser complains about.
type tab struct {
	playwright.Page
	t          *testing.T
	base       string
	complaints []string
}

func newTab(t *testing.T, b playwright.Browser, base string, options ...playwright.BrowserNewContextOptions) *tab {
	t.Helper()
	c, err := b.NewContext(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	page, err := c.NewPage()
	if err != nil {
		t.Fatal(err)
	}
	page.SetDefaultTimeout(float64(patience.Milliseconds()))
	p := &tab{Page: page, t: t, base: base}
	page.OnConsole(func(m playwright.ConsoleMessage) {
		if m.Type() == "error" || m.Type() == "warning" {
			p.complaints = append(p.complaints, m.Text())
		}
	})
	page.OnPageError(func(err error) { p.complaints = append(p.complaints, err.Error()) })
	t.Cleanup(func() {
		if t.Failed() {
			p.picture("failed-" + t.Name())
			t.Logf("the page at %s:\n%s", page.URL(), tail(p.text("body"), 3000))
		}
	})
	return p
}

// do fails the test when a step did not work.
func (p *tab) do(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *tab) open(path string) {
	p.t.Helper()
	_, err := p.Goto(p.base + path)
	p.do(err)
}

// fill types into the field with this label.
func (p *tab) fill(label, value string) {
	p.t.Helper()
	p.do(p.GetByLabel(label, playwright.PageGetByLabelOptions{Exact: playwright.Bool(true)}).First().Fill(value))
}

// press presses the button with these words.
func (p *tab) press(words string) {
	p.t.Helper()
	p.do(p.GetByRole("button", playwright.PageGetByRoleOptions{Name: words}).First().Click())
}

// follow follows the link with these words.
func (p *tab) follow(words string) {
	p.t.Helper()
	p.do(p.GetByRole("link", playwright.PageGetByRoleOptions{Name: words}).First().Click())
}

func (p *tab) text(selector string) string {
	s, err := p.Locator(selector).First().InnerText(
		playwright.LocatorInnerTextOptions{Timeout: playwright.Float(5000)})
	if err != nil {
		return ""
	}
	return s
}

// sees waits until the page shows the words.
func (p *tab) sees(words string) {
	p.t.Helper()
	err := p.GetByText(words).Filter(playwright.LocatorFilterOptions{Visible: playwright.Bool(true)}).First().WaitFor(
		playwright.LocatorWaitForOptions{State: playwright.WaitForSelectorStateVisible})
	if err != nil {
		p.t.Fatalf("%q does not appear on %s: %v", words, p.URL(), err)
	}
}

// picture keeps a screenshot for a person to look at.
func (p *tab) picture(name string) {
	folder := os.Getenv("SMSDESK_PICTURES")
	if folder == "" {
		folder = "artefacts"
	}
	path := filepath.Join(folder, filepath.Base(name)+".png")
	if _, err := p.Screenshot(playwright.PageScreenshotOptions{Path: &path}); err != nil {
		p.t.Logf("no picture %s: %v", path, err)
	}
}
